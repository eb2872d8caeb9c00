// The head of an HTTP/1 request, read strictly. Small on purpose: GET and HEAD without a body.
// A library's parser takes its place when the endpoint learns more (docs/architecture.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace dohmux::web {

inline constexpr std::size_t kMaxHead = 8192;         // octets of request line and header fields
inline constexpr std::size_t kMaxRequestLine = 4096;  // octets

enum class Method : std::uint8_t { Get, Head };
enum class AfterReply : std::uint8_t { KeepAlive, Close };

struct RequestHead {
  Method method = Method::Get;
  std::string path;  // "/metrics": absolute, as sent, without the query
  AfterReply after = AfterReply::KeepAlive;
  std::size_t length = 0;  // octets of the head with its last empty line
};

enum class HeadFault : std::uint8_t {
  Incomplete,        // more octets are needed
  Malformed,         // 400
  MethodNotAllowed,  // 405
  UriTooLong,        // 414
  Misdirected,       // 421: the name in Host is not ours (DNS rebinding)
  TooLarge,          // 431
  Version,           // 505
};

/// `octets`: what has arrived, from the first octet of the request on.
[[nodiscard]] std::expected<RequestHead, HeadFault> parse_request_head(std::string_view octets);

}  // namespace dohmux::web
