// What was written, value by value well-formed, but not yet checked against each other. Filled by the readers
// (parse_*.cpp) or from the command line (options.cpp), turned into a Config by validate.cpp.
#pragma once

#include <dohmux/config.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/field.h"
#include "config/url.h"

namespace dohmux::config {

struct ListenDraft {
  Text text;
  std::vector<ListenConfig> entries;  // two for ":53"
};

struct AccessDraft {
  std::optional<Where> where;  // of access.allow, if written
  std::vector<Prefix> allow;
};

struct ProxyDraft {
  Where where;
  std::optional<Text> name;  // also if malformed, so that references to it are not errors too
  std::optional<Text> url_text;
  std::optional<Url> url;
  std::optional<ProxyAuth> auth;  // resolved against proxy_defaults already
};

/// Keys that upstreams and upstream_defaults share.
struct UpstreamSettings {
  std::optional<std::vector<Text>> via;
  std::optional<std::vector<std::string>> ca;
  std::optional<HttpMethod> method;
  std::optional<bool> warm;
  std::optional<std::uint16_t> max_connections;
  std::optional<std::uint16_t> max_streams;
  std::optional<std::uint16_t> max_http1_connections;
};

struct UpstreamDraft {
  Where where;
  std::optional<Text> name;
  std::optional<Text> url_text;
  std::optional<Url> url;
  std::optional<std::vector<IpAddress>> addresses;
  UpstreamSettings own;
};

struct GroupDraft {
  Where where;
  std::optional<Text> name;
  std::vector<Text> upstreams;
  Strategy strategy = Strategy::Failover;
};

struct ForwardDraft {
  Text text;
  Endpoint endpoint;
};

struct RouteDraft {
  std::vector<Text> match;  // values are parsed domain names
  std::vector<ForwardDraft> forward;
  std::optional<Text> group;
};

struct TimeoutsDraft {
  TimeoutsConfig values;
  std::map<std::string, Text, std::less<>> written;  // "query" -> what stands there
};

/// Which words a remedy names: keys of the file, or options of the command line.
enum class Source : std::uint8_t { File, CommandLine };

struct Draft {
  Source source = Source::File;
  std::vector<ListenDraft> listen;
  AccessDraft access;
  std::optional<Where> proxies_where;  // the key `proxies` is there, whatever it holds
  std::vector<ProxyDraft> proxies;
  std::map<std::string, std::vector<IpAddress>, std::less<>> hosts;  // bootstrap.hosts, names in lower case
  Where upstreams_where;
  std::vector<UpstreamDraft> upstreams;
  UpstreamSettings upstream_defaults;
  std::optional<Where> groups_where;
  std::vector<GroupDraft> groups;
  std::vector<RouteDraft> routes;
  std::vector<RecordConfig> records;
  PrivacyConfig privacy;
  SpecialNamesConfig special_names;
  RebindingConfig rebinding;
  TimeoutsDraft timeouts;
  LimitsConfig limits;
  TransportKind transport = TransportKind::Curl;
  LogConfig log;
  std::vector<ListenConfig> web_listen = Config{}.web_listen;
};

}  // namespace dohmux::config
