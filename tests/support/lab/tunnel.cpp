// A proxy's tunnel (RFC 9110 §9.3.6), well-behaved or not.
// Must not know what passes through it.
#include "support/lab/tunnel.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "support/lab/h1_session.h"

namespace lab {

namespace {

constexpr std::size_t kHeadLimit = 16384;
constexpr std::size_t kRelayLimit = 64UL * 1024;
constexpr std::size_t kBacklog = 1024UL * 1024;
constexpr Millis kLinger{1000};

}  // namespace

Tunnel::Tunnel(ProxyServer& server, TunnelId id, UniqueFd client)
    : server_(server), id_(id), client_(*this, std::move(client)), origin_(*this, UniqueFd()) {}

Tunnel::~Tunnel() {
  server_.loop().unwatch(client_.fd.get());
  server_.loop().unwatch(origin_.fd.get());
}

LogEntry Tunnel::entry(std::string_view event) const {
  LogEntry entry(server_.name(), event);
  entry.add("conn", id_);
  if (!target_.empty()) {
    entry.add("target", target_);
  }
  return entry;
}

void Tunnel::start() {
  ++server_.counters().accepts;
  ++server_.counters().open;
  server_.setup().log->write(entry("accept"));
  switch (server_.faults().mode) {
    case ProxyMode::Stall:
      freeze();
      return;
    case ProxyMode::Close:
      close("fault close");
      return;
    default:
      watch(client_);
  }
}

void Tunnel::freeze() {
  if (phase_ == Phase::Closed) {
    return;
  }
  phase_ = Phase::Frozen;
  server_.loop().watch(client_.fd.get(), EPOLLRDHUP, client_);
  server_.loop().unwatch(origin_.fd.get());
}

void Tunnel::watch(Side& side) {
  if (!side.fd.valid()) {
    return;
  }
  std::uint32_t events = 0;
  const bool relaying = phase_ == Phase::Open && !side.ended && other(side).out.size() < kBacklog;
  const bool reading_head = &side == &client_ && (phase_ == Phase::Head || phase_ == Phase::Refusing);
  if (relaying || reading_head) {
    events |= EPOLLIN;
  }
  if (!side.out.empty() || (&side == &origin_ && phase_ == Phase::Connecting)) {
    events |= EPOLLOUT;
  }
  server_.loop().watch(side.fd.get(), events, side);
}

void Tunnel::on_side(Side& side, std::uint32_t events) {
  switch (phase_) {
    case Phase::Head:
      read_head();
      return;
    case Phase::Connecting:
      if (&side == &origin_) {
        on_connected();
      } else {
        close("client left");
      }
      return;
    case Phase::Refusing: {
      flush(client_);
      std::string ignored;
      const Io outcome = phase_ == Phase::Closed ? Io::Blocked : read_some(client_.fd.get(), ignored, kRelayLimit);
      if (outcome == Io::Closed || outcome == Io::Failed) {
        close("refused");
      }
      return;
    }
    case Phase::Open:
      if ((events & EPOLLOUT) != 0) {
        flush(side);
      }
      if (phase_ == Phase::Open && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        relay_from(side);
      }
      return;
    case Phase::Waiting:
    case Phase::Frozen:
      close("peer left");
      return;
    case Phase::Closed:
      return;
  }
}

void Tunnel::read_head() {
  const Io outcome = read_some(client_.fd.get(), head_, kHeadLimit);
  const std::size_t end = head_.find("\r\n\r\n");
  if (end != std::string::npos) {
    const std::string head = head_.substr(0, end + 2);
    origin_.out = head_.substr(end + 4);
    on_connect_request(head);
  } else if (outcome == Io::Closed || outcome == Io::Failed || head_.size() >= kHeadLimit) {
    close("no CONNECT");
  }
}

void Tunnel::on_connect_request(std::string_view head) {
  const auto request = parse_head(head);
  const ProxyFaults& faults = server_.faults();
  ProxyCounters& counters = server_.counters();
  ++counters.connects;
  target_ = request ? request->path : "?";
  const auto& known = *server_.setup().destinations;
  const auto destination = known.find(target_);
  const bool proper = request && request->method == "CONNECT" && destination != known.end();
  server_.setup().log->write(
      entry("connect").add("known", proper ? 1 : 0).add("auth", request && !request->header("proxy-authorization").empty() ? 1 : 0));
  counters.unknown += proper ? 0 : 1;
  if (faults.credentials && (!request || request->header("proxy-authorization") != "Basic " + *faults.credentials)) {
    ++counters.auth_failed;
    refuse(407);
    return;
  }
  if (faults.status) {
    refuse(*faults.status);
    return;
  }
  if (!proper) {
    refuse(403);
    return;
  }
  if (const auto special = faults.status_for.find(destination->second.name); special != faults.status_for.end()) {
    refuse(special->second);
    return;
  }
  auto origin = connect_from(static_cast<std::uint8_t>(server_.setup().index), destination->second.port);
  if (!origin) {
    refuse(502);
    return;
  }
  origin_.fd = std::move(*origin);
  phase_ = Phase::Connecting;
  watch(client_);
  watch(origin_);
}

void Tunnel::on_connected() {
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(origin_.fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    server_.loop().unwatch(origin_.fd.get());
    origin_.fd.reset();
    refuse(502);
    return;
  }
  phase_ = Phase::Waiting;
  server_.loop().watch(client_.fd.get(), EPOLLRDHUP, client_);
  server_.loop().unwatch(origin_.fd.get());
  if (server_.faults().mode == ProxyMode::StallConnect) {
    return;
  }
  if (!server_.faults().delay) {
    answer_connect();
    return;
  }
  server_.loop().after(*server_.faults().delay, [server = &server_, id = id_] {
    Tunnel* tunnel = server->find(id);
    if (tunnel != nullptr && tunnel->phase_ == Phase::Waiting) {
      tunnel->answer_connect();
    }
  });
}

void Tunnel::answer_connect() {
  ++server_.counters().ok;
  server_.setup().log->write(entry("tunnel"));
  phase_ = Phase::Open;
  client_.out = "HTTP/1.1 200 Connection established\r\n\r\n";
  const ProxyMode mode = server_.faults().mode;
  if (mode == ProxyMode::Garbage) {
    client_.out += "<html>This is no tunnel, whatever the status said.</html>\r\n";
  }
  flush(client_);
  if (mode == ProxyMode::CloseAfter200) {
    cut("close-after-200");
    return;
  }
  if (phase_ == Phase::Open) {
    flush(origin_);
  }
}

void Tunnel::refuse(int status) {
  ++server_.counters().refused;
  server_.setup().log->write(entry("refused").add("status", status));
  phase_ = Phase::Refusing;
  origin_.out.clear();
  client_.out = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_of(status)) + "\r\n";
  client_.out += status == 407 ? "Proxy-Authenticate: Basic realm=\"lab\"\r\n" : "";
  client_.out += "Content-Length: 0\r\nConnection: close\r\n\r\n";
  flush(client_);
  server_.loop().after(kLinger, [server = &server_, id = id_] {
    if (Tunnel* tunnel = server->find(id); tunnel != nullptr) {
      tunnel->close("refused");
    }
  });
}

void Tunnel::relay_from(Side& side) {
  Side& target = other(side);
  const std::size_t before = target.out.size();
  const Io outcome = read_some(side.fd.get(), target.out, kRelayLimit);
  if (outcome == Io::Failed) {
    abort("reset");
    return;
  }
  if (&side == &origin_) {
    const std::size_t count = target.out.size() - before;
    const auto& limit = server_.faults().cut_after.peek();
    if (limit && from_origin_ + count >= *limit) {
      target.out.resize(before + (*limit > from_origin_ ? *limit - from_origin_ : 0));
      server_.faults().cut_after.use();
      cutting_ = true;
    }
    from_origin_ += count;
  }
  side.ended = side.ended || outcome == Io::Closed;
  flush(target);
  if (phase_ == Phase::Open) {
    watch(side);
  }
}

void Tunnel::flush(Side& side) {
  if (!side.fd.valid()) {
    return;
  }
  if (write_some(side.fd.get(), side.out) == Io::Failed) {
    abort("reset");
    return;
  }
  if (phase_ == Phase::Refusing && side.out.empty() && !side.shut) {
    side.shut = true;
    ::shutdown(side.fd.get(), SHUT_WR);
  }
  if (phase_ == Phase::Open) {
    if (other(side).ended && side.out.empty() && !side.shut) {
      side.shut = true;
      ::shutdown(side.fd.get(), SHUT_WR);
    }
    after_flush();
  }
  if (phase_ != Phase::Closed) {
    watch(side);
    watch(other(side));
  }
}

void Tunnel::after_flush() {
  if (cutting_ && client_.out.empty()) {
    cut("cut");
  } else if (client_.shut && origin_.shut) {
    close("ended");
  }
}

void Tunnel::cut(std::string_view why) {
  close(why);
}

void Tunnel::close(std::string_view why) {
  if (phase_ == Phase::Closed) {
    return;
  }
  phase_ = Phase::Closed;
  --server_.counters().open;
  server_.setup().log->write(entry("close").add("why", why));
  for (Side* side : {&client_, &origin_}) {
    server_.loop().unwatch(side->fd.get());
    side->fd.reset();
  }
  server_.forget(id_);
}

void Tunnel::abort(std::string_view why) {
  for (const Side* side : {&client_, &origin_}) {
    if (side->fd.valid()) {
      make_close_abortive(side->fd.get());
    }
  }
  close(why);
}

}  // namespace lab
