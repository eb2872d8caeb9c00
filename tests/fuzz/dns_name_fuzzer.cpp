// A name anywhere in any octets: bounds, the two readers agree, text and wire form are inverses.
#include "dns/name.h"
#include "dns/query.h"
#include "fuzz/require.h"

using namespace dohmux;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const ByteView message(data + 2, size - 2);
  dns::WireReader reader(message);
  reader.seek((static_cast<std::size_t>(data[0]) << 8U) | data[1]);
  const std::size_t start = reader.offset();
  dns::WireReader skipper = reader;
  const dns::Name name = dns::read_name(reader);
  dns::skip_name(skipper);
  REQUIRE(skipper.ok() == reader.ok() && skipper.offset() == reader.offset());
  REQUIRE(reader.ok() == !name.wire().empty());
  if (reader.ok()) {
    const ByteView wire = name.wire();
    REQUIRE(wire.size() <= dns::kMaxName && wire.back() == 0);
    REQUIRE(reader.offset() > start && reader.offset() - start <= dns::kMaxName + 1);
    dns::WireReader plain(wire);
    dns::skip_name(plain);
    REQUIRE(plain.ok() && plain.remaining() == 0);  // no pointer left
    REQUIRE(dns::name_from_text(dns::name_text(wire)) == Bytes(wire.begin(), wire.end()));
    REQUIRE(dns::equal_ignoring_case(wire, dns::lower_case(wire)));
    REQUIRE(dns::is_within(wire, wire) && dns::is_within(wire, wire.last(1)));
  }
  const std::string text(message.begin(), message.end());
  if (const auto wire = dns::name_from_text(text)) {
    REQUIRE(wire->size() <= dns::kMaxName);
    REQUIRE(dns::name_from_text(dns::name_text(*wire)) == wire);
  }
  static_cast<void>(dns::name_text(message));
  static_cast<void>(dns::is_within(message, message.first(message.size() / 2)));
  return 0;
}
