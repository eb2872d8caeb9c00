// RFC 9112 §2-§3 and §6, without its permissions: no bare LF, no folding, no body, no space where none belongs.
// It must not know sockets nor which paths exist.
#include "web/request_head.h"

#include <dohmux/address.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace dohmux::web {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

struct Fields {
  std::optional<std::string_view> host;
  bool close = false;
  bool keep_alive = false;
};

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

bool is_token(std::string_view text) {  // RFC 9110 §5.6.2
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kMarks.find(c) != std::string_view::npos;
  });
}

bool is_printable(char c) {
  return c > ' ' && c != '\x7f';
}  // signed: octets from 0x80 on are refused, too

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A page from the internet whose name was pointed at us sends its own name here; an address or "localhost"
// cannot be pointed anywhere.
bool is_our_host(std::string_view host) {
  std::string_view name = host;
  const auto colon = host.rfind(':');
  const bool bracketed = host.starts_with('[');
  if (colon != std::string_view::npos && (!bracketed || (colon > 0 && host[colon - 1] == ']'))) {
    name = host.substr(0, colon);
    const std::string_view port = host.substr(colon + 1);
    if (port.size() > 5 || !std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; })) {
      return false;
    }
  }
  if (bracketed) {
    return name.ends_with(']') && IpAddress::parse(name.substr(1, name.size() - 2)).has_value();
  }
  return same_word(name, "localhost") || IpAddress::parse(name).has_value();
}

void read_connection(std::string_view value, Fields& fields) {
  while (!value.empty()) {
    const auto comma = value.find(',');
    const std::string_view option = trim(value.substr(0, comma));
    fields.close = fields.close || same_word(option, "close");
    fields.keep_alive = fields.keep_alive || same_word(option, "keep-alive");
    value = comma == std::string_view::npos ? std::string_view() : value.substr(comma + 1);
  }
}

bool read_field(std::string_view line, Fields& fields) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (!std::ranges::all_of(value, [](char c) { return c == '\t' || static_cast<unsigned char>(c) >= ' '; })) {
    return false;
  }
  if (same_word(name, "host")) {
    const bool first = !fields.host;
    fields.host = value;
    return first;  // RFC 9112 §3.2: more than one is an error
  }
  if (same_word(name, "connection")) {
    read_connection(value, fields);
  }
  // A body would have to be found and skipped; nobody sends one with GET, except to confuse two readers of one stream.
  return !same_word(name, "transfer-encoding") && (!same_word(name, "content-length") || value == "0");
}

bool read_fields(std::string_view lines, Fields& fields) {
  while (!lines.empty()) {
    const auto end = lines.find(kLineEnd);
    if (!read_field(lines.substr(0, end), fields)) {
      return false;
    }
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + kLineEnd.size());
  }
  return true;
}

// Fills `path`; for the absolute form also `host` (RFC 9112 §3.2.2: it replaces the field).
bool read_target(std::string_view target, std::string& path, std::optional<std::string_view>& host) {
  constexpr std::string_view kScheme = "http://";
  if (!std::ranges::all_of(target, is_printable)) {
    return false;
  }
  if (target.size() > kScheme.size() && same_word(target.substr(0, kScheme.size()), kScheme)) {
    target.remove_prefix(kScheme.size());
    const auto end = std::min(target.find_first_of("/?"), target.size());
    host = target.substr(0, end);
    target.remove_prefix(end);
    path = target.starts_with('/') ? target.substr(0, target.find('?')) : "/";
    return true;
  }
  path = target.substr(0, target.find('?'));
  return target.starts_with('/');
}

struct RequestLine {
  std::string_view method;
  std::string_view target;
  char minor = '1';
};

std::expected<RequestLine, HeadFault> read_request_line(std::string_view line) {
  const auto first = line.find(' ');
  const auto second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || !is_token(line.substr(0, first))) {
    return std::unexpected(HeadFault::Malformed);
  }
  const std::string_view version = line.substr(second + 1);
  if (version.size() != 8 || !version.starts_with("HTTP/") || version[6] != '.') {
    return std::unexpected(HeadFault::Malformed);
  }
  if (version[5] != '1' || (version[7] != '0' && version[7] != '1')) {
    return std::unexpected(HeadFault::Version);
  }
  return RequestLine{.method = line.substr(0, first), .target = line.substr(first + 1, second - first - 1), .minor = version[7]};
}

}  // namespace

std::expected<RequestHead, HeadFault> parse_request_head(std::string_view octets) {
  const std::string_view window = octets.substr(0, kMaxHead);
  const auto line_end = window.substr(0, kMaxRequestLine).find(kLineEnd);
  if (line_end == std::string_view::npos) {
    return std::unexpected(octets.size() >= kMaxRequestLine ? HeadFault::UriTooLong : HeadFault::Incomplete);
  }
  const auto line = read_request_line(window.substr(0, line_end));
  if (!line) {
    return std::unexpected(line.error());  // no need to wait for the rest of something that is not HTTP
  }
  const auto head_end = window.find(kHeadEnd);
  if (head_end == std::string_view::npos) {
    return std::unexpected(octets.size() >= kMaxHead ? HeadFault::TooLarge : HeadFault::Incomplete);
  }
  RequestHead head;
  Fields fields;
  head.length = head_end + kHeadEnd.size();
  const std::size_t fields_begin = std::min(line_end + kLineEnd.size(), head_end);
  if (!read_fields(window.substr(fields_begin, head_end - fields_begin), fields) || !read_target(line->target, head.path, fields.host)) {
    return std::unexpected(HeadFault::Malformed);
  }
  if (line->method != "GET" && line->method != "HEAD") {  // methods are case-sensitive (RFC 9110 §9.1)
    return std::unexpected(HeadFault::MethodNotAllowed);
  }
  if (!fields.host && line->minor == '1') {
    return std::unexpected(HeadFault::Malformed);
  }
  if (fields.host && !is_our_host(*fields.host)) {
    return std::unexpected(HeadFault::Misdirected);
  }
  head.method = line->method == "GET" ? Method::Get : Method::Head;
  head.after = fields.close || (line->minor == '0' && !fields.keep_alive) ? AfterReply::Close : AfterReply::KeepAlive;
  return head;
}

}  // namespace dohmux::web
