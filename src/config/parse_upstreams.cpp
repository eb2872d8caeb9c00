// Reads `upstreams` and `upstream_defaults`.
// It must not know how a resolver is reached: which exits and addresses result is decided in validate.cpp.
#include <fmt/format.h>

#include <set>

#include "config/files.h"
#include "config/readers.h"

namespace dohmux::config {
namespace {

constexpr std::array<Choice<HttpMethod>, 2> kMethods{{{"post", HttpMethod::Post}, {"get", HttpMethod::Get}}};
constexpr std::size_t kMaxCaBytes = std::size_t{16} * 1024 * 1024;

/// "system" or the full name of a readable PEM file.
std::optional<std::string> read_ca_item(const Field& item) {
  const auto text = item.text();
  if (!text || text->value == "system") {
    return text ? std::optional(text->value) : std::nullopt;
  }
  std::string name = resolve_name(item.context().folder, text->value);
  const auto content = read_file_bytes(name, kMaxCaBytes);
  if (!content) {
    item.error(fmt::format("{} cannot be read: {}; give a readable PEM file, or system", text->shown, content.error()));
    return std::nullopt;
  }
  if (content->bytes.find("-----BEGIN CERTIFICATE-----") == std::string::npos &&
      content->bytes.find("-----BEGIN TRUSTED CERTIFICATE-----") == std::string::npos) {
    item.error(fmt::format("{} holds no certificate; give a PEM file with BEGIN CERTIFICATE lines", text->shown));
    return std::nullopt;
  }
  return name;
}

void read_tls(const Field& field, UpstreamSettings& out) {
  Mapping map(field);
  if (const auto ca = map.get("ca")) {
    const auto items = ca->items();
    if (items.empty() && ca->node().kind == NodeKind::Sequence) {
      ca->error("is empty, so no certificate would be trusted; give system or a PEM file");
    }
    std::vector<std::string> names;
    for (const Field& item : items) {
      if (auto name = read_ca_item(item)) {
        names.push_back(*std::move(name));
      }
    }
    out.ca = std::move(names);
  }
  map.refuse_unknown();
}

void read_cap(Mapping& map, std::string_view key, IntegerRange range, std::optional<std::uint16_t>& out) {
  if (const auto field = map.get(key)) {
    if (const auto value = field->integer(range)) {
      out = static_cast<std::uint16_t>(*value);
    }
  }
}

/// The keys that upstreams and upstream_defaults share.
void read_settings(Mapping& map, UpstreamSettings& out) {
  if (const auto via = map.get("via")) {
    out.via = read_names(*via, "name proxies or direct, or remove the key for all proxies");
  }
  if (const auto method = map.get("method")) {
    out.method = method->choice(kMethods);
  }
  if (const auto warm = map.get("warm")) {
    out.warm = warm->boolean();
  }
  if (const auto tls = map.get("tls")) {
    read_tls(*tls, out);
  }
  read_cap(map, "max_connections", {1, 256}, out.max_connections);
  read_cap(map, "max_streams", {1, 10'000}, out.max_streams);
  read_cap(map, "max_http1_connections", {1, 256}, out.max_http1_connections);
}

void read_url(const Field& field, UpstreamDraft& upstream) {
  upstream.url_text = field.text();
  if (!upstream.url_text) {
    return;
  }
  if (auto url = parse_upstream_url(upstream.url_text->value)) {
    upstream.url = *std::move(url);
  } else {
    field.error(fmt::format("{}: {}", upstream.url_text->shown, url.error()));
  }
}

UpstreamDraft read_upstream(const Field& item) {
  UpstreamDraft upstream;
  upstream.where = item.where();
  if (item.node().kind == NodeKind::Scalar) {
    read_url(item, upstream);
    return upstream;
  }
  if (item.node().kind != NodeKind::Map) {
    item.refuse_kind("a URL, or a map such as {url: https://HOST/dns-query}");
    return upstream;
  }
  Mapping map(item);
  if (const auto name = map.get("name")) {
    upstream.name = name->text();
  }
  if (const auto url = map.require("url", "give https://HOST/dns-query")) {
    read_url(*url, upstream);
  }
  if (const auto addresses = map.get("addresses")) {
    upstream.addresses = read_addresses(*addresses).value_or(std::vector<IpAddress>{});
  }
  read_settings(map, upstream.own);
  map.refuse_unknown();
  return upstream;
}

}  // namespace

std::vector<Text> read_names(const Field& field, std::string_view remedy) {
  const auto items = field.items();
  if (items.empty() && field.node().kind == NodeKind::Sequence) {
    field.error(fmt::format("is empty; {}", remedy));
  }
  std::vector<Text> names;
  std::set<std::string, std::less<>> seen;
  for (const Field& item : items) {
    auto text = item.text();
    if (text && !seen.insert(text->value).second) {
      item.error(fmt::format("{} is named twice; keep one", text->shown));
    } else if (text) {
      names.push_back(*std::move(text));
    }
  }
  return names;
}

std::optional<std::vector<IpAddress>> read_addresses(const Field& field) {
  const auto items = field.items();
  bool good = !items.empty();
  if (items.empty() && field.node().kind == NodeKind::Sequence) {
    field.error("is empty; give at least one address, or remove the key");
  }
  std::vector<IpAddress> addresses;
  std::set<IpAddress> seen;
  for (const Field& item : items) {
    const auto text = item.text();
    const auto address = text ? IpAddress::parse(text->value) : std::nullopt;
    if (text && !address) {
      item.error(
          fmt::format("{} is not a numeric address; give one such as 192.0.2.1 or 2001:db8::1, without port and brackets", text->shown));
    } else if (address && !seen.insert(*address).second) {
      item.error(fmt::format("{} is given twice; keep one", text->shown));
    } else if (address) {
      addresses.push_back(*address);
      continue;
    }
    good = false;
  }
  return good ? std::optional(std::move(addresses)) : std::nullopt;
}

void read_upstreams(const Field& field, Draft& draft) {
  draft.upstreams_where = field.where();
  const auto items = field.items();
  if (items.empty() && field.node().kind == NodeKind::Sequence) {
    field.error("is empty; give at least one, such as https://HOST/dns-query");
  }
  for (const Field& item : items) {
    draft.upstreams.push_back(read_upstream(item));
  }
}

void read_upstream_defaults(const Field& field, Draft& draft) {
  Mapping map(field);
  read_settings(map, draft.upstream_defaults);
  map.refuse_unknown();
}

}  // namespace dohmux::config
