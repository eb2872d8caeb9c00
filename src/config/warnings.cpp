// What is allowed but risky or unwise: said at start (Risk) or by `dohmux check` only (Advice).
// It must not print names that came from the environment: it uses the draft's printable forms.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/origins.h"
#include "config/validate.h"

namespace dohmux::config {
namespace {

void warn_exposure(const Config& config, Diagnostics& diagnostics) {
  for (const Prefix& prefix : config.allow) {
    if (prefix.length == 0) {
      diagnostics.warning(
          fmt::format("access.allow holds {}: everybody who reaches a listener may ask; name your own ranges", prefix.to_string()));
    }
  }
  if (!std::all_of(config.web_listen.begin(), config.web_listen.end(),
                   [](const ListenConfig& each) { return each.endpoint.address.is_loopback(); })) {
    diagnostics.warning("web.listen is reachable from other machines: metrics name your upstreams and proxies; guard it, or use 127.0.0.1");
  }
}

void advise_exits(const Draft& draft, const Config& config, Diagnostics& diagnostics) {
  std::set<std::string, std::less<>> used;
  for (const UpstreamConfig& upstream : config.upstreams) {
    used.insert(upstream.origin.exits.begin(), upstream.origin.exits.end());
  }
  if (config.proxies.size() == 1 && !used.contains(kDirect)) {
    diagnostics.warning("a single proxy carries everything: nothing is answered while it is down; add a second", WarningKind::Advice);
  } else if (config.proxies.size() > 1 && used.size() == 1) {
    diagnostics.warning("every upstream has the same single exit in via: nothing is answered while it is down; allow more",
                        WarningKind::Advice);
  }
  for (const ProxyDraft& proxy : draft.proxies) {
    if (proxy.name && !used.contains(proxy.name->value)) {
      diagnostics.warning(fmt::format("the proxy {} is in no upstream's via: it is never used", proxy.name->shown), WarningKind::Advice);
    }
  }
}

void advise_groups(const Draft& draft, const Config& config, Diagnostics& diagnostics) {
  std::set<std::string, std::less<>> used{"default"};
  std::set<std::string, std::less<>> asked;
  for (const RouteConfig& route : config.routes) {
    used.insert(route.group);
  }
  for (const GroupConfig& group : config.groups) {
    if (used.contains(group.name)) {
      asked.insert(group.upstreams.begin(), group.upstreams.end());
    }
  }
  for (const UpstreamDraft& upstream : draft.upstreams) {
    const auto name = upstream_name(upstream);
    if (name && !asked.contains(name->value)) {
      diagnostics.warning(
          fmt::format("the upstream {} is neither in the group default nor in one that a route names: it is never asked", name->shown),
          WarningKind::Advice);
    }
  }
}

}  // namespace

void warn(const Draft& draft, const Config& config, Diagnostics& diagnostics) {
  warn_exposure(config, diagnostics);
  advise_exits(draft, config, diagnostics);
  advise_groups(draft, config, diagnostics);
}

}  // namespace dohmux::config
