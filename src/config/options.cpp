// `dohmux run --upstream URL [--address IP] [--proxy URL] [--listen ADDR]` as a draft: the same rules as for a file.
// It must not know the command line's syntax: it gets the words.
#include <fmt/format.h>

#include "config/readers.h"

namespace dohmux::config {
namespace {

Text text_of(const std::string& word, const char* option) {
  return {word, shown(word), {{}, option}, false, true};
}

void add_upstream(const std::string& word, Draft& draft, Diagnostics& diagnostics) {
  UpstreamDraft upstream;
  upstream.url_text = text_of(word, "--upstream");
  upstream.where = upstream.url_text->where;
  if (auto url = parse_upstream_url(word)) {
    upstream.url = *std::move(url);
  } else {
    diagnostics.error(upstream.where, fmt::format("{}: {}", upstream.url_text->shown, url.error()));
  }
  for (const UpstreamDraft& other : draft.upstreams) {  // two paths of one host: a name of its own for the second
    if (upstream.url && other.url && other.url->host == upstream.url->host && !upstream.name) {
      upstream.name = text_of(fmt::format("{}-{}", upstream.url->host, draft.upstreams.size() + 1), "--upstream");
    }
  }
  draft.upstreams.push_back(std::move(upstream));
}

void add_addresses(const std::vector<std::string>& words, Draft& draft, Diagnostics& diagnostics) {
  if (!words.empty() && words.size() != draft.upstreams.size()) {
    diagnostics.error({{}, "--address"}, fmt::format("{} for {} upstreams; give one for each --upstream in the same order, or none",
                                                     words.size(), draft.upstreams.size()));
    return;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto address = IpAddress::parse(words[i]);
    draft.upstreams[i].addresses.emplace();
    if (address) {
      draft.upstreams[i].addresses->push_back(*address);
    } else {
      diagnostics.error({{}, "--address"},
                        fmt::format("{} is not a numeric address; give one such as 192.0.2.1 or 2001:db8::1", shown(words[i])));
    }
  }
}

void add_proxy(const std::string& word, Draft& draft, Diagnostics& diagnostics) {
  ProxyDraft proxy;
  proxy.url_text = text_of(word, "--proxy");
  proxy.where = proxy.url_text->where;
  proxy.name = text_of(fmt::format("proxy{}", draft.proxies.size() + 1), "--proxy");
  if (auto url = parse_proxy_url(word)) {
    proxy.url = *std::move(url);
  } else {
    diagnostics.error(proxy.where, fmt::format("{}: {}", proxy.url_text->shown, url.error()));
  }
  draft.proxies_where = proxy.where;
  draft.proxies.push_back(std::move(proxy));
}

}  // namespace

Draft read_options(const CommandLineConfig& options, Diagnostics& diagnostics) {
  Draft draft;
  draft.source = Source::CommandLine;
  if (options.upstreams.empty()) {
    diagnostics.error({{}, "--upstream"}, "is missing; give --upstream https://HOST/dns-query");
  }
  for (const std::string& word : options.upstreams) {
    add_upstream(word, draft, diagnostics);
  }
  add_addresses(options.addresses, draft, diagnostics);
  for (const std::string& word : options.proxies) {
    add_proxy(word, draft, diagnostics);
  }
  for (const std::string& word : options.listen) {
    if (auto entries = parse_listen(word)) {
      draft.listen.push_back({text_of(word, "--listen"), *std::move(entries)});
    } else {
      diagnostics.error({{}, "--listen"}, fmt::format("{} {}", shown(word), entries.error()));
    }
  }
  return draft;
}

}  // namespace dohmux::config
