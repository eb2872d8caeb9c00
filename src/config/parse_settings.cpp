// Reads the small sections: `timeouts`, `limits`, `log`, `transport`, `bootstrap`; and the order of all of them.
// It must not know how sections depend on each other: that is validate.cpp.
#include <fmt/format.h>

#include <set>
#include <type_traits>

#include "config/readers.h"

namespace dohmux::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

struct Timeout {
  std::string_view key;
  Milliseconds TimeoutsConfig::* member;
  DurationRange range;
};

constexpr std::array<Timeout, 6> kTimeouts{{
    {"query", &TimeoutsConfig::query, {milliseconds(100), minutes(10)}},
    {"attempt", &TimeoutsConfig::attempt, {milliseconds(10), minutes(10)}},
    {"dial", &TimeoutsConfig::dial, {milliseconds(10), minutes(10)}},
    {"exit_race", &TimeoutsConfig::exit_race, {milliseconds(10), minutes(10)}},
    {"tcp_idle", &TimeoutsConfig::tcp_idle, {milliseconds(10), hours(24)}},
    {"drain", &TimeoutsConfig::drain, {milliseconds(0), minutes(10)}},
}};

constexpr std::array<Choice<LogLevel>, 6> kLevels{{{"error", LogLevel::Error},
                                                   {"warning", LogLevel::Warning},
                                                   {"warn", LogLevel::Warning},
                                                   {"info", LogLevel::Info},
                                                   {"debug", LogLevel::Debug},
                                                   {"trace", LogLevel::Trace}}};
constexpr std::array<Choice<LogFormat>, 2> kFormats{{{"text", LogFormat::Text}, {"json", LogFormat::Json}}};
constexpr std::array<Choice<TransportKind>, 1> kTransports{{{"curl", TransportKind::Curl}}};

using Reader = void (*)(const Field&, Draft&);
struct Section {
  std::string_view key;
  Reader read;
};

constexpr std::array<Section, 13> kSections{{{"listen", read_listen},
                                             {"access", read_access},
                                             {"bootstrap", read_bootstrap},
                                             {"upstream_defaults", read_upstream_defaults},
                                             {"routes", read_routes},
                                             {"records", read_records},
                                             {"privacy", read_privacy},
                                             {"special_names", read_special_names},
                                             {"rebinding", read_rebinding},
                                             {"timeouts", read_timeouts},
                                             {"limits", read_limits},
                                             {"log", read_log},
                                             {"web", read_web}}};

}  // namespace

void read_timeouts(const Field& field, Draft& draft) {
  Mapping map(field);
  for (const Timeout& timeout : kTimeouts) {
    if (const auto value = map.get(timeout.key)) {
      if (const auto duration = value->duration(timeout.range)) {
        draft.timeouts.values.*timeout.member = *duration;
        draft.timeouts.written.emplace(timeout.key, value->text().value_or(Text{}));
      }
    }
  }
  map.refuse_unknown();
  // A limit that was not written yields to one that was: `timeouts: {query: 1s}` alone must mean something.
  TimeoutsConfig& values = draft.timeouts.values;
  if (!draft.timeouts.written.contains("attempt") && values.attempt >= values.query) {
    values.attempt = values.query * 4 / 9;
  }
  if (!draft.timeouts.written.contains("exit_race") && values.exit_race >= values.dial) {
    values.exit_race = values.dial / 2;
  }
}

void read_limits(const Field& field, Draft& draft) {
  Mapping map(field);
  const auto read = [&map](std::string_view key, IntegerRange range, auto& value) {
    if (const auto number = map.get(key)) {
      value = static_cast<std::remove_reference_t<decltype(value)>>(number->integer(range).value_or(value));
    }
  };
  read("queries", {1, 1'000'000}, draft.limits.queries);
  read("queries_per_client", {1, 1'000'000}, draft.limits.queries_per_client);
  read("queries_per_second_per_client", {0, 1'000'000}, draft.limits.queries_per_second_per_client);
  read("tcp_clients", {1, 65535}, draft.limits.tcp_clients);
  read("tcp_clients_per_address", {1, 65535}, draft.limits.tcp_clients_per_address);
  map.refuse_unknown();
}

void read_log(const Field& field, Draft& draft) {
  Mapping map(field);
  if (const auto level = map.get("level")) {
    draft.log.level = level->choice(kLevels).value_or(draft.log.level);
  }
  if (const auto format = map.get("format")) {
    draft.log.format = format->choice(kFormats).value_or(draft.log.format);
  }
  if (const auto queries = map.get("queries")) {
    draft.log.queries = queries->boolean().value_or(draft.log.queries);
  }
  map.refuse_unknown();
}

void read_transport(const Field& field, Draft& draft) {
  if (field.node().kind == NodeKind::Scalar && field.node().text == "native") {
    field.error("\"native\" does not exist yet; use curl, or remove the key");
    return;
  }
  draft.transport = field.choice(kTransports).value_or(draft.transport);
}

void read_bootstrap(const Field& field, Draft& draft) {
  Mapping map(field);
  const auto hosts = map.get("hosts");
  map.refuse_unknown();
  if (!hosts) {
    return;
  }
  const Mapping checked(*hosts);  // reports what is no map
  std::set<std::string_view> keys;
  for (const Entry& entry : hosts->node().entries) {
    const bool repeated = !keys.insert(entry.key).second;
    const Field value(field.context(), entry.value, join_path(hosts->path(), entry.key));
    const auto host = parse_host(entry.key);
    if (!host || IpAddress::parse(*host)) {
      field.context().diagnostics.error({entry.place, value.path()}, host ? "this key is an address already; give a name here"
                                                                          : "this key is no host name: " + host.error());
      continue;
    }
    // Bad addresses are kept as none at all: the name is known, and one error is enough.
    if (!draft.hosts.try_emplace(*host, read_addresses(value).value_or(std::vector<IpAddress>{})).second &&
        !repeated) {  // Mapping reports the repeated ones
      value.error("this name was given above already (case does not matter); keep one of the two");
    }
  }
}

void read_file(const Field& root, Draft& draft) {
  if (root.node().kind != NodeKind::Map) {
    root.error(root.node().kind != NodeKind::Null
                   ? "the file is not a map of settings; write `key: value` lines"
                   : "the file is empty; give at least `upstreams: [https://HOST/dns-query]` and the way to it (proxies, or addresses)");
    return;
  }
  Mapping map(root);
  for (const Section& section : kSections) {
    if (const auto value = map.get(section.key)) {
      section.read(*value, draft);
    }
  }
  if (const auto transport = map.get("transport")) {
    read_transport(*transport, draft);
  }
  const auto proxies = map.get("proxies");
  read_proxies(proxies, map.get("proxy_defaults"), draft);
  draft.upstreams_where = {root.node().place, "upstreams"};
  if (const auto upstreams = map.require("upstreams", "give at least one, such as [https://HOST/dns-query]")) {
    read_upstreams(*upstreams, draft);
  }
  if (const auto groups = map.get("groups")) {
    read_groups(*groups, draft);
  }
  map.refuse_unknown();
}

}  // namespace dohmux::config
