// Ageing any message, whole or broken: nothing but TTLs changes, and they only go down. The first two octets are
// the two ages.
#include "dns/records.h"
#include "dns/ttl.h"
#include "fuzz/require.h"

using namespace dohmux;
using std::chrono::seconds;

namespace {

std::uint32_t meaning(std::uint32_t ttl) {
  return ttl >= 0x80000000U ? 0 : ttl;
}

/// `after` is `before` with each TTL lowered by `age`, the OPT's field excepted. The walk is over `after`: a name that
/// points into a TTL may become one or cease to be one, and later names only see what is already changed.
void check_aged(const Bytes& before, const Bytes& after, std::uint32_t age) {
  Bytes rebuilt = after;
  dns::RecordWalk walk(after);
  while (const auto record = walk.next()) {
    if (record->type == dns::kTypeOpt) {
      continue;
    }
    dns::WireReader reader(before);
    reader.seek(record->ttl_offset());
    const std::uint32_t was = meaning(reader.u32());
    REQUIRE(record->ttl == (was > age ? was - age : 0));
    for (std::size_t i = 0; i < 4; ++i) {
      rebuilt[record->ttl_offset() + i] = before[record->ttl_offset() + i];
    }
  }
  REQUIRE(rebuilt == before);
}

bool whole(const Bytes& message) {
  dns::RecordWalk walk(message);
  while (walk.next()) {
  }
  return walk.ok();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::uint32_t first = data[0] * 256U;
  const std::uint32_t second = data[1] * 65536U;
  const Bytes original(data + 2, data + size);
  Bytes once = original;
  dns::age_ttls(once, seconds(first));
  REQUIRE(once.size() == original.size());
  Bytes settled = original;
  dns::clamp_ttls(settled, seconds(0), seconds(0));
  dns::clamp_ttls(settled, seconds(0x01020304), seconds(0x01020304));
  static_cast<void>(dns::answer_kind(original));
  static_cast<void>(dns::negative_ttl(original));

  const auto life = dns::cache_ttl(original);
  const auto lowest = dns::lowest_ttl(original);
  REQUIRE(!life || (lowest && *life <= *lowest && life->count() >= 0));
  check_aged(original, once, first);
  Bytes twice = once;
  dns::age_ttls(twice, seconds(second));
  check_aged(once, twice, second);
  Bytes normal = original;
  dns::normalise_ttls(normal);
  Bytes again = normal;
  dns::normalise_ttls(again);
  REQUIRE(again == normal || !whole(normal));
  return 0;
}
