// Turns `routes`, `records`, `special_names`, `rebinding` and `limits` into what the resolver takes. Decides nothing about
// queries.
#include "runtime/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "forward/plain_forwarder.h"

namespace dohmux::runtime {
namespace {

bool refuses_rebinding(const Config& config) {
  const auto is_open = [](const ListenConfig& listen) { return !listen.endpoint.address.is_loopback(); };
  return config.rebinding.mode == RebindingMode::On ||
         (config.rebinding.mode == RebindingMode::Auto && std::ranges::any_of(config.listen, is_open));
}

}  // namespace

std::expected<Routes, std::string> build_routes(const Config& config, event::Loop& loop, upstream::Pool& pool) {
  Routes built;
  built.targets.push_back({.exchanger = &pool.default_group(), .kind = TargetKind::Group});
  for (const RouteConfig& route : config.routes) {
    built.routes.push_back({.match = route.match, .target = built.targets.size()});
    if (!route.forward.empty()) {
      built.forwarders.push_back(std::make_unique<forward::PlainForwarder>(loop, route.forward, config.timeouts, Random::seeded()));
      built.targets.push_back({.exchanger = built.forwarders.back().get(), .kind = TargetKind::PlainDns});
    } else if (upstream::Exchanger* group = pool.group(route.group)) {
      built.targets.push_back({.exchanger = group, .kind = TargetKind::Group});
    } else {
      return std::unexpected(fmt::format("a route leads to the group {}, which does not exist", route.group));
    }
  }
  return built;
}

ResolverSettings resolver_settings(const Config& config, std::vector<PolicyRoute> routes) {
  return {.allow = config.allow,
          .query_timeout = config.timeouts.query,
          .max_in_flight = config.limits.queries,
          .log = config.log,
          .policy = {.records = config.records, .routes = std::move(routes), .special_names = config.special_names},
          .privacy = config.privacy,
          .rebinding = {.on = refuses_rebinding(config), .except = config.rebinding.except},
          .clients = {.pending = config.limits.queries_per_client, .per_second = config.limits.queries_per_second_per_client},
          .tcp_idle = config.timeouts.tcp_idle};
}

}  // namespace dohmux::runtime
