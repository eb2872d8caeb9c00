// Puts a configuration's exits, hosts and groups together. No decisions about queries here.
#include "upstream/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "upstream/homes.h"

namespace dohmux::upstream {
namespace {

constexpr std::string_view kDirect = "direct";

ExitId exit_id(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<ExitId>(std::ranges::find(names, name) - names.begin());
}

transport::LaneSpec lane_spec(const Config& config, const UpstreamConfig& upstream, const std::string& exit) {
  transport::LaneSpec spec{.host = upstream.host, .port = upstream.port, .proxy = std::nullopt, .origin = upstream.origin};
  const auto proxy = std::ranges::find(config.proxies, exit, &ProxyConfig::name);
  if (proxy != config.proxies.end()) {
    spec.proxy = *proxy;
  }
  return spec;
}

}  // namespace

std::vector<std::string> exit_names(const Config& config) {
  std::vector<std::string> names;
  const bool direct = std::ranges::any_of(config.upstreams, [](const UpstreamConfig& upstream) {
    return std::ranges::find(upstream.origin.exits, kDirect) != upstream.origin.exits.end();
  });
  if (direct) {
    names.emplace_back(kDirect);
  }
  for (const ProxyConfig& proxy : config.proxies) {
    names.push_back(proxy.name);
  }
  return names;
}

Pool::Pool(const Config& config, Scheduler& scheduler, transport::Transport& transport, stats::Metrics& metrics)
    : config_(config), scheduler_(scheduler), transport_(transport), metrics_(metrics), exits_(exit_names(config)) {
  exits_.on_change([this](ExitId exit) {
    metrics_.exit_up(exit, exits_.down(exit) ? 0 : 1);
    for (const auto& host : hosts_) {
      host->exit_changed(exit);
    }
  });
}

Pool::~Pool() = default;

std::expected<std::unique_ptr<Pool>, std::string> Pool::build(const Config& config, Scheduler& scheduler, transport::Transport& transport,
                                                              stats::Metrics& metrics) {
  std::unique_ptr<Pool> pool(new Pool(config, scheduler, transport, metrics));
  pool->build_hosts(config);
  pool->build_groups(config);
  for (const auto& host : pool->hosts_) {
    if (const auto opened = host->open(); !opened) {
      return std::unexpected(fmt::format("upstream {}: {}", host->label(), opened.error()));
    }
  }
  return pool;
}

/// One host per origin (scheme, host, port), however many upstreams share it.
void Pool::build_hosts(const Config& config) {
  const std::vector<std::string> names = exit_names(config);
  std::map<std::string, std::size_t> by_origin;
  std::vector<Placement> placements;
  std::vector<HostSpec> specs;
  for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
    const UpstreamConfig& upstream = config.upstreams[i];
    const std::string origin = fmt::format("{}:{}", upstream.host, upstream.port);
    const auto [place, added] = by_origin.try_emplace(origin, specs.size());
    host_of_upstream_.push_back(place->second);
    if (!added) {
      specs[place->second].warm = specs[place->second].warm || upstream.warm;
      continue;
    }
    Placement placement{.host = origin, .allowed = {}};
    for (const std::string& exit : upstream.origin.exits) {
      placement.allowed.push_back(exit_id(names, exit));
    }
    placements.push_back(std::move(placement));
    specs.push_back(HostSpec{.label = upstream.name, .metric = i, .exits = {}, .lanes = {}, .warm = upstream.warm});
  }
  const auto orders = assign_homes(placements, names, config.instance_id);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    specs[i].exits = orders[i];
    for (const ExitId exit : orders[i]) {
      specs[i].lanes.push_back(lane_spec(config, config.upstreams[specs[i].metric], names[exit]));
    }
    hosts_.push_back(std::make_unique<Host>(std::move(specs[i]), world()));
  }
}

void Pool::build_groups(const Config& config) {
  for (const GroupConfig& group : config.groups) {
    std::vector<Upstream> members;
    for (const std::string& name : group.upstreams) {
      const auto found = std::ranges::find(config.upstreams, name, &UpstreamConfig::name);
      const auto index = static_cast<std::size_t>(found - config.upstreams.begin());
      members.push_back(Upstream{.name = found->name,
                                 .host = hosts_[host_of_upstream_[index]].get(),
                                 .host_name = found->host,
                                 .path = found->path,
                                 .method = found->method,
                                 .metric = index});
    }
    if (group.name == "default") {
      default_group_ = groups_.size();
    }
    groups_.push_back(std::make_unique<Group>(std::move(members), group.strategy, world()));
  }
}

HostWorld Pool::world() {
  return HostWorld{.scheduler = scheduler_,
                   .transport = transport_,
                   .exits = exits_,
                   .metrics = metrics_,
                   .timeouts = config_.timeouts,
                   .tunnels_of_others = [this](ExitId exit, const Host* host) { return tunnels_of_others(exit, host); }};
}

std::size_t Pool::tunnels_of_others(ExitId exit, const Host* host) const {
  std::size_t live = 0;
  for (const auto& other : hosts_) {
    if (other.get() != host) {
      other->each_lane([&](ExitId through, const transport::Lane& lane) { live += through == exit ? lane.connected() : 0; });
    }
  }
  return live;
}

void Pool::warm() {
  for (const auto& host : hosts_) {
    if (host->wants_warmth()) {
      host->warm();
    }
  }
}

Exchanger& Pool::default_group() {
  return *groups_[default_group_];
}

Exchanger* Pool::group(std::string_view name) {
  const auto found = std::ranges::find(config_.groups, name, &GroupConfig::name);
  return found == config_.groups.end() ? nullptr : groups_[static_cast<std::size_t>(found - config_.groups.begin())].get();
}

void Pool::fill_gauges() {
  for (const auto& host : hosts_) {
    host->each_lane([&](ExitId exit, const transport::Lane& lane) {
      metrics_.lane(host->metric(), exit, {.opened = lane.opened(), .open = lane.connected()});
    });
  }
}

}  // namespace dohmux::upstream
