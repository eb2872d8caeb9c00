// The libcurl side of one request.
// It must not decide when to send or where: its lane does, and hears of each step.
#include "transport/curl/transfer.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "transport/curl/lane.h"

namespace dohmux::transport {

namespace {

constexpr std::size_t kMaxBody = 65535;  // RFC 8484 §6
// A buffer that grew beyond this is not kept for the next request.
constexpr std::size_t kKeptBody = 4096;

Duration microseconds_of(CURL* easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy, info, &value);
  return std::chrono::microseconds(value);
}

}  // namespace

bool Transfer::create(const LaneOptions& options) {
  easy.reset(curl_easy_init());
  if (!easy) {
    return false;
  }
  Setter set(easy.get());
  options.apply_common(set);
  set(CURLOPT_PRIVATE, this)(CURLOPT_ERRORBUFFER, error.data())(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header)(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_body)(CURLOPT_WRITEDATA, this);
  set(CURLOPT_PREREQFUNCTION, &Transfer::on_before_request)(CURLOPT_PREREQDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_open_socket)(CURLOPT_OPENSOCKETDATA, this);
  set(CURLOPT_CLOSESOCKETFUNCTION, &CurlLane::on_close_socket)(CURLOPT_CLOSESOCKETDATA, &lane);
  return set.error() == CURLE_OK;
}

bool Transfer::prepare(const LaneOptions& options, CURLU* url) {
  Setter set(easy.get());
  // libcurl reuses an idle HTTP/1.1 connection that has not answered yet only for a transfer that cannot multiplex.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(http1_only ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
  set(CURLOPT_PIPEWAIT, http1_only ? 0L : 1L);
  if (request.method == HttpMethod::Get) {
    set(CURLOPT_CURLU, static_cast<CURLU*>(nullptr));
    set(CURLOPT_URL, (options.base() + get_target(request.path, request.message)).c_str());
    set(CURLOPT_HTTPGET, 1L)(CURLOPT_HTTPHEADER, get_headers());
  } else {
    set(CURLOPT_CURLU, url)(CURLOPT_POST, 1L)(CURLOPT_HTTPHEADER, post_headers());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.message.size()))(CURLOPT_POSTFIELDS, request.message.data());
  }
  return set.error() == CURLE_OK;
}

void Transfer::reset() {
  call = nullptr;
  done = nullptr;
  started = resend_refused = too_large = false;
  connection = nullptr;
  use = {};
  head.clear();
  body.clear();
  if (body.capacity() > kKeptBody) {
    body.shrink_to_fit();
  }
  resend_text.clear();
  result.reset();
}

ExchangeReport Transfer::report(CURLcode code, bool timed_out) {
  if (connection != nullptr) {
    use.received_since = head.seen() || connection->tcp().received > received_at_send;
  }
  ExchangeReport report{.result = DohReply{}, .use = use, .times = times(), .http2 = sent_by_http2()};
  if (code != CURLE_OK || timed_out || resend_refused || !started) {
    report.result = std::unexpected(failure(code, timed_out));
    return report;
  }
  const auto wall = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  report.result = DohReply{.status = static_cast<int>(status),
                           .content_type = std::move(head.content_type),
                           .body = std::move(body),
                           .age = head.age,
                           .max_age = head.cache_control.max_age,
                           .no_store = head.cache_control.no_store,
                           .retry_after = parse_retry_after(head.retry_after, wall)};
  return report;
}

Failure Transfer::failure(CURLcode code, bool timed_out) const {
  return classify_send({.code = timed_out ? CURLE_OPERATION_TIMEDOUT : code,
                        .started = started,
                        .resend_refused = resend_refused,
                        .http1 = http1_only,
                        .header_seen = head.seen(),
                        .too_large = too_large,
                        .coded = head.coded,
                        .evicted = connection != nullptr && connection->evicted,
                        .woken = connection != nullptr && connection->woken,
                        .connection = resend_refused ? resend_state : (connection != nullptr ? connection->tcp().state : TcpState::Dead),
                        .text = resend_refused ? std::string_view(resend_text) : std::string_view(error.data())});
}

StageTimes Transfer::times() const {
  StageTimes times;
  if (!use.reused) {
    times.proxy_connect = microseconds_of(easy.get(), CURLINFO_CONNECT_TIME_T);
    times.tls = microseconds_of(easy.get(), CURLINFO_APPCONNECT_TIME_T);
  }
  if (head.seen()) {
    times.first_byte =
        microseconds_of(easy.get(), CURLINFO_STARTTRANSFER_TIME_T) - microseconds_of(easy.get(), CURLINFO_PRETRANSFER_TIME_T);
  }
  times.total = microseconds_of(easy.get(), CURLINFO_TOTAL_TIME_T);
  return times;
}

bool Transfer::sent_by_http2() const {
  long version = CURL_HTTP_VERSION_NONE;
  curl_easy_getinfo(easy.get(), CURLINFO_HTTP_VERSION, &version);
  return version == CURL_HTTP_VERSION_NONE ? !http1_only : version == CURL_HTTP_VERSION_2_0;
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto* transfer = static_cast<Transfer*>(self);
  transfer->head.line(std::string_view(data, size * count));
  transfer->lane.answered(*transfer);
  return transfer->head.coded && transfer->head.complete() ? 0 : size * count;  // 0 ends the transfer
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto* transfer = static_cast<Transfer*>(self);
  const std::size_t length = size * count;
  if (length > kMaxBody - transfer->body.size()) {
    transfer->too_large = true;
    return CURL_WRITEFUNC_ERROR;
  }
  transfer->body.insert(transfer->body.end(), data, data + length);
  return length;
}

// NOLINTNEXTLINE(readability-function-size): libcurl's signature
int Transfer::on_before_request(void* self, char* /*peer*/, char* /*local*/, int /*peer_port*/, int local_port) noexcept {
  auto* transfer = static_cast<Transfer*>(self);
  return transfer->lane.may_send(*transfer, static_cast<std::uint16_t>(local_port)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

curl_socket_t Transfer::on_open_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) noexcept {
  auto* transfer = static_cast<Transfer*>(self);
  return transfer->lane.open_for(*transfer, address->family);
}

}  // namespace dohmux::transport
