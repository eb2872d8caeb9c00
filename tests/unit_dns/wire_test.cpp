// The cursor and the writer.
#include <catch2/catch_test_macros.hpp>

#include "dns/wire_reader.h"
#include "dns/wire_writer.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

TEST_CASE("a reader reads numbers in network order") {
  const Octets octets{1, 2, 3, 4, 5, 6, 7, 8};
  dns::WireReader reader(octets);
  CHECK(reader.u8() == 1);
  CHECK(reader.u16() == 0x0203);
  CHECK(reader.u32() == 0x04050607);
  CHECK(reader.remaining() == 1);
  CHECK(reader.take(1)[0] == 8);
  CHECK(reader.ok());
  CHECK(reader.take(0).empty());
  CHECK(reader.ok());
}

TEST_CASE("the first failed read makes all later ones fail") {
  const Octets octets{1, 2, 3};
  dns::WireReader reader(octets);
  CHECK(reader.u32() == 0);
  CHECK_FALSE(reader.ok());
  CHECK(reader.u8() == 0);
  CHECK(reader.take(1).empty());
  CHECK(reader.remaining() == 0);
  reader.seek(0);
  CHECK_FALSE(reader.ok());
}

TEST_CASE("a reader goes where it is told, not past the end") {
  const Octets octets{1, 2, 3};
  dns::WireReader reader(octets);
  reader.seek(3);
  CHECK(reader.ok());
  reader.seek(1);
  CHECK(reader.u8() == 2);
  reader.seek(4);
  CHECK_FALSE(reader.ok());
  dns::WireReader other(octets);
  other.skip(4);
  CHECK_FALSE(other.ok());
  dns::WireReader third(octets);
  CHECK(third.take(static_cast<std::size_t>(-1)).empty());
  CHECK_FALSE(third.ok());
}

TEST_CASE("a writer writes in network order and patches") {
  dns::WireWriter writer;
  writer.u8(1);
  writer.u16(0x0203);
  writer.u32(0x04050607);
  writer.octets(Octets{8, 9});
  writer.zeros(2);
  writer.patch_u16(1, 0xAABB);
  CHECK(writer.ok());
  CHECK(writer.size() == 11);
  CHECK(std::move(writer).take() == Octets{1, 0xAA, 0xBB, 4, 5, 6, 7, 8, 9, 0, 0});
}

TEST_CASE("a writer stops at its limit and stays stopped") {
  dns::WireWriter writer(5);
  writer.u32(1);
  writer.u16(2);
  CHECK_FALSE(writer.ok());
  writer.u8(3);
  writer.u32(3);
  writer.zeros(1);
  writer.octets(Octets{1});
  CHECK(writer.size() == 4);
  dns::WireWriter other;
  other.u8(1);
  other.patch_u16(0, 1);
  CHECK_FALSE(other.ok());
  dns::WireWriter third;
  third.u32(1);
  third.patch_u16(3, 1);
  CHECK_FALSE(third.ok());
}
