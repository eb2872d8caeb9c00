// HTTP/1.1 server session. parse_head also reads what clients send to the CONNECT proxies.
// Must not know DNS, TLS or sockets.
#include "support/lab/h1_session.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab {

namespace {

constexpr std::size_t kHeadLimit = 16384;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

std::string HttpRequest::header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [&](const Header& header) { return header.first == name; });
  return found != headers.end() ? found->second : std::string();
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 407:
      return "Proxy Authentication Required";
    case 429:
      return "Too Many Requests";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

std::optional<HttpRequest> parse_head(std::string_view head) {
  HttpRequest request;
  std::size_t at = head.find("\r\n");
  const std::string_view first = head.substr(0, at);
  const std::size_t space = first.find(' ');
  const std::size_t second = space == std::string_view::npos ? space : first.find(' ', space + 1);
  if (second == std::string_view::npos || !first.substr(second + 1).starts_with("HTTP/1.")) {
    return std::nullopt;
  }
  request.method = first.substr(0, space);
  request.path = first.substr(space + 1, second - space - 1);
  while (at != std::string_view::npos) {
    const std::size_t begin = at + 2;
    at = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, at == std::string_view::npos ? at : at - begin);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      request.headers.emplace_back(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    }
  }
  request.authority = request.header("host");
  return request;
}

// A whole request from the front of the input, or nothing yet.
std::optional<HttpRequest> H1Session::next_request() {
  const std::size_t end = input_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (input_.size() > kHeadLimit) {
      host_.on_protocol_error("head too long");
    }
    return std::nullopt;
  }
  auto request = parse_head(std::string_view(input_).substr(0, end + 2));
  if (!request) {
    host_.on_protocol_error("malformed head");
    return std::nullopt;
  }
  const std::uint64_t length = to_number(request->header("content-length")).value_or(0);
  const std::size_t whole = end + 4 + length;
  if (input_.size() < whole) {
    return std::nullopt;
  }
  request->body = input_.substr(end + 4, length);
  input_.erase(0, whole);
  return request;
}

void H1Session::serve() {
  if (serving_) {
    return;
  }
  serving_ = true;
  while (!busy_ && !closing_) {
    auto request = next_request();
    if (!request) {
      break;
    }
    request->stream = ++current_;
    busy_ = true;
    host_.on_stream_opened(1);
    host_.on_request(std::move(*request));
  }
  serving_ = false;
}

void H1Session::receive(std::string_view octets) {
  input_ += octets;
  serve();
}

void H1Session::reply(StreamId stream, HttpReply reply) {
  if (!knows(stream)) {
    return;
  }
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", reply.status, reason_of(reply.status));
  for (const auto& [name, value] : reply.headers) {
    out += fmt::format("{}: {}\r\n", name, value);
  }
  out += closing_ ? "connection: close\r\n\r\n" : "\r\n";
  if (reply.plan != BodyPlan::Whole) {
    host_.on_output(out + reply.body.substr(0, reply.body.size() / 2));
    if (reply.plan == BodyPlan::HalfThenReset) {
      host_.on_protocol_error("reset on purpose");
    }
    return;
  }
  busy_ = false;
  host_.on_stream_closed(0);
  host_.on_output(out + reply.body);
  if (closing_) {
    host_.on_finished();
    return;
  }
  serve();
}

void H1Session::reset(StreamId /*stream*/, std::uint32_t /*code*/) {
  host_.on_protocol_error("reset on purpose");
}

void H1Session::goaway(StreamId /*last*/) {
  closing_ = true;
}

}  // namespace lab
