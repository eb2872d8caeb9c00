// The rules of `routes`: each name goes one way, to a group that exists or to servers that are not ourselves.
// It must not know YAML.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/validate.h"

namespace dohmux::config {
namespace {

struct GroupNames {
  std::set<std::string, std::less<>> all;
  std::vector<std::string> offered;  // what a hint may name: nothing from the environment
  bool complete = true;              // false: some name could not be read
};

GroupNames group_names(const Draft& draft) {
  GroupNames names;
  if (!draft.groups_where) {
    names.all.emplace("default");
    names.offered.emplace_back("default");
  }
  for (const GroupDraft& group : draft.groups) {
    if (!group.name) {
      names.complete = false;
      continue;
    }
    names.all.insert(group.name->value);
    if (!group.name->expanded) {
      names.offered.push_back(group.name->value);
    }
  }
  return names;
}

/// A query sent there comes back to us. Other addresses of this machine are not known here.
bool is_ourselves(const Endpoint& server, const Config& config) {
  return std::ranges::any_of(config.listen, [&server](const ListenConfig& listen) {
    const Endpoint& own = listen.endpoint;
    const bool same = own.address == server.address || (own.address.is_unspecified() && server.address.is_loopback());
    return own.port != 0 && own.port == server.port && same;
  });
}

void check_servers(const RouteDraft& route, Diagnostics& diagnostics, const Config& config) {
  std::set<Endpoint> seen;
  for (const ForwardDraft& server : route.forward) {
    if (!seen.insert(server.endpoint).second) {
      diagnostics.error(server.text.where, fmt::format("{} is given twice; keep one", server.text.shown));
    } else if (server.endpoint.address.is_unspecified()) {
      diagnostics.error(server.text.where, fmt::format("{} is no address of a server; give the server's own", server.text.shown));
    } else if (is_ourselves(server.endpoint, config)) {
      diagnostics.error(server.text.where, fmt::format("{} is where this daemon listens: each query would come back for ever; give another "
                                                       "server, or its other port",
                                                       server.text.shown));
    }
  }
}

void check_matches(const RouteDraft& route, std::map<std::string, int>& lines, Diagnostics& diagnostics) {
  for (const Text& match : route.match) {
    const auto [first, added] = lines.try_emplace(match.value, match.where.place.line);
    if (!added) {
      const std::string where = first->second > 0 ? fmt::format(" (line {})", first->second) : std::string();
      diagnostics.error(match.where, fmt::format("{} has a route already{}; keep one of the two", match.shown, where));
    }
  }
}

}  // namespace

void check_routes(const Draft& draft, Diagnostics& diagnostics, Config& config) {
  const GroupNames groups = group_names(draft);
  std::map<std::string, int> lines;
  for (const RouteDraft& route : draft.routes) {
    check_matches(route, lines, diagnostics);
    check_servers(route, diagnostics, config);
    if (route.group && !groups.all.contains(route.group->value) && groups.complete) {
      const std::string hint = route.group->expanded ? std::string() : did_you_mean(route.group->value, groups.offered);
      diagnostics.error(route.group->where, fmt::format("{} is no group of this file; use the name of one{}", route.group->shown, hint));
    }
    RouteConfig result;
    for (const Text& match : route.match) {
      result.match.push_back(match.value);
    }
    for (const ForwardDraft& server : route.forward) {
      result.forward.push_back(server.endpoint);
    }
    result.group = route.group ? route.group->value : std::string();
    config.routes.push_back(std::move(result));
  }
}

}  // namespace dohmux::config
