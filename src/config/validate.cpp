// The rules between sections: who listens and who may ask, which names exist, which exits and addresses an upstream has.
// It must not know YAML: the same rules hold for the command line. Rules of one section alone are in parse_*.cpp.
#include "config/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/origins.h"
#include "config/readers.h"
#include "config/scalar.h"

namespace dohmux::config {
namespace {

/// Hints and lookups over names of one kind. Names from the environment are known, but never offered.
struct Names {
  std::set<std::string, std::less<>> all;
  std::vector<std::string> offered;
  bool complete = true;  // false: some name could not be read, so an unknown one may be that

  void add(const Text& name) {
    all.insert(name.value);
    if (!name.expanded) {
      offered.push_back(name.value);
    }
  }
  [[nodiscard]] std::string hint(const Text& name) const { return name.expanded ? std::string() : did_you_mean(name.value, offered); }
};

std::vector<ListenConfig> default_listen() {
  std::vector<ListenConfig> listen;
  for (const std::string_view text : {"127.0.0.1:5053", "[::1]:5053"}) {
    if (const auto endpoint = Endpoint::parse(text)) {
      listen.push_back({*endpoint, false});
    }
  }
  return listen;
}

void check_listen(const Draft& draft, Diagnostics& diagnostics, Config& config) {
  std::set<Endpoint> seen;
  for (const ListenDraft& listen : draft.listen) {
    bool twice = false;
    for (const ListenConfig& entry : listen.entries) {
      twice = twice || (entry.endpoint.port != 0 && !seen.insert(entry.endpoint).second);
      config.listen.push_back(entry);
    }
    if (twice) {
      diagnostics.error(listen.text.where, fmt::format("{} is listened on already; keep one of the two", listen.text.shown));
    }
  }
  if (config.listen.empty()) {
    config.listen = default_listen();
  }
}

bool is_loopback(const Prefix& prefix) {
  return prefix.base.is_loopback() && (prefix.base.family == Family::V4 ? prefix.length >= 8 : prefix.length == 128);
}

/// contract.md §2: access must be widened by hand as soon as others can reach a listener.
void check_access(const Draft& draft, Diagnostics& diagnostics, Config& config) {
  config.allow = draft.access.allow;
  if (!draft.access.where) {
    config.allow = expand_access_word("loopback").value_or(std::vector<Prefix>{});
  }
  if (!std::all_of(config.allow.begin(), config.allow.end(), is_loopback)) {
    return;
  }
  const std::string_view remedy = draft.source == Source::File
                                      ? "say who may ask, such as access: {allow: [loopback, private]}, or listen on 127.0.0.1 and [::1]"
                                      : "listen on 127.0.0.1 or [::1], or use a file with access: {allow: [loopback, private]}";
  for (const ListenDraft& listen : draft.listen) {
    if (!std::all_of(listen.entries.begin(), listen.entries.end(),
                     [](const ListenConfig& each) { return each.endpoint.address.is_loopback(); })) {
      diagnostics.error(listen.text.where, fmt::format("{} is reachable from other machines, but access.allow lets only loopback ask; {}",
                                                       listen.text.shown, remedy));
    }
  }
}

Names check_proxies(const Draft& draft, Diagnostics& diagnostics, Config& config) {
  Names names;
  names.offered.emplace_back(kDirect);
  for (const ProxyDraft& proxy : draft.proxies) {
    if (!proxy.name) {
      names.complete = false;
      continue;
    }
    check_name(*proxy.name, diagnostics);
    if (proxy.name->value == kDirect) {
      diagnostics.error(proxy.name->where, "a proxy cannot be called direct, which means no proxy; choose another name");
    } else if (names.all.contains(proxy.name->value)) {
      diagnostics.error(proxy.name->where, fmt::format("{} is the name of another proxy already; choose another", proxy.name->shown));
    }
    names.add(*proxy.name);
    if (proxy.url) {
      config.proxies.push_back({proxy.name->value, proxy.url->host, proxy.url->port, {}, proxy.auth.value_or(ProxyAuth{})});
      config.proxies.back().addresses = proxy_addresses(draft, proxy, diagnostics);
    }
  }
  return names;
}

void check_exits(const std::vector<Text>& via, const Names& proxies, Diagnostics& diagnostics) {
  for (const Text& exit : via) {
    if (exit.value != kDirect && !proxies.all.contains(exit.value) && proxies.complete) {
      diagnostics.error(exit.where,
                        fmt::format("{} is no proxy of this file; use the name of one, or direct{}", exit.shown, proxies.hint(exit)));
    }
  }
}

Names check_upstreams(const Draft& draft, const Names& proxies, Diagnostics& diagnostics, Config& config) {
  Names names;
  OriginTable origins(draft, diagnostics);
  if (draft.upstream_defaults.via) {
    check_exits(*draft.upstream_defaults.via, proxies, diagnostics);
  }
  for (const UpstreamDraft& upstream : draft.upstreams) {
    if (upstream.own.via) {
      check_exits(*upstream.own.via, proxies, diagnostics);
    }
    if (upstream.name) {
      check_name(*upstream.name, diagnostics);
    }
    const auto name = upstream_name(upstream);
    if (!name) {
      names.complete = false;
      continue;
    }
    if (names.all.contains(name->value)) {
      const std::string_view remedy = upstream.name ? "choose another" : "give this one a name of its own (name: …)";
      diagnostics.error(name->where, fmt::format("{} is the name of another upstream already; {}", name->shown, remedy));
    }
    names.add(*name);
    if (upstream.url) {
      config.upstreams.push_back(origins.resolve(upstream));
    }
  }
  return names;
}

void check_groups(const Draft& draft, const Names& upstreams, Diagnostics& diagnostics, Config& config) {
  if (!draft.groups_where) {
    config.groups.push_back({"default", {}, Strategy::Failover});
    for (const UpstreamConfig& upstream : config.upstreams) {
      config.groups.back().upstreams.push_back(upstream.name);
    }
    return;
  }
  std::set<std::string, std::less<>> names;
  bool complete = true;
  for (const GroupDraft& group : draft.groups) {
    complete = complete && group.name.has_value();
    GroupConfig result{group.name ? group.name->value : std::string(), {}, group.strategy};
    if (group.name) {
      check_name(*group.name, diagnostics);
      if (!names.insert(group.name->value).second) {
        diagnostics.error(group.name->where, fmt::format("{} is the name of another group already; choose another", group.name->shown));
      }
    }
    for (const Text& member : group.upstreams) {
      if (!upstreams.all.contains(member.value) && upstreams.complete) {
        diagnostics.error(member.where,
                          fmt::format("{} is no upstream of this file; use the name of one{}", member.shown, upstreams.hint(member)));
      }
      result.upstreams.push_back(member.value);
    }
    config.groups.push_back(std::move(result));
  }
  if (!draft.groups.empty() && complete && !names.contains("default")) {
    diagnostics.error(*draft.groups_where, "no group is named default, and that one answers; name one so, or remove the key");
  }
}

struct Order {
  std::string_view shorter;
  Milliseconds TimeoutsConfig::* shorter_member;
  std::string_view longer;
  Milliseconds TimeoutsConfig::* longer_member;
};

constexpr std::array<Order, 2> kOrders{{{"attempt", &TimeoutsConfig::attempt, "query", &TimeoutsConfig::query},
                                        {"exit_race", &TimeoutsConfig::exit_race, "dial", &TimeoutsConfig::dial}}};

/// A shorter limit that never strikes is a mistake. Reported where one of the two is written.
void check_timeouts(const Draft& draft, Diagnostics& diagnostics) {
  const TimeoutsDraft& timeouts = draft.timeouts;
  const auto described = [&timeouts](std::string_view key, Milliseconds value) {
    const auto at = timeouts.written.find(key);
    return fmt::format("timeouts.{} ({})", key, at != timeouts.written.end() ? at->second.shown : format_duration(value) + ", the default");
  };
  for (const Order& order : kOrders) {
    const Milliseconds small = timeouts.values.*order.shorter_member;
    const Milliseconds large = timeouts.values.*order.longer_member;
    if (small < large) {
      continue;
    }
    const auto shorter = timeouts.written.find(order.shorter);
    const auto longer = timeouts.written.find(order.longer);
    if (shorter != timeouts.written.end()) {
      diagnostics.error(shorter->second.where, fmt::format("{} is not shorter than {}; change one of them", shorter->second.shown,
                                                           described(order.longer, large)));
    } else if (longer != timeouts.written.end()) {
      diagnostics.error(longer->second.where,
                        fmt::format("{} is not longer than {}; change one of them", longer->second.shown, described(order.shorter, small)));
    }
  }
}

}  // namespace

Config validate(const Draft& draft, Diagnostics& diagnostics) {
  Config config;
  check_listen(draft, diagnostics, config);
  check_access(draft, diagnostics, config);
  const Names proxies = check_proxies(draft, diagnostics, config);
  const Names upstreams = check_upstreams(draft, proxies, diagnostics, config);
  check_groups(draft, upstreams, diagnostics, config);
  check_routes(draft, diagnostics, config);
  check_timeouts(draft, diagnostics);
  config.records = draft.records;
  config.privacy = draft.privacy;
  config.special_names = draft.special_names;
  config.rebinding = draft.rebinding;
  config.timeouts = draft.timeouts.values;
  config.limits = draft.limits;
  config.transport = draft.transport;
  config.log = draft.log;
  config.web_listen = draft.web_listen;
  return config;
}

}  // namespace dohmux::config
