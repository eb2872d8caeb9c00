// A connection's octets: socket, emulated round trip, TLS, closing in all its ways.
// Must not know what requests mean; connection_requests.cpp has that half of the class.
#include "support/lab/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

#include "support/lab/h1_session.h"
#include "support/lab/h2_session.h"

namespace lab {

namespace {

constexpr std::size_t kReadLimit = 256UL * 1024;
constexpr Millis kLinger{1000};

}  // namespace

Connection::Connection(Resolver& owner, Identity identity, UniqueFd fd)
    : owner_(owner), identity_(std::move(identity)), fd_(std::move(fd)), tls_(owner.context()) {}

Connection::~Connection() {
  Loop& loop = owner_.around().loop;
  loop.unwatch(fd_.get());
  for (const auto& timer : {inbox_timer_, idle_timer_, linger_timer_}) {
    if (timer) {
      loop.cancel(*timer);
    }
  }
}

void Connection::start() {
  owner_.around().log.write(entry("accept"));
  switch (owner_.faults().accept) {
    case AcceptMode::Stall:
      freeze();
      return;
    case AcceptMode::Close:
      close_orderly("fault close");
      return;
    case AcceptMode::StallTls:
      phase_ = Phase::Deaf;
      break;
    case AcceptMode::Serve:
    case AcceptMode::Refuse:
      break;
  }
  watch();
}

LogEntry Connection::entry(std::string_view event) const {
  LogEntry entry(owner_.name(), event);
  entry.add("conn", identity_.id).add("exit", identity_.exit);
  return entry;
}

void Connection::watch() {
  std::uint32_t events = end_of_input_ ? 0U : static_cast<std::uint32_t>(EPOLLIN);
  if (!outbox_.empty()) {
    events |= EPOLLOUT;
  }
  owner_.around().loop.watch(fd_.get(), events, *this);
}

void Connection::freeze() {
  if (phase_ == Phase::Serving || phase_ == Phase::Deaf) {
    phase_ = Phase::Frozen;
    owner_.around().loop.watch(fd_.get(), EPOLLRDHUP, *this);
  }
}

void Connection::on_ready(std::uint32_t events) {
  if (phase_ == Phase::Frozen) {  // nothing but the peer's leaving wakes it
    finish("closed by peer");
    return;
  }
  if ((events & EPOLLOUT) != 0) {
    send_pending();
  }
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && phase_ != Phase::Closed) {
    read_socket();
  }
}

void Connection::read_socket() {
  std::string octets;
  const Io outcome = read_some(fd_.get(), octets, kReadLimit);
  if (outcome == Io::Failed || (outcome == Io::Closed && phase_ != Phase::Serving)) {
    finish(outcome == Io::Failed ? "reset by peer" : "closed by peer");
    return;
  }
  if (phase_ != Phase::Serving) {
    return;
  }
  const Millis rtt = owner_.rtt();
  TimePoint due = Clock::now() + (first_chunk_ ? 2 * rtt : rtt);
  due = rtt.count() == 0 ? TimePoint{} : due;
  due = inbox_.empty() ? due : std::max(due, inbox_.back().due);
  if (!octets.empty()) {
    first_chunk_ = false;
    inbox_.push_back({due, std::move(octets)});
  }
  if (outcome == Io::Closed) {
    end_of_input_ = true;
    inbox_.push_back({due, {}});
    watch();
  }
  take_due_chunks();
}

void Connection::take_due_chunks() {
  while (phase_ == Phase::Serving && !inbox_.empty() && inbox_.front().due <= Clock::now()) {
    const std::string octets = std::move(inbox_.front().octets);
    inbox_.pop_front();
    process(octets);
  }
  if (phase_ == Phase::Serving && !inbox_.empty() && !inbox_timer_) {
    inbox_timer_ = owner_.around().loop.after(inbox_.front().due - Clock::now(), [this] {
      inbox_timer_.reset();
      take_due_chunks();
    });
  }
}

void Connection::process(std::string_view cipher) {
  if (cipher.empty()) {
    finish("closed by peer");
    return;
  }
  std::string plain;
  const TlsSession::State state = tls_.receive(cipher, plain);
  if (!session_ && (state == TlsSession::State::Open || state == TlsSession::State::Closed)) {
    begin_session();
  }
  if (!plain.empty() && session_ && phase_ == Phase::Serving) {
    session_->receive(plain);
  }
  send_pending();
  if (state == TlsSession::State::Failed) {
    ++owner_.counters().tls_failures;
    close_orderly(tls_.error());
  } else if (state == TlsSession::State::Closed) {
    close_orderly("closed by peer");
  }
}

void Connection::begin_session() {
  ResolverCounters& counters = owner_.counters();
  ++counters.handshakes;
  counters.resumed += tls_.resumed() ? 1 : 0;
  counters.wrong_name += tls_.server_name() == owner_.host() ? 0 : 1;
  owner_.around().log.write(entry("handshake")
                                .add("alpn", tls_.alpn())
                                .add("sni", tls_.server_name())
                                .add("tls", tls_.version())
                                .add("resumed", tls_.resumed() ? 1 : 0));
  HttpHost& host = *this;
  if (tls_.alpn() == "h2") {
    session_ = std::make_unique<H2Session>(host, owner_.stream_limit());
  } else {
    ++counters.http1;
    session_ = std::make_unique<H1Session>(host);
  }
  arm_idle_timer();
}

void Connection::send_pending() {
  if (phase_ != Phase::Serving) {
    return;
  }
  outbox_ += tls_.take_output();
  const bool was_waiting = waiting_to_send_;
  const Io outcome = write_some(fd_.get(), outbox_);
  if (outcome == Io::Failed) {
    finish("reset by peer");
    return;
  }
  waiting_to_send_ = !outbox_.empty();
  if (waiting_to_send_ != was_waiting) {
    watch();
  }
  if (finish_after_send_ && outbox_.empty()) {
    close_orderly("fault");
  }
}

void Connection::close_orderly(std::string_view why) {
  if (phase_ == Phase::Lingering || phase_ == Phase::Closed) {
    return;
  }
  owner_.around().log.write(entry("close").add("why", why));
  --owner_.counters().open;
  phase_ = Phase::Lingering;
  ::shutdown(fd_.get(), SHUT_WR);
  outbox_.clear();
  if (end_of_input_) {
    finish(why);
    return;
  }
  watch();
  linger_timer_ = owner_.around().loop.after(kLinger, [this] {
    linger_timer_.reset();
    finish("lingered");
  });
}

void Connection::close_abruptly(std::string_view why) {
  if (phase_ != Phase::Closed) {
    make_close_abortive(fd_.get());
    finish(why);
  }
}

void Connection::finish(std::string_view why) {
  if (phase_ == Phase::Closed) {
    return;
  }
  if (phase_ != Phase::Lingering) {
    owner_.around().log.write(entry("close").add("why", why));
    --owner_.counters().open;
  }
  phase_ = Phase::Closed;
  owner_.around().loop.unwatch(fd_.get());
  fd_.reset();
  owner_.forget(identity_.id);
}

}  // namespace lab
