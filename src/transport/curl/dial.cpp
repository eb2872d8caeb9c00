// The libcurl side of one dial.
// It must not send a request, whatever happens.
#include "transport/curl/dial.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <string_view>
#include <utility>

#include "transport/curl/failure.h"
#include "transport/curl/lane.h"

namespace dohmux::transport {

namespace {

using std::chrono::milliseconds;

// Our own timer ends a dial; libcurl's limit is the second net, and must not win.
constexpr milliseconds kSecondNet{1000};
// A time that no calendar has.
constexpr curl_off_t kNoSuchTime = std::numeric_limits<std::int64_t>::max();

SSL* tls_of(CURL* easy) {
  curl_tlssessioninfo* info = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || info == nullptr) {
    return nullptr;
  }
  return static_cast<SSL*>(info->internals);
}

bool chose_http2(const SSL* tls) {
  const unsigned char* name = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(tls, &name, &length);
  return name != nullptr && std::string_view(reinterpret_cast<const char*>(name), length) == "h2";
}

std::string issuer_of(const SSL* tls) {
  struct BioFree {
    void operator()(BIO* bio) const noexcept { BIO_free(bio); }
  };
  const X509* certificate = SSL_get0_peer_certificate(tls);
  const std::unique_ptr<BIO, BioFree> text(BIO_new(BIO_s_mem()));
  if (certificate == nullptr || !text) {
    return {};
  }
  X509_NAME_print_ex(text.get(), X509_get_issuer_name(certificate), 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const long length = BIO_get_mem_data(text.get(), &data);
  return length > 0 ? std::string(data, static_cast<std::size_t>(length)) : std::string{};
}

Duration microseconds_of(CURL* easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy, info, &value);
  return std::chrono::microseconds(value);
}

long number_of(CURL* easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

bool calendar_lacks(curl_off_t when) {
  const auto time = static_cast<std::time_t>(when);
  std::tm broken_down{};
  return ::gmtime_r(&time, &broken_down) == nullptr;
}

}  // namespace

bool Dial::create(const LaneOptions& options, Duration limit) {
  easy.reset(curl_easy_init());
  if (!easy) {
    return false;
  }
  via_proxy = options.via_proxy();
  const auto second_net = std::chrono::ceil<milliseconds>(limit) + kSecondNet;
  Setter set(easy.get());
  options.apply_common(set);
  options.apply_addresses(set);
  set(CURLOPT_PRIVATE, nullptr)(CURLOPT_ERRORBUFFER, error.data())(CURLOPT_URL, options.base().c_str())(CURLOPT_FRESH_CONNECT, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(second_net.count()));
  set(CURLOPT_HEADERFUNCTION, &Dial::on_header)(CURLOPT_HEADERDATA, this);  // sees the reply to CONNECT only
  set(CURLOPT_PREREQFUNCTION, &Dial::on_before_request)(CURLOPT_PREREQDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, &Dial::on_open_socket)(CURLOPT_OPENSOCKETDATA, this);
  set(CURLOPT_CLOSESOCKETFUNCTION, &CurlLane::on_close_socket)(CURLOPT_CLOSESOCKETDATA, &lane);
  return set.error() == CURLE_OK;
}

std::expected<DialInfo, Failure> Dial::report(CURLcode code, bool timed_out, const Connections& connections) {
  if (info) {
    info->times = {.proxy_connect = microseconds_of(easy.get(), CURLINFO_CONNECT_TIME_T),
                   .tunnel = tunnel_time,
                   .tls = microseconds_of(easy.get(), CURLINFO_APPCONNECT_TIME_T),
                   .first_byte = {},
                   .total = lane.now() - begun};
    return std::move(*info);
  }
  const bool established = std::ranges::any_of(connections.all(), [this](const Connection& connection) {
    return connection.opener == this && connection.tcp().state == TcpState::Established;
  });
  const bool over = timed_out || code == CURLE_OPERATION_TIMEDOUT;
  return std::unexpected(classify_dial({.code = code,
                                        .via_proxy = via_proxy,
                                        .timed_out = over,
                                        .socket_opened = socket_opened,
                                        .tcp_established = established,
                                        .connect_status = static_cast<int>(number_of(easy.get(), CURLINFO_HTTP_CONNECTCODE)),
                                        .os_error = number_of(easy.get(), CURLINFO_OS_ERRNO),
                                        .verify_result = number_of(easy.get(), CURLINFO_SSL_VERIFYRESULT),
                                        .text = error.data()}));
}

// True: let libcurl go on, towards a failure of its own before it sends.
bool Dial::stop_before_request(std::uint16_t port) {
  SSL* tls = tls_of(easy.get());
  Connection* connection = tls != nullptr ? lane.came_up(port) : nullptr;
  if (connection == nullptr) {
    return false;
  }
  info = DialInfo{.connection = connection->id, .http2 = chose_http2(tls), .certificate_issuer = issuer_of(tls), .times = {}};
  if (info->http2 || !calendar_lacks(kNoSuchTime)) {
    return false;
  }
  // Aborting closes an HTTP/1.1 connection (lib/multi.c, multi_done). A header that cannot be written makes the request
  // fail just as early without being taken for an abort, and the connection is kept.
  Setter set(easy.get());
  set(CURLOPT_TIMECONDITION, static_cast<long>(CURL_TIMECOND_IFMODSINCE))(CURLOPT_TIMEVALUE_LARGE, kNoSuchTime);
  return set.error() == CURLE_OK;
}

std::size_t Dial::on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto* dial = static_cast<Dial*>(self);
  if (std::string_view(data, size * count).starts_with("HTTP/")) {
    dial->tunnel_time = dial->lane.now() - dial->begun;
  }
  return size * count;
}

// NOLINTNEXTLINE(readability-function-size): libcurl's signature
int Dial::on_before_request(void* self, char* /*peer*/, char* /*local*/, int /*peer_port*/, int local_port) noexcept {
  return static_cast<Dial*>(self)->stop_before_request(static_cast<std::uint16_t>(local_port)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

curl_socket_t Dial::on_open_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) noexcept {
  auto* dial = static_cast<Dial*>(self);
  return dial->lane.open_for(*dial, address->family);
}

}  // namespace dohmux::transport
