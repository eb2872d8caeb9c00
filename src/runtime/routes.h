// Whom the resolver can ask, and what it is told about names: from a Config.
#pragma once

#include <dohmux/config.h>

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "event/loop.h"
#include "resolver/resolver.h"
#include "upstream/exchanger.h"
#include "upstream/pool.h"

namespace dohmux::runtime {

struct Routes {
  std::vector<std::unique_ptr<upstream::Exchanger>> forwarders;  // must outlive who uses `targets`
  std::vector<Target> targets;                                   // the default group first
  std::vector<PolicyRoute> routes;
};

/// `loop` and `pool` outlive the result. Error: a route to a group that does not exist.
[[nodiscard]] std::expected<Routes, std::string> build_routes(const Config& config, event::Loop& loop, upstream::Pool& pool);

[[nodiscard]] ResolverSettings resolver_settings(const Config& config, std::vector<PolicyRoute> routes);

}  // namespace dohmux::runtime
