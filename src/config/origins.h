// How each proxy and each upstream is reached: exits, addresses, certificates and caps, per origin (host and port).
#pragma once

#include <map>
#include <string_view>
#include <utility>

#include "config/draft.h"

namespace dohmux::config {

inline constexpr std::string_view kDirect = "direct";

/// The name that was given, or the host; nullopt if neither can be read.
[[nodiscard]] std::optional<Text> upstream_name(const UpstreamDraft& upstream);

/// The literal address, or the addresses of bootstrap.hosts; reported and empty if there are none. `proxy.url` is there.
[[nodiscard]] std::vector<IpAddress> proxy_addresses(const Draft& draft, const ProxyDraft& proxy, Diagnostics& diagnostics);

/// Builds upstreams one after the other and reports those that disagree with an earlier one of the same host and port:
/// such upstreams share their connections (contract.md §3), so their settings must be the same.
class OriginTable {
 public:
  OriginTable(const Draft& draft, Diagnostics& diagnostics) : draft_(draft), diagnostics_(diagnostics) {}
  OriginTable(const OriginTable&) = delete;
  OriginTable& operator=(const OriginTable&) = delete;

  /// `upstream.url` is there.
  [[nodiscard]] UpstreamConfig resolve(const UpstreamDraft& upstream);

 private:
  struct First {
    Text name;
    OriginSettings settings;
  };

  [[nodiscard]] std::vector<std::string> exits(const UpstreamDraft& upstream) const;
  [[nodiscard]] std::vector<IpAddress> direct_addresses(const UpstreamDraft& upstream, bool needed) const;
  void agree(const UpstreamDraft& upstream, UpstreamConfig& config);

  const Draft& draft_;
  Diagnostics& diagnostics_;
  std::map<std::pair<std::string, std::uint16_t>, First> first_;
};

}  // namespace dohmux::config
