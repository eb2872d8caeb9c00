// A read-only HTTP endpoint for metrics, health and status. Bounded in everything; it may fail a request, never the daemon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "event/deferred.h"
#include "event/loop.h"
#include "event/tcp_acceptor.h"

namespace dohmux::web {

struct WebReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

struct WebLimits {
  std::size_t connections = 32;
  Duration request = std::chrono::seconds(10);  // to send a request, to fetch its reply, or to begin another
  Duration linger = std::chrono::seconds(2);    // for the client to take the last reply before the connection closes
};

struct WebCounters {
  std::uint64_t accepted = 0;
  std::uint64_t requests = 0;  // handed to the handler
  std::uint64_t faults = 0;    // answered with an error by the endpoint itself
  std::uint64_t timeouts = 0;
  std::uint64_t refused = 0;  // too many connections
};

/// Serves GET and HEAD. Destroying it closes all connections.
class WebEndpoint {
 public:
  /// Gets an absolute path without query; a path that does not exist is the handler's 404. Runs inside the loop.
  using Handler = std::move_only_function<WebReply(std::string_view path)>;

  /// `listening` is bound and listening.
  WebEndpoint(event::Loop& loop, UniqueFd listening, Handler handler, const WebLimits& limits = {});
  ~WebEndpoint();
  WebEndpoint(const WebEndpoint&) = delete;
  WebEndpoint& operator=(const WebEndpoint&) = delete;

  [[nodiscard]] const WebCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::size_t open_connections() const noexcept { return connections_.size(); }

 private:
  struct Connection;

  void accept(UniqueFd fd);
  [[nodiscard]] bool make_room();
  void serve(Connection& connection);
  void begin_last_reply(Connection& connection);
  void close(Connection& connection);
  void restart_timer(Connection& connection, Duration limit);

  event::Loop& loop_;
  Handler handler_;
  WebLimits limits_;
  WebCounters counters_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> closed_;  // until the end of the turn: somebody up the stack may look at them
  event::Deferred bury_;
  event::TcpAcceptor acceptor_;
};

}  // namespace dohmux::web
