// One request inside libcurl: the handle, what is sent from it and what comes back into it. Recycled by its lane.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "transport/curl/connections.h"
#include "transport/curl/failure.h"
#include "transport/curl/handles.h"
#include "transport/curl/headers.h"
#include "transport/curl/options.h"
#include "transport/transport.h"

namespace dohmux::transport {

class CurlLane;
class SendCall;

struct Transfer {
  using List = std::list<std::unique_ptr<Transfer>>;

  explicit Transfer(CurlLane& owner) : lane(owner) {}

  /// Makes the handle and sets what never changes. False: libcurl refused.
  [[nodiscard]] bool create(const LaneOptions& options);
  /// Sets what differs from request to request; `url` (without query) is only used for POST. False: libcurl refused.
  [[nodiscard]] bool prepare(const LaneOptions& options, CURLU* url);
  /// As new, but for the handle.
  void reset();
  /// After the end: the report for the caller.
  [[nodiscard]] ExchangeReport report(CURLcode code, bool timed_out);

  CurlLane& lane;
  List::iterator place;  // where its lane keeps it
  Easy easy;
  SendCall* call = nullptr;  // the caller's handle on it
  Lane::SendDone done;
  DohRequest request;
  bool http1_only = false;  // the lane is known to speak nothing newer

  bool started = false;              // PREREQ has been called: the request is on a connection
  bool resend_refused = false;       // libcurl wanted to send again
  Connection* connection = nullptr;  // while started and not ended
  ConnectionUse use;
  TimePoint deadline;
  std::uint64_t received_at_send = 0;

  ReplyHead head;
  Bytes body;
  bool too_large = false;
  std::string resend_text;                        // the error buffer when a resend was refused
  TcpState resend_state = TcpState::Established;  // and the state of the connection it had been sent on
  std::array<char, CURL_ERROR_SIZE> error{};
  std::optional<ExchangeReport> result;  // once ended, until the caller has heard of it

 private:
  [[nodiscard]] Failure failure(CURLcode code, bool timed_out) const;
  [[nodiscard]] StageTimes times() const;
  [[nodiscard]] bool sent_by_http2() const;

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static int on_before_request(void* self, char* peer, char* local, int peer_port, int local_port) noexcept;
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept;
};

}  // namespace dohmux::transport
