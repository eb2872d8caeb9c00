// Options of libcurl handles.
// It must not start anything; and nothing here may let the environment or a resolver choose the way.
#include "transport/curl/options.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace dohmux::transport {

namespace {

// We keep connections alive ourselves; libcurl's 118 s would replace a warm one at its next use (curl.md §10).
constexpr long kMaxAgeSeconds = std::chrono::seconds(std::chrono::hours(24)).count();
// The smallest that libcurl takes; the default costs 64 KB per waiting POST (curl.md §2).
constexpr long kUploadBuffer = 16384;

bool is_numeric(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> buffer{};
  return ::inet_pton(AF_INET, host.c_str(), buffer.data()) == 1 || ::inet_pton(AF_INET6, host.c_str(), buffer.data()) == 1;
}

std::string bracketed(const std::string& host) {
  return host.contains(':') ? fmt::format("[{}]", host) : host;
}

// A host goes into URLs and RESOLVE lines: nothing that means something there may be in it.
bool is_plain_host(const std::string& host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' || c == ':';
  });
}

// "host:port:address,address": libcurl's own table, never a resolver (curl.md §8).
std::expected<Slist, std::string> resolve_list(const std::string& host, std::uint16_t port, const std::vector<IpAddress>& addresses) {
  if (is_numeric(host) && (addresses.empty() || (addresses.size() == 1 && addresses.front() == IpAddress::parse(host)))) {
    return Slist{};
  }
  if (addresses.empty()) {
    return std::unexpected(fmt::format("{}: no address is known for it", host));
  }
  std::string line = fmt::format("{}:{}:", bracketed(host), port);
  for (const IpAddress& address : addresses) {
    line += (line.back() == ':' ? "" : ",") + bracketed(address.to_string());
  }
  return Slist(curl_slist_append(nullptr, line.c_str()));
}

CURLcode on_tls_context(CURL* /*easy*/, void* context, void* trust) noexcept {
  auto* tls = static_cast<SSL_CTX*>(context);
  SSL_CTX_set1_cert_store(tls, static_cast<X509_STORE*>(trust));
  SSL_CTX_set_keylog_callback(tls, nullptr);  // SSLKEYLOGFILE never counts, whoever set it
  return CURLE_OK;
}

curl_slist* make_headers(std::initializer_list<const char*> lines) {
  curl_slist* list = nullptr;
  for (const char* line : lines) {
    list = curl_slist_append(list, line);
  }
  return list;
}

}  // namespace

std::expected<LaneOptions, std::string> LaneOptions::make(const LaneSpec& spec, X509_STORE* trust) {
  LaneOptions options;
  if (!is_plain_host(spec.host) || (spec.proxy && !is_plain_host(spec.proxy->host))) {
    return std::unexpected(fmt::format("{}: not a host name or address", spec.host));
  }
  options.base_ = fmt::format("https://{}:{}", bracketed(spec.host), spec.port);
  options.trust_ = trust;
  auto resolve = spec.proxy ? resolve_list(spec.proxy->host, spec.proxy->port, spec.proxy->addresses)
                            : resolve_list(spec.host, spec.port, spec.origin.addresses);
  if (!resolve) {
    return std::unexpected(std::move(resolve.error()));
  }
  options.resolve_ = std::move(*resolve);
  if (spec.proxy) {
    options.proxy_ = fmt::format("http://{}:{}", bracketed(spec.proxy->host), spec.proxy->port);
    if (spec.proxy->auth.scheme == AuthScheme::Basic) {
      options.authenticate_ = true;
      options.username_ = spec.proxy->auth.username;
      options.password_ = spec.proxy->auth.password;
    }
  }
  return options;
}

void LaneOptions::apply_common(Setter& set) const {
  set(CURLOPT_NOSIGNAL, 1L)(CURLOPT_PROTOCOLS_STR, "https")(CURLOPT_FOLLOWLOCATION, 0L)(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer)(CURLOPT_MAXAGE_CONN, kMaxAgeSeconds)(CURLOPT_MAXLIFETIME_CONN, 0L);
  set(CURLOPT_DNS_CACHE_TIMEOUT, -1L);
  // NO_PROXY and HTTPS_PROXY are honoured unless both of these are set (curl.md §10).
  set(CURLOPT_NOPROXY, "")(CURLOPT_PROXY, proxy_.c_str());
  if (via_proxy()) {
    set(CURLOPT_PROXYTYPE, static_cast<long>(CURLPROXY_HTTP))(CURLOPT_HTTPPROXYTUNNEL, 1L);
  }
  if (authenticate_) {
    set(CURLOPT_PROXYAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(CURLOPT_PROXYUSERNAME, username_.c_str())(CURLOPT_PROXYPASSWORD, password_.c_str());
  }
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2))(CURLOPT_SSL_VERIFYPEER, 1L)(CURLOPT_SSL_VERIFYHOST, 2L);
  // Debian's default CApath would switch shared trust off and cost 17 ms per handshake.
  set(CURLOPT_CAINFO, static_cast<const char*>(nullptr))(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  set(CURLOPT_SSL_CTX_FUNCTION, &on_tls_context)(CURLOPT_SSL_CTX_DATA, trust_);
}

void LaneOptions::apply_addresses(Setter& set) const {
  set(CURLOPT_RESOLVE, resolve_.get());
}

std::string base64url(ByteView octets) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr unsigned kSix = 0x3F;
  std::string text;
  text.reserve((octets.size() * 4 + 2) / 3);
  unsigned pending = 0;
  unsigned bits = 0;
  for (const std::uint8_t octet : octets) {
    pending = (pending << 8U) | octet;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += kAlphabet[(pending >> bits) & kSix];
    }
  }
  if (bits > 0) {
    text += kAlphabet[(pending << (6 - bits)) & kSix];
  }
  return text;
}

std::string get_target(const std::string& path, ByteView message) {
  return fmt::format("{}{}dns={}", path, path.contains('?') ? '&' : '?', base64url(message));
}

curl_slist* post_headers() {
  static const Slist kHeaders(make_headers({"content-type: application/dns-message", "accept: application/dns-message"}));
  return kHeaders.get();
}

curl_slist* get_headers() {
  static const Slist kHeaders(make_headers({"accept: application/dns-message"}));
  return kHeaders.get();
}

void initialize_libcurl() {
  static const CURLcode kOnce = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(kOnce);
}

}  // namespace dohmux::transport
