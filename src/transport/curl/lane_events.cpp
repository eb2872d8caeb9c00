// The lane as libcurl and the loop see it: sockets, sendings, completions, limits.
// What is said here of order matters: results are collected first, and told only when libcurl is left.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "transport/curl/lane.h"

namespace dohmux::transport {

namespace {

// By then a server's SETTINGS have arrived, whether or not it has answered (contract of Lane::ready).
constexpr Duration kGate = std::chrono::seconds(1);
// A connection unused for so long may have been closed by its peer for that reason alone.
constexpr Duration kIdle = std::chrono::seconds(1);

}  // namespace

Connection* CurlLane::came_up(std::uint16_t port) {
  Connection* connection = connections_.by_port(port);
  if (connection != nullptr && !connection->up) {
    connection->up = true;
    connection->up_at = connection->last_used = now();
    limit_unacknowledged(connection->fd);
    ++opened_;
    changed_ = true;
  }
  return connection;
}

bool CurlLane::may_send(Transfer& transfer, std::uint16_t port) {
  if (transfer.started) {
    refuse_resend(transfer);
    return false;
  }
  Connection* connection = came_up(port);
  if (connection == nullptr) {
    return false;
  }
  if (connection->streams == 0 && connection->tcp().state != TcpState::Established) {
    connection->spent = true;  // closed while idle, and libcurl has not noticed
    if (!connections_.any_alive()) {
      return false;  // nothing is lost: the lane is dialled again
    }
  }
  const TimePoint sent_at = now();
  transfer.started = true;
  transfer.connection = connection;
  transfer.use = {.connection = connection->id, .sent = true, .reused = connection->carried > 0, .received_since = false};
  if (connection->streams == 0) {
    connection->woken = connection->spent || sent_at - connection->last_used >= kIdle;
  }
  transfer.received_at_send = connection->tcp().received;
  transfer.deadline = sent_at + transfer.request.limit;
  insert_by_deadline(transfer);
  --waiting_;
  ++connection->carried;
  ++connection->streams;
  connection->last_used = sent_at;
  changed_ |= !beginning_;
  return true;
}

// libcurl has given the connection up (GOAWAY, REFUSED_STREAM, or it is broken) and would send once more elsewhere.
void CurlLane::refuse_resend(Transfer& transfer) {
  if (!transfer.resend_refused) {
    transfer.resend_refused = true;
    transfer.resend_text = transfer.error.data();
    transfer.resend_state = transfer.connection->tcp().state;
    transfer.connection->spent = true;
    changed_ = true;
  }
}

void CurlLane::answered(Transfer& transfer) {
  Connection* connection = transfer.connection;
  if (connection == nullptr) {
    return;
  }
  connection->woken = false;
  if (!connection->answered) {
    connection->answered = true;
    changed_ = true;
  }
}

curl_socket_t CurlLane::open_for(Transfer& transfer, int family) {
  if (transfer.started) {
    refuse_resend(transfer);
    return CURL_SOCKET_BAD;
  }
  connections_.retire_idle();
  changed_ = true;
  const bool others_full = std::ranges::any_of(connections_.all(), &Connection::usable);
  if (http2_ && !others_full) {
    return CURL_SOCKET_BAD;  // what was up is dead: dialling is for the lane's user to decide
  }
  const Connection* connection = connections_.open(family, &transfer);
  return connection != nullptr ? connection->fd : CURL_SOCKET_BAD;
}

curl_socket_t CurlLane::open_for(Dial& dial, int family) {
  const Connection* connection = connections_.open(family, &dial);
  dial.socket_opened |= connection != nullptr;
  return connection != nullptr ? connection->fd : CURL_SOCKET_BAD;
}

int CurlLane::on_close_socket(void* self, curl_socket_t fd) noexcept {
  auto* lane = static_cast<CurlLane*>(self);
  lane->multi_.forget(fd);
  lane->connections_.close(fd);
  lane->changed_ = true;
  lane->multi_.request_progress();
  return 0;
}

bool CurlLane::gated(const Connection& connection) const {
  return connection.streams > 0 && !connection.answered && now() - connection.up_at < kGate;
}

void CurlLane::finish(Transfer& transfer, CURLcode code, bool timed_out) {
  ExchangeReport report = transfer.report(code, timed_out);  // while the connection's record is certain to be there
  detach(transfer);
  transfer.result = std::move(report);
  ended_.splice(ended_.end(), active_, transfer.place);
}

// The transfer is out of libcurl, and leaves what it occupied.
void CurlLane::detach(Transfer& transfer) {
  if (transfer.started) {
    connections_.leave(*std::exchange(transfer.connection, nullptr), now());
  } else {
    --waiting_;
  }
  connections_.release(&transfer);
  changed_ = true;
}

void CurlLane::finish(Dial& dial, CURLcode code, bool timed_out) {
  dial.limit_timer.reset();
  dial.result = dial.report(code, timed_out, connections_);
  connections_.release(&dial);
  if (dial.result->has_value()) {
    learn_version((*dial.result)->http2);
  }
  ended_dials_.splice(ended_dials_.end(), dials_, dial.place);
  changed_ = true;
}

void CurlLane::learn_version(bool http2) {
  http2_ = http2;
  multi_.set(CURLMOPT_MAX_HOST_CONNECTIONS, http2 ? caps_.max_connections : caps_.max_http1_connections);
}

void CurlLane::dial_timed_out(Dial& dial) {
  multi_.pump();  // it may have been finished all the while
  take_results();
  if (!dial.result) {
    finish(dial, CURLE_OPERATION_TIMEDOUT, true);
    multi_.remove(dial.easy.get());
  }
  settle();
}

// One timer for all requests: for the earliest limit, or for the end of a new connection's gate.
void CurlLane::arm() {
  if (active_.empty()) {
    timer_.reset();
    return;
  }
  TimePoint due = active_.front()->deadline;
  for (const Connection& connection : connections_.all()) {
    if (connection.usable() && gated(connection)) {
      due = std::min(due, connection.up_at + kGate);
    }
  }
  if (timer_ != nullptr && timer_due_ <= due) {
    return;
  }
  timer_due_ = due;
  timer_ = loop_.after(due - now(), [this] {
    timer_.reset();
    expire();
    changed_ = true;
    settle();
  });
}

void CurlLane::expire() {
  take_results();
  while (!active_.empty() && active_.front()->deadline <= now()) {
    Transfer& transfer = *active_.front();
    finish(transfer, CURLE_OPERATION_TIMEDOUT, true);
    multi_.remove(transfer.easy.get());  // resets the stream; a multiplexed connection stays
  }
}

void CurlLane::take_results() {
  for (const Multi::Finished& finished : multi_.take_finished()) {
    Transfer* transfer = nullptr;
    curl_easy_getinfo(finished.easy, CURLINFO_PRIVATE, &transfer);
    if (transfer != nullptr) {
      finish(*transfer, finished.code, false);
      continue;
    }
    const auto dial = std::ranges::find_if(dials_, [&](const auto& candidate) { return candidate->easy.get() == finished.easy; });
    finish(**dial, finished.code, false);
  }
}

// Any callback of the user may destroy the lane; `gone` tells.
void CurlLane::settle() {
  take_results();
  arm();
  bool gone = false;
  gone_ = &gone;
  tell_dials(gone);
  if (!gone) {
    tell_transfers(gone);
  }
  if (!gone && std::exchange(changed_, false) && on_change_ != nullptr) {
    (*on_change_)();
  }
  if (gone) {
    return;
  }
  gone_ = nullptr;
  if (changed_ || multi_.has_finished() || !ended_.empty() || !ended_dials_.empty()) {
    multi_.request_progress();  // what the callbacks have set off
  }
}

void CurlLane::tell_dials(const bool& gone) {
  while (!gone && !ended_dials_.empty()) {
    const std::unique_ptr<Dial> dial = std::move(ended_dials_.front());
    ended_dials_.pop_front();
    if (dial->call != nullptr) {
      dial->call->forget();
    }
    dial->done(std::move(*dial->result));
  }
}

void CurlLane::tell_transfers(const bool& gone) {
  while (!gone && !ended_.empty()) {
    Transfer& transfer = *ended_.front();
    if (transfer.call != nullptr) {
      transfer.call->forget();
    }
    SendDone done = std::move(transfer.done);
    ExchangeReport report = std::move(*transfer.result);
    recycle(transfer);
    done(std::move(report));
  }
}

}  // namespace dohmux::transport
