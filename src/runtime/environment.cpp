// Libraries and environment variables of this process. Must run before any thread and any library call.
#include <dohmux/forwarder.h>

#include <array>
#include <cstdlib>

#include "event/version.h"
#include "transport/curl/library.h"

namespace dohmux {
namespace {

// What libcurl, OpenSSL or the system's resolver would read and let change the way to the network (contract.md §3).
constexpr std::array kIgnored = {
    "http_proxy", "HTTP_PROXY",       "https_proxy", "HTTPS_PROXY",   "all_proxy",    "ALL_PROXY",     "no_proxy",
    "NO_PROXY",   "ftp_proxy",        "FTP_PROXY",   "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "CURL_CA_BUNDLE",
    "CURL_HOME",  "CURL_SSL_BACKEND", "CURL_DEBUG",  "LOCALDOMAIN",   "RES_OPTIONS",
};

}  // namespace

LibraryVersions library_versions() {
  const transport::CurlLibrary curl = transport::curl_library();
  return {.libcurl = curl.curl, .nghttp2 = curl.nghttp2, .openssl = curl.openssl, .libuv = event::library_version()};
}

std::expected<void, StartError> check_libraries() {
  if (const auto checked = transport::check_curl(); !checked) {
    return std::unexpected(StartError{checked.error()});
  }
  return {};
}

std::vector<std::string> clear_network_environment() {
  std::vector<std::string> found;
  for (const char* name : kIgnored) {
    if (std::getenv(name) != nullptr) {
      found.emplace_back(name);
      unsetenv(name);
    }
  }
  return found;
}

}  // namespace dohmux
