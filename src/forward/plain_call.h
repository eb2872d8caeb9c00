// One query on its way through the servers of a route: UDP, TCP when the answer was cut, the next server on trouble.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "dns/query.h"
#include "event/deferred.h"
#include "event/loop.h"
#include "forward/servers.h"
#include "forward/wire.h"
#include "upstream/exchanger.h"

namespace dohmux::forward {

/// What all calls of one forwarder share.
struct PlainWorld {
  event::Loop& loop;
  Servers servers;
  Random random;
  Duration attempt{};          // the most that one server of several gets
  std::size_t in_flight = 0;   // calls that may hold a socket
  std::size_t most_in_flight;  // a call beyond it fails with Overload
  Bytes buffer;                // of every read
};

struct PlainQuestion {
  const dns::Query& query;
  Bytes message;  // id 0
  TimePoint deadline;
};

class PlainCall final : public Call {
 public:
  /// Begins behind the present callback, never inline. `world` and the query outlive it; `done` may destroy it.
  PlainCall(PlainWorld& world, PlainQuestion question, upstream::Exchanger::Done done);
  ~PlainCall() override;

 private:
  using Received = std::expected<ByteView, int>;

  void begin();
  void ask_next();
  [[nodiscard]] int ask_udp();
  [[nodiscard]] int ask_tcp();
  void draw_id();
  void arm();
  void on_udp(Received received);
  void on_tcp(Received received);
  void on_silence();
  [[nodiscard]] std::optional<Bytes> ours(ByteView message) const;
  void settle(Bytes message);

  void unreachable(int error);
  void bad_answer(std::string_view what);
  void note(upstream::Cause cause, std::string_view what);
  void conclude();
  void finish(std::expected<upstream::Answer, upstream::ExchangeError> result);
  void overloaded(std::string_view why);
  [[nodiscard]] TimePoint now() const { return world_.loop.now(); }

  PlainWorld& world_;
  PlainQuestion question_;
  upstream::Exchanger::Done done_;
  bool admitted_;
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;  // in order_, of the server to be asked next
  std::size_t server_ = 0;    // the one that is asked now
  std::uint16_t id_ = 0;
  upstream::Trail trail_;
  upstream::Cause cause_ = upstream::Cause::NoReachableExit;
  std::string stage_ = "forward: no server";
  std::optional<upstream::Answer> refusal_;  // SERVFAIL or REFUSED of a server behind which others are left
  std::unique_ptr<Timer> timer_;
  event::Deferred begin_;
  std::unique_ptr<UdpWire> udp_;
  std::unique_ptr<TcpWire> tcp_;
};

}  // namespace dohmux::forward
