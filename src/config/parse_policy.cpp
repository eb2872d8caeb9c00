// Reads what happens to names: `routes`, `records`, `special_names`, `rebinding`, `privacy`.
// It must not know which groups and listeners exist: references are checked in routes.cpp.
#include <fmt/format.h>

#include <set>

#include "config/domain.h"
#include "config/readers.h"

namespace dohmux::config {
namespace {

constexpr std::uint16_t kDnsPort = 53;
constexpr std::string_view kRouteExample =
    "a map, such as {match: [corp.example], forward: [10.0.0.2]} or {match: [example.net], group: b}";
constexpr std::array<Choice<EcsMode>, 2> kEcsModes{{{"strip", EcsMode::Strip}, {"pass", EcsMode::Pass}}};
constexpr std::array<Choice<RebindingMode>, 3> kRebindingModes{
    {{"auto", RebindingMode::Auto}, {"on", RebindingMode::On}, {"off", RebindingMode::Off}}};

/// The items as domain names; what is none is reported and left out.
std::vector<Text> read_domains(const Field& field) {
  std::vector<Text> domains;
  for (const Field& item : field.items()) {
    auto text = item.text();
    if (!text) {
      continue;
    }
    auto domain = parse_domain(text->value);
    if (!domain) {
      item.error(text->expanded ? fmt::format("{} is not a domain name", text->shown) : fmt::format("{} {}", text->shown, domain.error()));
      continue;
    }
    text->value = *std::move(domain);
    domains.push_back(*std::move(text));
  }
  return domains;
}

/// Names that are exceptions: none twice.
std::vector<std::string> read_exceptions(const Field& field) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Text& domain : read_domains(field)) {
    if (!seen.insert(domain.value).second) {
      field.context().diagnostics.error(domain.where, fmt::format("{} is named twice; keep one", domain.shown));
    }
    names.push_back(domain.value);
  }
  return names;
}

std::optional<Endpoint> read_server(const Field& item, const Text& text) {
  if (const auto address = IpAddress::parse(text.value)) {
    return Endpoint{*address, kDnsPort};
  }
  const auto endpoint = Endpoint::parse(text.value);
  if (!endpoint || endpoint->port == 0) {
    item.error(fmt::format(
        "{} is not a numeric address; give one such as 10.0.0.2, 10.0.0.2:5353 or \"[fd00::2]:5353\" (the port is 53 if left out)",
        text.shown));
    return std::nullopt;
  }
  return endpoint;
}

std::vector<ForwardDraft> read_servers(const Field& field) {
  std::vector<ForwardDraft> servers;
  const auto items = field.items();
  if (items.empty() && field.node().kind == NodeKind::Sequence) {
    field.error("is empty; give at least one address of a plain DNS server");
  }
  for (const Field& item : items) {
    const auto text = item.text();
    const auto endpoint = text ? read_server(item, *text) : std::nullopt;
    if (endpoint) {
      servers.push_back({*text, *endpoint});
    }
  }
  return servers;
}

void read_route(const Field& item, Draft& draft) {
  if (item.node().kind != NodeKind::Map) {
    item.refuse_kind(kRouteExample);
    return;
  }
  Mapping map(item);
  RouteDraft route;
  if (const auto match = map.require("match", "give the names that it is for, such as [corp.example]")) {
    route.match = read_domains(*match);
    if (match->node().kind == NodeKind::Sequence && match->node().items.empty()) {
      match->error("is empty; give at least one name, such as corp.example");
    }
  }
  const auto forward = map.get("forward");
  const auto group = map.get("group");
  if (forward) {
    route.forward = read_servers(*forward);
  }
  if (group) {
    route.group = group->text();
  }
  if (forward && group) {
    item.error("has both forward and group; keep one of the two");
  } else if (!forward && !group) {
    item.error("leads nowhere; give forward: [ADDRESS, …] (plain DNS) or group: NAME");
  }
  map.refuse_unknown();
  draft.routes.push_back(std::move(route));
}

}  // namespace

void read_routes(const Field& field, Draft& draft) {
  if (field.node().kind != NodeKind::Sequence) {
    field.refuse_kind("a list, such as [{match: [corp.example], forward: [10.0.0.2]}]");
    return;
  }
  for (const Field& item : field.items()) {
    read_route(item, draft);
  }
}

void read_records(const Field& field, Draft& draft) {
  const Mapping checked(field);  // reports what is no map, and keys written twice
  std::set<std::string_view> keys;
  std::set<std::string> names;
  for (const Entry& entry : field.node().entries) {
    const bool repeated = !keys.insert(entry.key).second;
    const Field value(field.context(), entry.value, join_path(field.path(), entry.key));
    auto name = parse_domain(entry.key);
    if (!name || *name == ".") {
      field.context().diagnostics.error({entry.place, value.path()}, "this key " + (name ? "is the root; give a name" : name.error()));
      continue;
    }
    if (!names.insert(*name).second && !repeated) {
      value.error("this name was given above already (case does not matter); keep one of the two");
    }
    if (auto addresses = read_addresses(value)) {
      draft.records.push_back({*std::move(name), *std::move(addresses)});
    }
  }
}

void read_special_names(const Field& field, Draft& draft) {
  Mapping map(field);
  if (const auto enabled = map.get("enabled")) {
    draft.special_names.enabled = enabled->boolean().value_or(draft.special_names.enabled);
  }
  if (const auto except = map.get("except")) {
    draft.special_names.except = read_exceptions(*except);
  }
  map.refuse_unknown();
}

void read_rebinding(const Field& field, Draft& draft) {
  Mapping map(field);
  if (const auto mode = map.get("mode")) {
    draft.rebinding.mode = mode->choice(kRebindingModes).value_or(draft.rebinding.mode);
  }
  if (const auto except = map.get("except")) {
    draft.rebinding.except = read_exceptions(*except);
  }
  map.refuse_unknown();
}

void read_privacy(const Field& field, Draft& draft) {
  Mapping map(field);
  if (const auto padding = map.get("padding")) {
    draft.privacy.padding = padding->boolean().value_or(draft.privacy.padding);
  }
  if (const auto ecs = map.get("ecs")) {
    draft.privacy.ecs = ecs->choice(kEcsModes).value_or(draft.privacy.ecs);
  }
  map.refuse_unknown();
}

}  // namespace dohmux::config
