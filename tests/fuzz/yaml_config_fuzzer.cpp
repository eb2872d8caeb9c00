// Any octets as a configuration: either errors in order, or a Config that keeps what config.h promises.
#include <dohmux/config_load.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/require.h"

using namespace dohmux;

namespace {

void check_errors(const ConfigErrors& errors) {
  REQUIRE(!errors.empty());
  for (const ConfigError& error : errors) {
    REQUIRE(!error.message.empty() && error.line >= 0 && error.column >= 0);
    REQUIRE(error.to_string().find('\n') == std::string::npos);
  }
  REQUIRE(std::is_sorted(errors.begin(), errors.end(), [](const ConfigError& a, const ConfigError& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  }));
}

void check_upstream(const Config& config, const UpstreamConfig& upstream) {
  REQUIRE(!upstream.name.empty() && !upstream.host.empty() && upstream.port != 0 && upstream.path.starts_with('/'));
  REQUIRE(!upstream.origin.exits.empty() && !upstream.origin.ca.empty());
  REQUIRE(upstream.origin.max_connections > 0 && upstream.origin.max_streams > 0 && upstream.origin.max_http1_connections > 0);
  for (const std::string& exit : upstream.origin.exits) {
    const bool direct = exit == "direct";
    REQUIRE(direct ||
            std::any_of(config.proxies.begin(), config.proxies.end(), [&](const ProxyConfig& each) { return each.name == exit; }));
    REQUIRE(!direct || !upstream.origin.addresses.empty());
  }
}

void check_config(const Config& config) {
  REQUIRE(!config.listen.empty() && !config.allow.empty() && !config.upstreams.empty() && !config.groups.empty());
  REQUIRE(config.timeouts.attempt < config.timeouts.query);
  REQUIRE(std::any_of(config.groups.begin(), config.groups.end(), [](const GroupConfig& each) { return each.name == "default"; }));
  for (const UpstreamConfig& upstream : config.upstreams) {
    check_upstream(config, upstream);
  }
  for (const ProxyConfig& proxy : config.proxies) {
    REQUIRE(proxy.name != "direct" && proxy.port != 0 && !proxy.addresses.empty());
    REQUIRE(proxy.auth.username.find(':') == std::string::npos);
  }
  for (const GroupConfig& group : config.groups) {
    REQUIRE(!group.upstreams.empty());
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto loaded = parse_config(std::string(data, data + size), "f");
  if (loaded) {
    check_config(loaded->config);
  } else {
    check_errors(loaded.error());
  }
  return 0;
}
