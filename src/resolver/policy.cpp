// The order of records, routes, special names and the default group. Must not know who an exchanger is, nor time.
#include "resolver/policy.h"

#include <algorithm>
#include <utility>

namespace dohmux {
namespace {

constexpr std::uint32_t kRecordTtl = 300;  // short: a changed configuration is to be seen soon
constexpr std::size_t kRootSize = 1;

std::vector<Bytes> wire_names(const std::vector<std::string>& texts) {
  std::vector<Bytes> names;
  for (const std::string& text : texts) {
    if (auto name = dns::name_from_text(text)) {
      names.push_back(*std::move(name));
    }
  }
  return names;
}

}  // namespace

Policy::Policy(const PolicySettings& settings) {
  add_records(settings.records);
  for (const PolicyRoute& route : settings.routes) {
    for (const Bytes& name : wire_names(route.match)) {
      routes_.add(name, route.target);
    }
  }
  if (settings.special_names.enabled) {
    add_special_names(settings.special_names.except);
  }
}

void Policy::add_records(const std::vector<RecordConfig>& records) {
  for (const RecordConfig& record : records) {
    const auto name = dns::name_from_text(record.name);
    if (!name) {
      continue;
    }
    for (const IpAddress& address : record.addresses) {
      records_[*name].push_back(dns::address_record(address));
      records_[dns::reverse_name(address)].push_back({.type = dns::kTypePtr, .rdata = *name});
    }
  }
}

/// An excepted name frees itself and all below it, also zones of which it is only a parent.
void Policy::add_special_names(const std::vector<std::string>& except) {
  const std::vector<Bytes> excepted = wire_names(except);
  for (const Bytes& name : excepted) {
    special_names_.add(name, std::nullopt);
  }
  for (const dns::SpecialZone& zone : dns::special_zones()) {
    const auto name = dns::name_from_text(zone.name);
    if (name && std::ranges::none_of(excepted, [&name](const Bytes& outer) { return dns::is_within(*name, outer); })) {
      special_names_.add(*name, zone);
    }
  }
}

Decision Policy::decide(const dns::Query& query, std::size_t limit) const {
  if (auto reply = from_records(query, limit)) {
    return *std::move(reply);
  }
  const auto route = routes_.find_longest(query.name());
  if (route && route.size > kRootSize) {
    return Forward{.target = *route.value, .by = Chosen::Route};
  }
  if (auto reply = from_special_names(query, limit)) {
    return *std::move(reply);
  }
  return route ? Forward{.target = *route.value, .by = Chosen::Route} : Forward{};
}

/// The name is ours then, with all its types: nobody else is asked for those that it does not have.
std::optional<Bytes> Policy::from_records(const dns::Query& query, std::size_t limit) const {
  const auto* records = records_.find(query.name());
  if (records == nullptr) {
    return std::nullopt;
  }
  return dns::local_reply(
      query, {.rcode = dns::Rcode::NoError, .records = *records, .zone_size = query.name().size(), .ttl = kRecordTtl, .ede = std::nullopt},
      limit);
}

std::optional<Bytes> Policy::from_special_names(const dns::Query& query, std::size_t limit) const {
  const auto zone = special_names_.find_longest(query.name());
  if (!zone || !zone.value->has_value()) {
    return std::nullopt;
  }
  const auto answer = dns::special_answer(query, **zone.value, zone.size);
  return answer ? std::optional(dns::local_reply(query, *answer, limit)) : std::nullopt;
}

}  // namespace dohmux
