// Decides exits and addresses, where names that only DNS could answer are refused (until part D brings bootstrap lookups),
// and holds upstreams of one origin together. It must not know YAML, nor look up any name.
#include "config/origins.h"

#include <fmt/format.h>

#include <algorithm>

namespace dohmux::config {
namespace {

/// The host of a URL for messages; the URL's own text if it came from the environment.
std::string shown_host(const Url& url, const Text& text) {
  return text.expanded ? text.shown : shown(url.host);
}

/// Addresses that need no lookup; nullopt if there are none.
std::optional<std::vector<IpAddress>> known_addresses(const Draft& draft, const std::string& host) {
  if (const auto literal = IpAddress::parse(host)) {
    return std::vector<IpAddress>{*literal};
  }
  const auto found = draft.hosts.find(host);
  return found == draft.hosts.end() ? std::nullopt : std::optional(found->second);
}

template <typename T>
std::vector<T> sorted(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<std::string> differences(const OriginSettings& a, const OriginSettings& b) {
  std::vector<std::string> keys;
  const auto note = [&keys](bool same, const char* key) {
    if (!same) {
      keys.emplace_back(key);
    }
  };
  note(sorted(a.exits) == sorted(b.exits), "via");
  note(sorted(a.addresses) == sorted(b.addresses), "addresses");
  note(sorted(a.ca) == sorted(b.ca), "tls.ca");
  note(a.max_connections == b.max_connections, "max_connections");
  note(a.max_streams == b.max_streams, "max_streams");
  note(a.max_http1_connections == b.max_http1_connections, "max_http1_connections");
  return keys;
}

}  // namespace

std::optional<Text> upstream_name(const UpstreamDraft& upstream) {
  if (upstream.name || !upstream.url || !upstream.url_text) {
    return upstream.name;
  }
  const Text& url = *upstream.url_text;
  return Text{upstream.url->host, shown_host(*upstream.url, url), url.where, url.expanded, url.literal};
}

std::vector<IpAddress> proxy_addresses(const Draft& draft, const ProxyDraft& proxy, Diagnostics& diagnostics) {
  if (!proxy.url || !proxy.url_text) {
    return {};
  }
  if (auto addresses = known_addresses(draft, proxy.url->host)) {
    return *std::move(addresses);
  }
  const std::string host = shown_host(*proxy.url, *proxy.url_text);
  const std::string_view remedy = draft.source == Source::File
                                      ? "give its address in bootstrap: {hosts: {NAME: [ADDRESS]}}, or a numeric host in the url"
                                      : "give its numeric address";
  diagnostics.error(proxy.url_text->where,
                    fmt::format("the proxy's host {} would have to be looked up, which this version cannot do; {}", host, remedy));
  return {};
}

std::vector<std::string> OriginTable::exits(const UpstreamDraft& upstream) const {
  std::vector<std::string> names;
  const auto& via = upstream.own.via ? upstream.own.via : draft_.upstream_defaults.via;
  if (via) {
    for (const Text& exit : *via) {
      names.push_back(exit.value);
    }
  } else if (draft_.proxies_where) {
    for (const ProxyDraft& proxy : draft_.proxies) {
      if (proxy.name) {
        names.push_back(proxy.name->value);
      }
    }
  } else {
    names.emplace_back(kDirect);  // contract.md §2: only without any `proxies` key
  }
  return names;
}

std::vector<IpAddress> OriginTable::direct_addresses(const UpstreamDraft& upstream, bool needed) const {
  if (upstream.addresses) {
    return *upstream.addresses;
  }
  if (auto addresses = known_addresses(draft_, upstream.url->host)) {
    return *std::move(addresses);
  }
  if (needed && !diagnostics_.failed_about("proxies")) {  // else proxies were meant, and a way around them must not be advised
    const std::string host = shown_host(*upstream.url, *upstream.url_text);
    const std::string_view remedy =
        draft_.source == Source::File ? "give addresses: [ADDRESS] here, or bootstrap: {hosts: {NAME: [ADDRESS]}}, or reach it via proxies"
                                      : "give --address ADDRESS, or --proxy http://HOST:PORT";
    diagnostics_.error(
        upstream.url_text->where,
        fmt::format("{} is reached directly, but would have to be looked up, which this version cannot do; {}", host, remedy));
  }
  return {};
}

void OriginTable::agree(const UpstreamDraft& upstream, UpstreamConfig& config) {
  const auto name = upstream_name(upstream);
  const auto [entry, fresh] = first_.try_emplace({config.host, config.port}, First{name.value_or(Text{}), config.origin});
  if (fresh) {
    return;
  }
  const First& first = entry->second;
  const auto keys = differences(first.settings, config.origin);
  if (keys.empty()) {
    config.origin = first.settings;  // the same sets, in one order
    return;
  }
  const int line = first.name.where.place.line;
  const std::string where = line > 0 ? fmt::format(" (line {})", line) : std::string();
  diagnostics_.error(upstream.url_text->where,
                     fmt::format("{} and {}{} have the same host and port, and so share connections, but differ in {}; give both the same",
                                 name ? name->shown : std::string(), first.name.shown, where, join(keys)));
}

UpstreamConfig OriginTable::resolve(const UpstreamDraft& upstream) {
  const UpstreamSettings& own = upstream.own;
  const UpstreamSettings& defaults = draft_.upstream_defaults;
  UpstreamConfig config;
  const auto name = upstream_name(upstream);
  config.name = name ? name->value : std::string();
  config.host = upstream.url->host;
  config.port = upstream.url->port;
  config.path = upstream.url->path;
  config.method = own.method.value_or(defaults.method.value_or(config.method));
  config.warm = own.warm.value_or(defaults.warm.value_or(config.warm));
  OriginSettings& origin = config.origin;
  origin.exits = exits(upstream);
  const bool direct = std::find(origin.exits.begin(), origin.exits.end(), kDirect) != origin.exits.end();
  origin.addresses = direct_addresses(upstream, direct);
  origin.ca = own.ca.value_or(defaults.ca.value_or(std::vector<std::string>{"system"}));
  origin.max_connections = own.max_connections.value_or(defaults.max_connections.value_or(origin.max_connections));
  origin.max_streams = own.max_streams.value_or(defaults.max_streams.value_or(origin.max_streams));
  origin.max_http1_connections = own.max_http1_connections.value_or(defaults.max_http1_connections.value_or(origin.max_http1_connections));
  agree(upstream, config);
  return config;
}

}  // namespace dohmux::config
