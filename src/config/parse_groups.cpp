// Reads `groups`. It must not know which upstreams exist: references are checked in validate.cpp.
#include <fmt/format.h>

#include "config/readers.h"

namespace dohmux::config {
namespace {

constexpr std::array<Choice<Strategy>, 2> kStrategies{{{"failover", Strategy::Failover}, {"round_robin", Strategy::RoundRobin}}};

Strategy read_strategy(const Field& field) {
  // The words of later versions are recognised, but not offered in hints.
  if (field.node().kind == NodeKind::Scalar && (field.node().text == "fastest" || field.node().text == "hedge")) {
    field.error(fmt::format("\"{}\" does not exist yet; use failover or round_robin", field.node().text));
    return Strategy::Failover;
  }
  return field.choice(kStrategies).value_or(Strategy::Failover);
}

void read_group(const Field& item, Draft& draft) {
  if (item.node().kind != NodeKind::Map) {
    item.refuse_kind("a map, such as {name: default, upstreams: [a, b], strategy: failover}");
    return;
  }
  Mapping map(item);
  GroupDraft group;
  group.where = item.where();
  if (const auto name = map.require("name", "give a name; the group named default answers")) {
    group.name = name->text();
  }
  if (const auto members = map.require("upstreams", "name at least one upstream")) {
    group.upstreams = read_names(*members, "name at least one upstream");
  }
  if (const auto strategy = map.get("strategy")) {
    group.strategy = read_strategy(*strategy);
  }
  map.refuse_unknown();
  draft.groups.push_back(std::move(group));
}

}  // namespace

void read_groups(const Field& field, Draft& draft) {
  draft.groups_where = field.where();
  if (field.node().kind != NodeKind::Sequence) {
    field.refuse_kind("a list, such as [{name: default, upstreams: [a, b]}], or remove the key for one group of all upstreams");
    return;
  }
  if (field.node().items.empty()) {
    field.error("is an empty list; add a group, or remove the key for one group of all upstreams");
  }
  for (const Field& item : field.items()) {
    read_group(item, draft);
  }
}

}  // namespace dohmux::config
