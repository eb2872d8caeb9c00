// Finds private addresses in answers. Must not know which names are excepted, nor what happens to such an answer.
#include "dns/rebinding.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "dns/name.h"
#include "dns/records.h"

namespace dohmux::dns {
namespace {

constexpr std::uint16_t kIpv4Hint = 4;  // RFC 9460 §14.3.2
constexpr std::uint16_t kIpv6Hint = 6;

/// The first `bits` of an address.
struct Range {
  std::array<std::uint8_t, 16> base;
  unsigned bits;
};

constexpr std::array<Range, 7> kPrivate4{{
    {{0}, 8},          // this network, RFC 791
    {{10}, 8},         // RFC 1918
    {{100, 64}, 10},   // RFC 6598
    {{127}, 8},        // loopback
    {{169, 254}, 16},  // link-local, RFC 3927
    {{172, 16}, 12},   // RFC 1918
    {{192, 168}, 16},  // RFC 1918
}};
constexpr std::array<Range, 4> kPrivate6{{
    {{}, 128},                                                // ::
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128},  // ::1
    {{0xfe, 0x80}, 10},                                       // link-local, RFC 4291 §2.5.6
    {{0xfc}, 7},                                              // unique local, RFC 4193
}};
// What is in front of the four octets of an IPv4 address.
constexpr std::array<Range, 3> kCarriers{{
    {{}, 96},                                          // compatible, RFC 4291 §2.5.5.1
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},  // mapped, §2.5.5.2
    {{0, 0x64, 0xff, 0x9b}, 96},                       // NAT64, RFC 6052 §2.1
}};

bool is_in(ByteView address, const Range& range) noexcept {
  for (unsigned bit = 0; bit < range.bits; bit += 8) {
    const unsigned kept = std::min(8U, range.bits - bit);
    const auto mask = static_cast<std::uint8_t>(0xFF00U >> kept);
    if (bit / 8 >= address.size() || ((address[bit / 8] ^ range.base.at(bit / 8)) & mask) != 0) {
      return false;
    }
  }
  return true;
}

template <std::size_t N>
bool is_in_any(ByteView address, const std::array<Range, N>& ranges) noexcept {
  return std::ranges::any_of(ranges, [address](const Range& range) { return is_in(address, range); });
}

/// A list of addresses of one size; what is left at its end is no address.
bool any_private(ByteView addresses, std::size_t size) noexcept {
  for (; addresses.size() >= size; addresses = addresses.subspan(size)) {
    if (is_private_address(addresses.first(size))) {
      return true;
    }
  }
  return false;
}

bool hints_at_private(ByteView message, const Record& record) noexcept {
  WireReader reader(message.first(record.end()));
  reader.seek(record.rdata_offset());
  reader.skip(2);  // priority
  skip_name(reader);
  while (reader.remaining() > 0) {
    const std::uint16_t key = reader.u16();
    const ByteView value = reader.take(reader.u16());
    if ((key == kIpv4Hint && any_private(value, 4)) || (key == kIpv6Hint && any_private(value, 16))) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_private_address(ByteView address) noexcept {
  if (address.size() == 4) {
    return is_in_any(address, kPrivate4);
  }
  return address.size() == 16 &&
         (is_in_any(address, kPrivate6) || (is_in_any(address, kCarriers) && is_in_any(address.subspan(12), kPrivate4)));
}

bool holds_private_address(ByteView message) noexcept {
  RecordWalk walk(message);
  while (const auto record = walk.next()) {
    if (record->rclass != kClassIn) {
      continue;
    }
    const bool address = record->type == kTypeA || record->type == kTypeAaaa;
    const bool service = record->type == kTypeSvcb || record->type == kTypeHttps;
    if ((address && is_private_address(record->rdata)) || (service && hints_at_private(message, *record))) {
      return true;
    }
  }
  return false;
}

}  // namespace dohmux::dns
