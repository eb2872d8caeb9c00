// Everything upstream of one worker, built from a Config: exits, hosts, groups.
#pragma once

#include <dohmux/config.h>

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stats/metrics.h"
#include "transport/transport.h"
#include "upstream/exchanger.h"
#include "upstream/exits.h"
#include "upstream/group.h"
#include "upstream/host.h"

namespace dohmux::upstream {

/// The names of all exits of a configuration: `direct` if any upstream may use it, then the proxies.
[[nodiscard]] std::vector<std::string> exit_names(const Config& config);

class Pool {
 public:
  /// `config`, `scheduler`, `transport` and `metrics` outlive the pool. Error: an upstream that cannot be used at all.
  [[nodiscard]] static std::expected<std::unique_ptr<Pool>, std::string> build(const Config& config, Scheduler& scheduler,
                                                                               transport::Transport& transport, stats::Metrics& metrics);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  /// Dials the lanes of upstreams with `warm`.
  void warm();
  /// The group "default".
  [[nodiscard]] Exchanger& default_group();
  /// A group of the configuration; nothing if there is none of that name.
  [[nodiscard]] Exchanger* group(std::string_view name);
  /// Brings the gauges of the metrics up to date.
  void fill_gauges();

 private:
  Pool(const Config& config, Scheduler& scheduler, transport::Transport& transport, stats::Metrics& metrics);
  void build_hosts(const Config& config);
  void build_groups(const Config& config);
  [[nodiscard]] HostWorld world();
  [[nodiscard]] std::size_t tunnels_of_others(ExitId exit, const Host* host) const;

  const Config& config_;
  Scheduler& scheduler_;
  transport::Transport& transport_;
  stats::Metrics& metrics_;
  Exits exits_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::size_t> host_of_upstream_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::size_t default_group_ = 0;
};

}  // namespace dohmux::upstream
