// Names: decompression, comparing, text; rows N1-N6.
#include <catch2/catch_test_macros.hpp>

#include "dns/name.h"
#include "dns/query.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

const Octets kHeader(12, 0);

struct ReadName {
  Octets name;
  std::size_t end = 0;  // of the reader; 0 if it failed
  bool operator==(const ReadName&) const = default;
};

ReadName name_at(const Octets& message, std::size_t offset) {
  dns::WireReader reader(message);
  reader.seek(offset);
  dns::WireReader skipper = reader;
  const dns::Name name = dns::read_name(reader);
  dns::skip_name(skipper);
  CHECK(skipper.ok() == reader.ok());
  CHECK(skipper.offset() == reader.offset());
  return {.name = {name.wire().begin(), name.wire().end()}, .end = reader.ok() ? reader.offset() : 0};
}
std::string text(const Octets& name) {
  return dns::name_text(name);
}

}  // namespace

TEST_CASE("N4 pointers backwards are followed, the cursor stays behind the first") {
  const Octets message = kHeader + wire("example.org") + labels("www") + pointer(12) + labels("a") + pointer(25) + pointer(31);
  CHECK(name_at(message, 12) == ReadName{wire("example.org"), 25});
  CHECK(name_at(message, 25) == ReadName{wire("www.example.org"), 31});
  CHECK(name_at(message, 31) == ReadName{wire("a.www.example.org"), 35});
  CHECK(name_at(message, 35) == ReadName{wire("a.www.example.org"), 37});
}

TEST_CASE("N4 pointers that are not prior occurrences") {
  const ReadName failed{};
  CHECK(name_at(kHeader + pointer(12), 12) == failed);
  CHECK(name_at(kHeader + pointer(14) + wire("x"), 12) == failed);
  CHECK(name_at(kHeader + wire("x") + pointer(11), 15) == failed);
  CHECK(name_at(kHeader + wire("x") + pointer(0), 15) == failed);
  CHECK(name_at(kHeader + wire("x") + Octets{0xC0}, 15) == failed);
  CHECK(name_at(kHeader + wire("x") + labels("y") + pointer(15), 15) == failed);  // into its own run of labels
  CHECK(name_at(kHeader + wire("x") + labels("y") + pointer(17), 15) == failed);  // to itself, behind a label
  CHECK(name_at(kHeader + labels("x") + pointer(16) + labels("y") + pointer(12), 16) == failed);
  // A label that begins earlier, but reaches into or behind the name that points to it.
  CHECK(name_at(kHeader + Octets{3} + pointer(12) + Octets{9, 0}, 13) == failed);
  CHECK(name_at(kHeader + Octets{2, 'x'} + labels("y") + pointer(12) + Octets{0}, 14) == failed);
  CHECK(name_at(kHeader + Octets{1} + pointer(12) + Octets{0}, 13) == failed);
}

TEST_CASE("N4 at most 126 pointers") {
  Octets message = kHeader + Octets{0};
  for (unsigned i = 0; i < 130; ++i) {
    message = message + pointer(i == 0 ? 12 : 13 + (2 * (i - 1)));
  }
  CHECK(name_at(message, 13 + (2 * 125)).end == 13 + (2 * 126));
  CHECK(name_at(message, 13 + (2 * 126)).end == 0);
}

TEST_CASE("N2 the limit of 255 octets counts what pointers bring") {
  const Octets tail = name_of({63, 63, 63});  // 193 octets
  const auto after = static_cast<unsigned>(12 + tail.size());
  CHECK(name_at(kHeader + tail + labels(std::string(61, 'x')) + pointer(12), after).name.size() == 255);
  CHECK(name_at(kHeader + tail + labels(std::string(62, 'x')) + pointer(12), after).end == 0);
}

TEST_CASE("N6 letters fold, nothing else") {
  CHECK(dns::equal_ignoring_case(wire("WWW.Example.ORG"), wire("www.eXAMPLE.org")));
  CHECK_FALSE(dns::equal_ignoring_case(wire("a"), wire("ab")));
  CHECK_FALSE(dns::equal_ignoring_case(wire("@"), wire("`")));
  CHECK_FALSE(dns::equal_ignoring_case(wire("["), wire("{")));
  CHECK_FALSE(dns::equal_ignoring_case(wire("\xC4"), wire("\xE4")));
  CHECK(dns::lower_case(wire("Az[@Z")) == wire("az[@z"));
}

TEST_CASE("names within zones") {
  CHECK(dns::is_within(wire("www.Corp.example"), wire("corp.Example")));
  CHECK(dns::is_within(wire("corp.example"), wire("corp.example")));
  CHECK(dns::is_within(wire("corp.example"), wire(".")));
  CHECK(dns::is_within(wire("."), wire(".")));
  CHECK_FALSE(dns::is_within(wire("xcorp.example"), wire("corp.example")));
  CHECK_FALSE(dns::is_within(wire("example"), wire("corp.example")));
  CHECK_FALSE(dns::is_within(wire("."), wire("corp.example")));
  CHECK_FALSE(dns::is_within(Octets{60, 'x'}, Octets{0}));  // no name at all
}

TEST_CASE("N5 names for people, escaped so that a log stays a log") {
  CHECK(text(wire("www.example.org")) == "www.example.org.");
  CHECK(text(wire(".")) == ".");
  CHECK(text({}) == ".");
  CHECK(text(Octets{3, 'a', '.', 'b', 0}) == "a\\.b.");
  CHECK(text(Octets{1, '\\', 1, '"', 0}) == "\\\\.\\\".");
  CHECK(text(Octets{4, 0, '\r', '\n', 0x1B, 0}) == "\\000\\013\\010\\027.");
  CHECK(text(Octets{3, ' ', 0x7F, 0xFF, 0}) == "\\032\\127\\255.");
  CHECK(text(Octets{2, '%', 'n', 0}) == "%n.");
  CHECK(text(Octets{5, 'a', 'b'}) == ".");  // a name cut short is no name
}

TEST_CASE("names from text") {
  const auto name = [](std::string_view written) { return dns::name_from_text(written); };
  CHECK(name("www.example.org") == wire("www.example.org"));
  CHECK(name("www.example.org.") == wire("www.example.org"));
  CHECK(name(".") == wire("."));
  CHECK(name("") == wire("."));
  CHECK(name("a\\.b") == Octets{3, 'a', '.', 'b', 0});
  CHECK(name("\\000\\255\\\\") == Octets{3, 0, 255, '\\', 0});
  CHECK(name(std::string(63, 'x'))->size() == 65);
  CHECK_FALSE(name(std::string(64, 'x')));
  CHECK_FALSE(name(std::string(64, 'x') + ".y"));
  CHECK_FALSE(name("a..b"));
  CHECK_FALSE(name(".a"));
  CHECK_FALSE(name(".."));
  CHECK_FALSE(name("a\\"));
  CHECK_FALSE(name("a\\25"));
  CHECK_FALSE(name("a\\2x5"));
  CHECK_FALSE(name("a\\256"));
  std::string longest;
  for (int i = 0; i < 127; ++i) {
    longest += "a.";
  }
  CHECK(name(longest)->size() == 255);
  CHECK_FALSE(name(longest + "a"));
}

TEST_CASE("text and wire form are each other's inverse") {
  for (unsigned octet = 0; octet < 256; ++octet) {
    const Octets original{2, static_cast<std::uint8_t>(octet), 'x', 0};
    CHECK(dns::name_from_text(dns::name_text(original)) == original);
  }
}
