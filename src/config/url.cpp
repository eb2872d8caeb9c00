// A strict parser for the URLs of resolvers and proxies (a narrow profile of RFC 3986).
// It must not know libraries that parse URLs too: this one decides alone. Its errors never quote the URL, which may hold a password.
#include "config/url.h"

#include <algorithm>
#include <cctype>

#include "config/scalar.h"

namespace dohmux::config {
namespace {

using Error = std::unexpected<std::string>;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

/// "1.2.3", "127.1", "0x7f.1": some libraries take these for addresses.
bool ends_in_number(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return !last.empty() && (last.find_first_not_of("0123456789") == std::string_view::npos || last.starts_with("0x"));
}

struct Parts {
  std::string scheme;
  std::string_view authority;
  std::string_view rest;  // from the path on
};

std::expected<Parts, std::string> split(std::string_view text, std::string_view example) {
  const auto like = [example](std::string_view what) { return Error(std::string(what) + "; write it like " + std::string(example)); };
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7f; })) {
    return like("the URL holds a space or a character that is not ASCII (names of other scripts go in their xn-- form)");
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) {
    return like("the URL has no scheme");
  }
  Parts parts{lower(text.substr(0, colon)), {}, {}};
  text.remove_prefix(colon + 3);
  parts.authority = text.substr(0, text.find_first_of("/?#{"));
  parts.rest = text.substr(parts.authority.size());
  if (text.find('#') != std::string_view::npos) {
    return like("the URL has a fragment (#…), which is never sent; remove it");
  }
  return parts;
}

/// `host`, `host:port`, `[v6]`, `[v6]:port`. Port 0 in the result: none was written.
std::expected<Url, std::string> parse_authority(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) {
      return Error("the port is missing after the colon; write :PORT, or no colon");
    }
  }
  const bool bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (!bracketed && host.find(':') != std::string_view::npos) {
    return Error("an IPv6 address in a URL stands in brackets; write [ADDRESS]:PORT");
  }
  auto name = parse_host(bracketed ? host.substr(1, host.size() - 2) : host);
  if (!name) {
    return Error(name.error());
  }
  if (bracketed != (name->find(':') != std::string::npos)) {
    return Error("brackets hold an IPv6 address only; write the host without them");
  }
  const auto number = parse_integer(port.empty() ? "0" : port);
  if (!number || *number > 65535 || (*number == 0 && !port.empty())) {
    return Error("the port is not a number from 1 to 65535; correct it");
  }
  return Url{*std::move(name), static_cast<std::uint16_t>(*number), {}};
}

/// True for "." and ".." segments, which libraries resolve in different ways.
bool has_dot_segment(std::string_view path) {
  path = path.substr(0, path.find('?'));
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") {
      return true;
    }
    path.remove_prefix(segment.size());
  }
  return false;
}

std::expected<std::string, std::string> parse_path(std::string_view rest) {
  if (rest.ends_with("{?dns}")) {
    rest.remove_suffix(std::string_view("{?dns}").size());
  }
  if (rest.empty() || rest.front() != '/') {
    return Error("the URL has no path; most resolvers want https://HOST/dns-query, write / if its root is really meant");
  }
  if (rest.find_first_of("\"<>\\^`{|}") != std::string_view::npos) {
    return Error("the path holds a character that a URL may not have; of templates only {?dns} at the end is understood");
  }
  for (std::size_t at = rest.find('%'); at != std::string_view::npos; at = rest.find('%', at + 1)) {
    if (rest.size() < at + 3 || std::isxdigit(static_cast<unsigned char>(rest[at + 1])) == 0 ||
        std::isxdigit(static_cast<unsigned char>(rest[at + 2])) == 0) {
      return Error("the path holds a % without two hexadecimal digits; write %25 for a percent sign");
    }
  }
  if (has_dot_segment(rest)) {
    return Error("the path holds a . or .. part; write the path that is meant");
  }
  return std::string(rest);
}

}  // namespace

std::expected<std::string, std::string> parse_host(std::string_view text) {
  if (const auto address = IpAddress::parse(text)) {
    return address->to_string();
  }
  if (text.empty()) {
    return Error("the host is missing; give a name or an address");
  }
  if (text.find(':') != std::string_view::npos) {
    return Error("the host is not an IPv6 address (a zone like %eth0 is not accepted); correct it");
  }
  std::string name = lower(text);
  if (ends_in_number(name)) {
    return Error("the host is neither a name nor an IPv4 address; write all four numbers, such as 192.0.2.1");
  }
  std::string_view rest = name;
  bool valid = name.size() <= 253;
  while (valid) {
    const std::size_t dot = rest.find('.');
    valid = is_label(rest.substr(0, dot));
    if (dot == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(dot + 1);
  }
  if (!valid) {
    return Error("the host is not a host name; use letters, digits, hyphens and single dots, without a dot at the end");
  }
  return name;
}

std::expected<Url, std::string> parse_upstream_url(std::string_view text) {
  const auto parts = split(text, "https://HOST/dns-query");
  if (!parts) {
    return Error(parts.error());
  }
  if (parts->scheme != "https") {
    return Error("only https is spoken to resolvers; write https://HOST/dns-query");
  }
  if (parts->authority.find('@') != std::string_view::npos) {
    return Error("a user name or password in a resolver's URL is not accepted; remove what stands before the @");
  }
  auto url = parse_authority(parts->authority);
  if (!url) {
    return url;
  }
  auto path = parse_path(parts->rest);
  if (!path) {
    return Error(path.error());
  }
  url->port = url->port == 0 ? 443 : url->port;
  url->path = *std::move(path);
  return url;
}

std::expected<Url, std::string> parse_proxy_url(std::string_view text) {
  const auto parts = split(text, "http://HOST:PORT");
  if (!parts) {
    return Error(parts.error());
  }
  if (parts->scheme == "https" || parts->scheme == "socks5h") {
    return Error(parts->scheme + " proxies come in a later version; use the proxy's http://HOST:PORT");
  }
  if (parts->scheme != "http") {
    return Error("only http proxies (HTTP CONNECT) exist so far; write http://HOST:PORT");
  }
  if (parts->authority.find('@') != std::string_view::npos) {
    return Error("credentials in a proxy's URL are not accepted; move them to auth: {scheme: basic, username: …, password_file: …}");
  }
  if (!parts->rest.empty() && parts->rest != "/") {
    return Error("a proxy's URL has no path; write http://HOST:PORT");
  }
  auto url = parse_authority(parts->authority);
  if (url && url->port == 0) {
    return Error("the port is missing; write http://HOST:PORT, often 3128 or 8080");
  }
  return url;
}

}  // namespace dohmux::config
