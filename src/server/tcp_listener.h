// Queries over TCP (RFC 7766): many on one connection, answers in the order in which they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "event/deferred.h"
#include "event/loop.h"
#include "event/tcp_acceptor.h"
#include "event/tcp_stream.h"
#include "resolver/client.h"
#include "server/bind.h"
#include "server/deadline_list.h"
#include "server/limits.h"
#include "server/tcp_framer.h"

namespace dohmux::server {

struct TcpCounters {
  std::uint64_t accepted = 0;
  std::uint64_t queries = 0;
  std::uint64_t replies = 0;       // handed to a connection
  std::uint64_t late_replies = 0;  // the client had left
  std::uint64_t evicted = 0;       // idle, closed to make room for another
  std::uint64_t refused = 0;       // no room, and nobody idle
  std::uint64_t broken = 0;        // no DNS framing
  std::uint64_t idle_timeouts = 0;
  std::uint64_t frame_timeouts = 0;
  std::uint64_t write_timeouts = 0;
};

class TcpListener final : public ReplySink {
 public:
  /// `socket` is listening. `loop` and `sink` outlive it.
  TcpListener(event::Loop& loop, BoundSocket socket, QuerySink& sink, const TcpLimits& limits);
  ~TcpListener() override;

  /// Later queries go to `sink` (reload).
  void set_sink(QuerySink& sink) noexcept { sink_ = &sink; }
  /// Closes the listening socket and reads no more. Each connection ends when the answers it waits for have left.
  void stop_reading();
  /// Sends what waits for the end of the loop turn now. Not from within submit().
  void flush();

  void reply(const Client& client, ByteView message) override;
  void no_reply(const Client& client) override;

  [[nodiscard]] const Endpoint& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] const TcpCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::size_t open_connections() const noexcept { return connections_.size(); }
  [[nodiscard]] std::uint64_t accept_pauses() const noexcept;  // descriptors had run out

 private:
  struct Connection;

  void accept(UniqueFd fd, const Endpoint& peer);
  [[nodiscard]] bool make_room(const IpAddress& address);
  [[nodiscard]] bool evict_idle(const IpAddress* of_address);

  void ended(Connection& connection, int error);
  void process(Connection& connection);
  void answered(Connection& connection);
  void serve_touched();
  void settle(Connection& connection);
  void watch_limits(Connection& connection);
  [[nodiscard]] bool has_room(const Connection& connection) const noexcept;
  [[nodiscard]] bool is_done(const Connection& connection) const noexcept;

  [[nodiscard]] Connection* find(std::uint64_t id) const;
  void close(Connection& connection);
  void arm_timer();
  void enforce_limits();
  void enforce_write_limit(TimePoint now);

  event::Loop& loop_;
  Endpoint endpoint_;
  QuerySink* sink_;
  TcpLimits limits_;
  TcpCounters counters_;
  bool draining_ = false;
  std::uint64_t last_id_ = 0;
  std::uint64_t pauses_before_ = 0;  // of the acceptor that stop_reading() has closed

  DeadlineList idle_;
  DeadlineList frames_;
  DeadlineList writes_;
  std::unique_ptr<Timer> timer_;  // one for all three
  TimePoint timer_due_;

  std::map<IpAddress, std::size_t> per_address_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  // Closed in this turn: somebody further up the stack may still look at them, or at a message inside.
  std::vector<std::unique_ptr<Connection>> closed_;
  std::vector<std::uint64_t> touched_;  // got an answer in this turn
  event::Deferred at_turn_end_;
  std::unique_ptr<event::TcpAcceptor> acceptor_;
};

}  // namespace dohmux::server
