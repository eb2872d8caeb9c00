// Reads `proxies` and `proxy_defaults`. Credentials end in ProxyAuth and nowhere else.
// It must not know which upstreams use which proxy.
#include <fmt/format.h>

#include <algorithm>

#include "config/readers.h"
#include "config/secrets.h"

namespace dohmux::config {
namespace {

constexpr std::array<Choice<AuthScheme>, 2> kSchemes{{{"basic", AuthScheme::Basic}, {"none", AuthScheme::None}}};

std::optional<AuthScheme> read_scheme(const Field& field) {
  // The words of later versions are recognised, but not offered in hints.
  const std::string& word = field.node().text;
  if (word == "digest" || word == "ntlm" || word == "negotiate") {
    field.error(fmt::format("\"{}\" does not exist yet; use basic, or none", word));
    return std::nullopt;
  }
  return field.choice(kSchemes);
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::optional<std::string> read_username(Mapping& map) {
  const auto field = map.require("username", "give the user name");
  const auto name = field ? field->secret() : std::nullopt;
  if (!name) {
    return std::nullopt;
  }
  if (has_control(name->value)) {
    field->error("the user name holds a control character (RFC 7617 forbids them); remove it");
    return std::nullopt;
  }
  if (name->value.find(':') != std::string::npos) {
    field->error("a user name for basic holds no ':' (RFC 7617 section 2); the password goes to password_file");
    return std::nullopt;
  }
  return name->value;
}

std::optional<std::string> read_password(Mapping& map) {
  const auto file = map.get("password_file");
  const auto variable = map.get("password_env");
  const auto text = map.get("password");
  const int given = (file ? 1 : 0) + (variable ? 1 : 0) + (text ? 1 : 0);
  if (given != 1) {
    const std::string what = given == 0 ? "no password is given; give" : "more than one password is given; keep one of";
    map.field().error(fmt::format("{} password_file, password_env or password", what));
    return std::nullopt;
  }
  const Field& source = file ? *file : variable ? *variable : *text;
  auto password = file ? read_secret_file(source) : variable ? read_secret_variable(source) : read_inline_secret(source);
  if (password && has_control(*password)) {
    source.error("the password holds a control character or a line break (RFC 7617 forbids them); remove it");
    return std::nullopt;
  }
  return password;
}

void refuse_credentials(Mapping& map) {
  for (const std::string_view key : {"username", "password_file", "password_env", "password"}) {
    if (const auto field = map.get(key)) {
      field->error("has no use with `scheme: none`; remove it, or write `scheme: basic`");
    }
  }
}

std::optional<ProxyAuth> read_auth(const Field& field) {
  Mapping map(field);
  if (!map.is_map()) {
    if (field.node().kind == NodeKind::Null) {
      field.refuse_kind("{scheme: basic, username: …, password_file: …}, or {scheme: none}");
    }
    return std::nullopt;
  }
  const auto scheme_field = map.get("scheme");
  const auto scheme = scheme_field ? read_scheme(*scheme_field) : std::optional(AuthScheme::Basic);
  if (scheme == AuthScheme::None) {
    refuse_credentials(map);
    map.refuse_unknown();
    return ProxyAuth{};
  }
  auto username = read_username(map);
  auto password = read_password(map);
  map.refuse_unknown();
  if (scheme != AuthScheme::Basic || !username || !password) {
    return std::nullopt;
  }
  return ProxyAuth{AuthScheme::Basic, *std::move(username), *std::move(password)};
}

void read_proxy(const Field& item, const std::optional<ProxyAuth>& fallback, Draft& draft) {
  if (item.node().kind != NodeKind::Map) {
    item.refuse_kind("a map, such as {name: fra1, url: \"http://10.0.0.11:3128\"}");
    return;
  }
  Mapping map(item);
  ProxyDraft proxy;
  proxy.where = item.where();
  if (const auto name = map.require("name", "give a short name; upstreams refer to it in via")) {
    proxy.name = name->text();
  }
  if (const auto url = map.require("url", "give http://HOST:PORT")) {
    proxy.url_text = url->text();
  }
  if (proxy.url_text) {
    if (auto url = parse_proxy_url(proxy.url_text->value)) {
      proxy.url = *std::move(url);
    } else {
      item.context().diagnostics.error(proxy.url_text->where, fmt::format("{}: {}", proxy.url_text->shown, url.error()));
    }
  }
  const auto auth = map.get("auth");
  proxy.auth = auth ? read_auth(*auth) : fallback;
  map.refuse_unknown();
  draft.proxies.push_back(std::move(proxy));
}

}  // namespace

void read_proxies(const std::optional<Field>& field, const std::optional<Field>& defaults, Draft& draft) {
  std::optional<ProxyAuth> auth;
  if (defaults) {
    Mapping map(*defaults);
    const auto auth_field = map.get("auth");
    auth = auth_field ? read_auth(*auth_field) : std::nullopt;
    map.refuse_unknown();
  }
  if (!field) {
    return;
  }
  draft.proxies_where = field->where();
  if (field->node().kind != NodeKind::Sequence) {
    field->refuse_kind("a list, such as [{name: fra1, url: \"http://10.0.0.11:3128\"}], or remove the key to reach resolvers directly");
    return;
  }
  if (field->node().items.empty()) {
    field->error("is an empty list; add a proxy, or remove the key to reach resolvers directly");
  }
  for (const Field& item : field->items()) {
    read_proxy(item, auth, draft);
  }
}

}  // namespace dohmux::config
