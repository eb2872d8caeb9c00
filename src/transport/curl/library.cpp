// Reads libcurl's own account of itself. Must not make a handle: it is called before anything is set up.
#include "transport/curl/library.h"

#include <curl/curl.h>
#include <fmt/format.h>

namespace dohmux::transport {
namespace {

constexpr unsigned kOldest = 0x080e00;  // 8.14.0

std::string text(const char* value) {
  return value == nullptr ? "none" : value;
}

}  // namespace

CurlLibrary curl_library() {
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  std::string openssl = text(info->ssl_version);
  if (openssl.starts_with("OpenSSL/")) {
    openssl.erase(0, 8);
  }
  return {.curl = text(info->version), .nghttp2 = text(info->nghttp2_version), .openssl = openssl};
}

std::expected<void, std::string> check_curl() {
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  if (info->version_num < kOldest) {
    return std::unexpected(
        fmt::format("libcurl {} is too old: 8.14 or newer is needed (on Debian 12: libcurl4 from bookworm-backports)", info->version));
  }
  if ((info->features & CURL_VERSION_HTTP2) == 0) {
    return std::unexpected(fmt::format("libcurl {} was built without HTTP2: install one with nghttp2", info->version));
  }
  if (info->ssl_version == nullptr || !std::string_view(info->ssl_version).starts_with("OpenSSL")) {
    return std::unexpected(fmt::format("libcurl {} uses {}: one with OpenSSL is needed (libcurl4, not libcurl3-gnutls)", info->version,
                                       text(info->ssl_version)));
  }
  return {};
}

}  // namespace dohmux::transport
