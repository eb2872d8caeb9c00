// Every setting of the daemon as plain structs with their defaults (docs/configuration.md).
// Normalised: what the file may write in several ways has one form here. Standard headers only.
#pragma once

#include <dohmux/address.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dohmux {

using Milliseconds = std::chrono::milliseconds;

/// One address that the daemon answers on, over UDP and TCP. Port 0: any free one.
struct ListenConfig {
  Endpoint endpoint;
  bool required = true;  // false for a default listener: skipped with a warning if its family is missing
  bool operator==(const ListenConfig&) const = default;
};

enum class AuthScheme : std::uint8_t { None, Basic };

/// Credentials for a proxy. Never printed, logged or compared in messages.
struct ProxyAuth {
  AuthScheme scheme = AuthScheme::None;
  std::string username;  // any bytes but NUL and, for basic, ':' (RFC 7617 §2)
  std::string password;  // already read from password_file / password_env / password
  bool operator==(const ProxyAuth&) const = default;
};

/// A named HTTP CONNECT proxy.
struct ProxyConfig {
  std::string name;
  std::string host;  // as written: name or numeric address, without brackets
  std::uint16_t port = 0;
  std::vector<IpAddress> addresses;  // where it is reached: the literal, or from bootstrap.hosts
  ProxyAuth auth;
  bool operator==(const ProxyConfig&) const = default;
};

enum class HttpMethod : std::uint8_t { Post, Get };

/// What is shared by all upstreams of one origin (scheme, host, port); contract.md §3.
struct OriginSettings {
  std::vector<std::string> exits;    // names of proxies and/or "direct", in the file's order, never empty
  std::vector<IpAddress> addresses;  // for `direct`: from addresses, bootstrap.hosts, or the literal host
  std::vector<std::string> ca;       // "system" and/or PEM file paths
  std::uint16_t max_connections = 4;
  std::uint16_t max_streams = 100;
  std::uint16_t max_http1_connections = 16;
  bool operator==(const OriginSettings&) const = default;
};

/// One DoH resolver.
struct UpstreamConfig {
  std::string name;
  std::string host;  // lower case, without brackets
  std::uint16_t port = 443;
  std::string path = "/dns-query";  // origin-form with query if any; "{?dns}" already stripped
  HttpMethod method = HttpMethod::Post;
  bool warm = true;
  OriginSettings origin;

  bool operator==(const UpstreamConfig&) const = default;
};

enum class Strategy : std::uint8_t { Failover, RoundRobin };

/// A named set of upstreams, in order of preference.
struct GroupConfig {
  std::string name;
  std::vector<std::string> upstreams;
  Strategy strategy = Strategy::Failover;
  bool operator==(const GroupConfig&) const = default;
};

/// Names that are asked elsewhere: `forward` over plain DNS, or the group. Exactly one of the two is there.
struct RouteConfig {
  std::vector<std::string> match;  // domain names, each with all below it: lower case, no final dot; "." is the root
  std::vector<Endpoint> forward;
  std::string group;
  bool operator==(const RouteConfig&) const = default;
};

/// Addresses that a name has by this file.
struct RecordConfig {
  std::string name;  // as in RouteConfig
  std::vector<IpAddress> addresses;
  bool operator==(const RecordConfig&) const = default;
};

enum class EcsMode : std::uint8_t { Strip, Pass };

struct PrivacyConfig {
  bool padding = true;           // queries to blocks of 128 octets (RFC 8467)
  EcsMode ecs = EcsMode::Strip;  // a client's own subnet option (RFC 7871)
  bool operator==(const PrivacyConfig&) const = default;
};

/// Names that are answered here (RFC 6761, 6303, 7686, 8375, 9462).
struct SpecialNamesConfig {
  bool enabled = true;
  std::vector<std::string> except;  // as in RouteConfig
  bool operator==(const SpecialNamesConfig&) const = default;
};

enum class RebindingMode : std::uint8_t { Auto, On, Off };

/// Answers with private addresses are refused. Auto: when a listener is not on loopback.
struct RebindingConfig {
  RebindingMode mode = RebindingMode::Auto;
  std::vector<std::string> except;  // as in RouteConfig
  bool operator==(const RebindingConfig&) const = default;
};

/// Time limits; each is explained in docs/configuration.md.
struct TimeoutsConfig {
  Milliseconds query{4500};
  Milliseconds attempt{2000};
  Milliseconds dial{10000};
  Milliseconds exit_race{1000};
  Milliseconds tcp_idle{10000};
  Milliseconds drain{3000};
  bool operator==(const TimeoutsConfig&) const = default;
};

enum class LogLevel : std::uint8_t { Error, Warning, Info, Debug, Trace };
enum class LogFormat : std::uint8_t { Text, Json };

struct LogConfig {
  LogLevel level = LogLevel::Info;
  LogFormat format = LogFormat::Text;
  bool queries = false;  // one JSON line a query, with names and client addresses
  bool operator==(const LogConfig&) const = default;
};

struct LimitsConfig {
  std::size_t queries = 16384;                      // in flight, whole daemon
  std::size_t queries_per_client = 256;             // in flight of one client, UDP and TCP each; loopback is exempt
  std::uint32_t queries_per_second_per_client = 0;  // UDP and TCP each; loopback is exempt; 0 = any number
  std::size_t tcp_clients = 1024;                   // connections, whole daemon
  std::size_t tcp_clients_per_address = 64;         // loopback is exempt
  bool operator==(const LimitsConfig&) const = default;
};

enum class TransportKind : std::uint8_t { Curl };

/// The whole file. Produced by config::load (src/config), consumed by Forwarder::start.
struct Config {
  std::vector<ListenConfig> listen;
  std::vector<Prefix> allow;  // access.allow, address words expanded
  std::vector<ProxyConfig> proxies;
  std::vector<UpstreamConfig> upstreams;
  std::vector<GroupConfig> groups;  // never empty; the first named "default" answers
  std::vector<RouteConfig> routes;
  std::vector<RecordConfig> records;
  PrivacyConfig privacy;
  SpecialNamesConfig special_names;
  RebindingConfig rebinding;
  TimeoutsConfig timeouts;
  LimitsConfig limits;
  TransportKind transport = TransportKind::Curl;
  LogConfig log;
  std::vector<ListenConfig> web_listen{{{{Family::V4, {127, 0, 0, 1}}, 9153}, false}};  // TCP only; required as for listen
  std::string instance_id;  // seeds the homes of hosts; the machine's host name by default
  bool operator==(const Config&) const = default;
};

/// One fault of a configuration. Printed as FILE:LINE:COL: path: what; what would be right.
struct ConfigError {
  std::string file;  // empty: the command line
  int line = 0;      // 1-based; 0 = unknown
  int column = 0;    // 1-based; 0 = unknown
  std::string path;  // "upstreams[0].url"; empty for a syntax error
  std::string message;
  [[nodiscard]] std::string to_string() const;
};

/// Risk: said at every start. Advice: only `dohmux check` says it.
enum class WarningKind : std::uint8_t { Risk, Advice };

struct ConfigWarning {
  std::string message;
  WarningKind kind = WarningKind::Risk;
};

struct LoadedConfig {
  Config config;
  std::vector<ConfigWarning> warnings;
};

}  // namespace dohmux
