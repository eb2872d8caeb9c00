// The table of special names and what is said about each. Must not know which of them a configuration excepts.
// `internal` is left out on purpose: it is private by ICANN's decision, but in no registry of special names, and where it is
// used the configured resolvers serve it. Single labels are ordinary names. So are ipv4only.arpa and canary names.
#include "dns/special_names.h"

#include <array>
#include <string_view>

#include "dns/name.h"

namespace dohmux::dns {
namespace {

constexpr std::uint32_t kTtl = 10800;  // RFC 6303 §3
constexpr std::string_view kEdeText = "special name, answered locally";

constexpr IpAddress kLoopback4{.family = Family::V4, .octets = {127, 0, 0, 1}};
constexpr IpAddress kLoopback6{.family = Family::V6, .octets = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

constexpr std::array<std::string_view, 4> kNoNames = {
    "invalid",  // RFC 6761 §6.4
    "test",     // RFC 6761 §6.2
    "onion",    // RFC 7686 §2
    "local",    // RFC 6762 §22.1: multicast DNS
};
constexpr std::array<std::string_view, 2> kNoArpaNames = {
    "home.arpa",     // RFC 8375 §4
    "service.arpa",  // RFC 9665 §10
};
// RFC 6303 §4, without the ranges that are written out below.
constexpr std::array<std::string_view, 14> kReverse = {
    "10.in-addr.arpa",      "168.192.in-addr.arpa",     "0.in-addr.arpa",         "254.169.in-addr.arpa",
    "2.0.192.in-addr.arpa", "100.51.198.in-addr.arpa",  "113.0.203.in-addr.arpa", "255.255.255.255.in-addr.arpa",
    "d.f.ip6.arpa",         "8.e.f.ip6.arpa",           "9.e.f.ip6.arpa",         "a.e.f.ip6.arpa",
    "b.e.f.ip6.arpa",       "8.b.d.0.1.0.0.2.ip6.arpa",
};

struct Range {
  int first;
  int last;
  std::string_view rest;
};
constexpr std::array<Range, 2> kRanges = {{{16, 31, ".172.in-addr.arpa"}, {64, 127, ".100.in-addr.arpa"}}};  // RFC 6303 §4.1, 7793 §3

/// "0.0. … .ip6.arpa" for ::, with another first nibble for ::1.
std::string low_address(char first) {
  std::string name{first, '.'};
  for (int i = 1; i < 32; ++i) {
    name += "0.";
  }
  return name + "ip6.arpa";
}

LocalAnswer negative(Rcode rcode, std::size_t zone_size) {
  return {.rcode = rcode, .records = {}, .zone_size = zone_size, .ttl = kTtl, .ede = Ede{.code = EdeCode::Synthesized, .text = kEdeText}};
}

LocalAnswer loopback(std::size_t zone_size) {
  return {.rcode = Rcode::NoError,
          .records = {address_record(kLoopback4), address_record(kLoopback6)},
          .zone_size = zone_size,
          .ttl = kTtl,
          .ede = std::nullopt};
}

/// The way down to the loopback address exists, so that nobody concludes from above that it does not (RFC 8020 §2).
LocalAnswer loopback_reverse(const Query& query, std::size_t zone_size) {
  for (const IpAddress& address : {kLoopback4, kLoopback6}) {
    const Bytes host = reverse_name(address);
    if (equal_ignoring_case(query.name(), host)) {
      LocalAnswer answer = loopback(zone_size);
      answer.records = {{.type = kTypePtr, .rdata = name_from_text("localhost").value_or(Bytes{0})}};
      return answer;
    }
    if (is_within(host, query.name())) {
      return negative(Rcode::NoError, zone_size);
    }
  }
  return negative(Rcode::NxDomain, zone_size);
}

}  // namespace

std::vector<SpecialZone> special_zones() {
  std::vector<SpecialZone> zones{
      {.name = "localhost", .action = SpecialAction::Loopback},
      // RFC 9462: the upstream's designation would take clients off this resolver.
      {.name = "resolver.arpa", .action = SpecialAction::NoData},
      {.name = "127.in-addr.arpa", .action = SpecialAction::LoopbackReverse, .ds_from_parent = true},
      {.name = low_address('1'), .action = SpecialAction::LoopbackReverse},
      {.name = low_address('0'), .action = SpecialAction::NxDomain},
  };
  for (const std::string_view name : kNoNames) {
    zones.push_back({.name = std::string(name)});
  }
  for (const std::string_view name : kNoArpaNames) {
    zones.push_back({.name = std::string(name), .ds_from_parent = true});
  }
  for (const std::string_view name : kReverse) {
    zones.push_back({.name = std::string(name), .ds_from_parent = true});
  }
  for (const Range& range : kRanges) {
    for (int number = range.first; number <= range.last; ++number) {
      zones.push_back({.name = std::to_string(number).append(range.rest), .ds_from_parent = true});
    }
  }
  return zones;
}

std::optional<LocalAnswer> special_answer(const Query& query, const SpecialZone& zone, std::size_t zone_size) {
  if (zone.ds_from_parent && query.type == kTypeDs && query.name().size() == zone_size) {
    return std::nullopt;
  }
  switch (zone.action) {
    case SpecialAction::Loopback:
      return loopback(zone_size);
    case SpecialAction::NxDomain:
      return negative(Rcode::NxDomain, zone_size);
    case SpecialAction::NoData:
      return negative(Rcode::NoError, zone_size);
    case SpecialAction::LoopbackReverse:
      return loopback_reverse(query, zone_size);
  }
  return std::nullopt;
}

}  // namespace dohmux::dns
