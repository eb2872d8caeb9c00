// One dial inside libcurl: a transfer that is stopped before it sends, so that its connection stays in the pool
// (curl.md §10).
#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "transport/curl/connections.h"
#include "transport/curl/handles.h"
#include "transport/curl/options.h"
#include "transport/transport.h"

namespace dohmux::transport {

class CurlLane;
class DialCall;

struct Dial {
  using List = std::list<std::unique_ptr<Dial>>;

  Dial(CurlLane& owner, TimePoint begun_at) : lane(owner), begun(begun_at) {}

  /// Makes the handle. False: libcurl refused.
  [[nodiscard]] bool create(const LaneOptions& options, Duration limit);
  /// After the end.
  [[nodiscard]] std::expected<DialInfo, Failure> report(CURLcode code, bool timed_out, const Connections& connections);

  CurlLane& lane;
  List::iterator place;
  Easy easy;
  DialCall* call = nullptr;
  Lane::DialDone done;
  TimePoint begun;
  std::unique_ptr<Timer> limit_timer;
  bool socket_opened = false;
  bool via_proxy = false;
  std::optional<DialInfo> info;  // once the handshake is finished
  Duration tunnel_time{};
  std::array<char, CURL_ERROR_SIZE> error{};
  std::optional<std::expected<DialInfo, Failure>> result;  // once ended, until the caller has heard of it

 private:
  [[nodiscard]] bool stop_before_request(std::uint16_t port);

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static int on_before_request(void* self, char* peer, char* local, int peer_port, int local_port) noexcept;
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept;
};

}  // namespace dohmux::transport
