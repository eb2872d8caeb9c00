// Which libcurl this process runs with, and whether it can carry DoH (docs/decisions: libcurl ≥ 8.14 with HTTP2).
#pragma once

#include <expected>
#include <string>

namespace dohmux::transport {

struct CurlLibrary {
  std::string curl;
  std::string nghttp2;
  std::string openssl;
};

[[nodiscard]] CurlLibrary curl_library();
/// Error: what is missing and what to install.
[[nodiscard]] std::expected<void, std::string> check_curl();

}  // namespace dohmux::transport
