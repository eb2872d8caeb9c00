// The TCP listener: who is connected, what each may still do, and until when.
// It must not know what is asked, nor who answers.
#include "server/tcp_listener.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "dns/types.h"

namespace dohmux::server {

namespace {

constexpr std::size_t kWriteAtOnce = 65536;  // answers of one turn are gathered up to here
// Bounds what the kernel holds for a client that does not read; it would grow to megabytes by itself (tcp(7)).
constexpr int kSendBuffer = 128 * 1024;

}  // namespace

struct TcpListener::Connection {
  std::uint64_t id = 0;
  Endpoint peer;
  std::optional<event::TcpStream> stream;  // nothing: closed
  TcpFramer framer;
  Bytes out;  // answers of this turn, framed
  std::size_t unanswered = 0;
  bool paused = false;             // not read, because it has no room
  bool peer_finished = false;      // has sent FIN: no more queries, but it wants its answers (RFC 7766 §6.2.3)
  bool touched = false;            // is in touched_
  std::uint64_t written = 0;       // octets given to the stream in all
  std::uint64_t written_mark = 0;  // how many of them had left when the write limit began
  DeadlineList::Place idle_place;
  DeadlineList::Place frame_place;
  DeadlineList::Place write_place;

  [[nodiscard]] bool is_open() const noexcept { return stream.has_value(); }
  [[nodiscard]] std::size_t unsent() const noexcept { return out.size() + (stream ? stream->unsent() : 0); }
  [[nodiscard]] std::uint64_t left() const noexcept { return written - (stream ? stream->unsent() : 0); }

  void write_out() {
    if (!out.empty()) {
      written += out.size();
      stream->write(std::exchange(out, {}));
    }
  }
};

TcpListener::TcpListener(event::Loop& loop, BoundSocket socket, QuerySink& sink, const TcpLimits& limits)
    : loop_(loop),
      endpoint_(socket.endpoint),
      sink_(&sink),
      limits_(limits),
      idle_(limits.idle),
      frames_(limits.frame),
      writes_(limits.write),
      at_turn_end_(loop, [this] { serve_touched(); }) {
  static_cast<void>(::setsockopt(socket.fd.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer));  // inherited
  acceptor_ = std::make_unique<event::TcpAcceptor>(loop, std::move(socket.fd),
                                                   [this](UniqueFd fd, const Endpoint& peer) { accept(std::move(fd), peer); });
}

TcpListener::~TcpListener() = default;

std::uint64_t TcpListener::accept_pauses() const noexcept {
  return pauses_before_ + (acceptor_ ? acceptor_->pauses() : 0);
}

// ---- who may connect -------------------------------------------------------------------------------------------

void TcpListener::accept(UniqueFd fd, const Endpoint& peer) {
  if (!make_room(peer.address)) {
    ++counters_.refused;
    return;
  }
  ++counters_.accepted;
  ++per_address_[peer.address];
  auto owned = std::make_unique<Connection>();
  Connection& connection = *owned;
  connection.id = ++last_id_;
  connection.peer = peer;
  connections_.emplace(connection.id, std::move(owned));
  connection.stream.emplace(loop_, std::move(fd),
                            event::TcpStream::Handlers{.data =
                                                           [this, &connection](ByteView octets) {
                                                             connection.framer.push(octets);
                                                             process(connection);
                                                           },
                                                       .end = [this, &connection](int error) { ended(connection, error); },
                                                       .drained = [this, &connection] { process(connection); }});
  connection.stream->start_reading();
  settle(connection);
}

bool TcpListener::make_room(const IpAddress& address) {
  const auto mine = per_address_.find(address);
  const bool address_full = !address.is_loopback() && mine != per_address_.end() && mine->second >= limits_.connections_per_address;
  if (address_full && !evict_idle(&address)) {
    return false;
  }
  return connections_.size() < limits_.connections || evict_idle(nullptr);
}

// The one that has been idle longest; of that address if one is given.
bool TcpListener::evict_idle(const IpAddress* of_address) {
  Connection* victim = nullptr;
  idle_.visit_oldest_first([&](std::uint64_t id) {
    Connection* candidate = find(id);
    if (of_address == nullptr || candidate->peer.address == *of_address) {
      victim = candidate;
    }
    return victim != nullptr;
  });
  if (victim != nullptr) {
    ++counters_.evicted;
    close(*victim);
  }
  return victim != nullptr;
}

// ---- queries in, answers out -----------------------------------------------------------------------------------

bool TcpListener::has_room(const Connection& connection) const noexcept {
  const std::size_t unsent = connection.unsent();
  // Once paused, all must be gone: a client that reads a little at a time must not make us switch at every octet.
  return connection.unanswered < limits_.unanswered && unsent <= (connection.paused ? 0 : limits_.unsent_bytes);
}

void TcpListener::process(Connection& connection) {
  connection.paused = !draining_ && !has_room(connection);
  while (connection.is_open() && !draining_ && !connection.paused) {
    const auto message = connection.framer.next();
    if (!message) {
      break;
    }
    ++counters_.queries;
    ++connection.unanswered;
    idle_.leave(connection.idle_place);
    frames_.leave(connection.frame_place);  // the next message has its own time
    const Client client{.via = this, .connection = connection.id, .protocol = Protocol::Tcp, .peer = connection.peer, .local = {}};
    sink_->submit(client, *message);  // may reply at once
    connection.paused = !has_room(connection);
  }
  if (!connection.is_open()) {
    return;
  }
  if (connection.framer.broken()) {
    ++counters_.broken;
    close(connection);
    return;
  }
  settle(connection);
}

void TcpListener::ended(Connection& connection, int error) {
  if (error != 0) {
    close(connection);
    return;
  }
  connection.peer_finished = true;
  settle(connection);
}

void TcpListener::reply(const Client& client, ByteView message) {
  Connection* connection = find(client.connection);
  if (connection == nullptr) {
    ++counters_.late_replies;
    return;
  }
  if (message.size() <= dns::kMaxMessage) {
    ++counters_.replies;
    append_frame(connection->out, message);
    if (connection->out.size() >= kWriteAtOnce) {
      connection->write_out();
    }
  }
  answered(*connection);
}

void TcpListener::no_reply(const Client& client) {
  if (Connection* connection = find(client.connection); connection != nullptr) {
    answered(*connection);
  }
}

void TcpListener::answered(Connection& connection) {
  connection.unanswered -= std::min<std::size_t>(connection.unanswered, 1);
  if (!std::exchange(connection.touched, true)) {
    touched_.push_back(connection.id);
    at_turn_end_.request();
  }
}

void TcpListener::flush() {
  serve_touched();
}

void TcpListener::serve_touched() {
  for (const std::uint64_t id : std::exchange(touched_, {})) {
    if (Connection* connection = find(id); connection != nullptr) {
      connection->touched = false;
      connection->write_out();
      process(*connection);  // there may be room again for what waits in its buffer
    }
  }
  closed_.clear();
}

// ---- what follows from a connection's state ----------------------------------------------------------------------

bool TcpListener::is_done(const Connection& connection) const noexcept {
  const bool no_more_queries = draining_ || (connection.peer_finished && !connection.paused);
  return no_more_queries && connection.unanswered == 0 && connection.unsent() == 0;
}

void TcpListener::settle(Connection& connection) {
  if (is_done(connection)) {
    close(connection);
    return;
  }
  if (connection.paused || draining_) {
    connection.stream->stop_reading();
  } else {
    connection.stream->start_reading();
  }
  watch_limits(connection);
  arm_timer();
}

void TcpListener::watch_limits(Connection& connection) {
  const TimePoint now = loop_.now();
  const std::size_t waiting = connection.stream->unsent();
  if (connection.unanswered == 0 && connection.unsent() == 0) {
    idle_.enter(connection.idle_place, connection.id, now);
  } else {
    idle_.leave(connection.idle_place);
  }
  if (connection.framer.holds_octets() && !connection.paused && !connection.peer_finished && !draining_) {
    frames_.enter(connection.frame_place, connection.id, now);  // more octets of the same message do not restart it
  } else {
    frames_.leave(connection.frame_place);
  }
  if (waiting == 0) {
    writes_.leave(connection.write_place);
  } else if (!connection.write_place) {
    connection.written_mark = connection.left();
    writes_.enter(connection.write_place, connection.id, now);
  }
}

void TcpListener::arm_timer() {
  std::optional<TimePoint> due;
  for (const DeadlineList* list : {&idle_, &frames_, &writes_}) {
    if (const auto next = list->due(); next && (!due || *next < *due)) {
      due = next;
    }
  }
  if (!due) {
    timer_.reset();
  } else if (!timer_ || *due < timer_due_) {  // a later one may stay as it is: it finds nothing, and is armed anew
    timer_due_ = *due;
    timer_ = loop_.after(*due - loop_.now(), [this] {
      timer_.reset();
      enforce_limits();
    });
  }
}

void TcpListener::enforce_limits() {
  const TimePoint now = loop_.now();
  while (const auto id = idle_.expired(now)) {
    ++counters_.idle_timeouts;
    close(*find(*id));
  }
  while (const auto id = frames_.expired(now)) {
    ++counters_.frame_timeouts;
    close(*find(*id));
  }
  enforce_write_limit(now);
  arm_timer();
}

void TcpListener::enforce_write_limit(TimePoint now) {
  while (const auto id = writes_.expired(now)) {
    Connection& connection = *find(*id);
    if (connection.left() == connection.written_mark) {
      ++counters_.write_timeouts;
      close(connection);
    } else {  // slow, but it reads
      connection.written_mark = connection.left();
      writes_.leave(connection.write_place);
      writes_.enter(connection.write_place, connection.id, now);
    }
  }
}

// ---- ends --------------------------------------------------------------------------------------------------------

TcpListener::Connection* TcpListener::find(std::uint64_t id) const {
  const auto it = connections_.find(id);
  return it == connections_.end() ? nullptr : it->second.get();
}

void TcpListener::close(Connection& connection) {
  idle_.leave(connection.idle_place);
  frames_.leave(connection.frame_place);
  writes_.leave(connection.write_place);
  if (const auto it = per_address_.find(connection.peer.address); it != per_address_.end() && --it->second == 0) {
    per_address_.erase(it);
  }
  connection.stream->discard_input();
  connection.stream.reset();
  auto node = connections_.extract(connection.id);
  closed_.push_back(std::move(node.mapped()));
  at_turn_end_.request();
  if (connections_.empty()) {
    timer_.reset();
  }
}

void TcpListener::stop_reading() {
  if (std::exchange(draining_, true)) {
    return;
  }
  pauses_before_ = accept_pauses();
  acceptor_.reset();
  std::vector<Connection*> all;
  all.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) {
    all.push_back(connection.get());
  }
  for (Connection* connection : all) {
    settle(*connection);
  }
}

}  // namespace dohmux::server
