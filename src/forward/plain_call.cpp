// The walk of one query through its servers, top to bottom: ask, hear, check, settle or go on.
// Must not know routes: whoever calls has decided that these servers and nobody else may see the name.
#include "forward/plain_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "dns/answer_check.h"
#include "dns/records.h"

namespace dohmux::forward {
namespace {

constexpr std::uint16_t kDnsPort = 53;

/// Our own side has run out of something: no other server would help.
bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM || error == EAGAIN;
}

std::string error_text(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "refused";
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EADDRNOTAVAIL:
    case ENETDOWN:
    case EAFNOSUPPORT:
      return "unreachable";
    case ECONNRESET:
    case EPIPE:
      return "connection lost";
    case ETIMEDOUT:
      return "timeout";
    case EMFILE:
    case ENFILE:
      return "no descriptors left";
    default:
      return fmt::format("errno {}", error);
  }
}

std::string server_text(const Endpoint& server) {
  return server.port == kDnsPort ? server.address.to_string() : server.to_string();
}

/// The server will not do it; another one of the list may.
bool is_refusal(ByteView message) {
  const auto rcode = static_cast<dns::Rcode>(dns::full_rcode(message));
  return rcode == dns::Rcode::ServFail || rcode == dns::Rcode::Refused;
}

}  // namespace

PlainCall::PlainCall(PlainWorld& world, PlainQuestion question, upstream::Exchanger::Done done)
    : world_(world),
      question_(std::move(question)),
      done_(std::move(done)),
      admitted_(world.in_flight < world.most_in_flight),
      begin_(world.loop, [this] { begin(); }) {
  assert(question_.message.size() >= dns::kHeaderSize);
  trail_.upstream = "route";
  trail_.exit = "plain";
  world_.in_flight += admitted_ ? 1 : 0;
  begin_.request();
}

PlainCall::~PlainCall() {
  world_.in_flight -= admitted_ ? 1 : 0;
}

void PlainCall::begin() {
  if (!admitted_) {
    overloaded("too many queries");
    return;
  }
  order_ = world_.servers.order(now());
  ask_next();
}

/// Each server once, for as long as there is time.
void PlainCall::ask_next() {
  tcp_.reset();
  while (position_ < order_.size() && now() < question_.deadline) {
    server_ = order_[position_++];
    trail_.host = server_text(world_.servers.endpoint(server_));
    const int error = ask_udp();
    if (error == 0) {
      return;
    }
    if (is_exhaustion(error)) {
      overloaded(error_text(error));
      return;
    }
    unreachable(error);
  }
  conclude();
}

int PlainCall::ask_udp() {
  udp_ = std::make_unique<UdpWire>(world_.loop, world_.servers.endpoint(server_), world_.buffer,
                                   [this](Received received) { on_udp(received); });
  draw_id();
  const int error = udp_->send(question_.message);
  if (error == 0) {
    arm();
  }
  return error;
}

/// The same question to the same server, whose datagram could not hold the answer (RFC 7766 §5).
int PlainCall::ask_tcp() {
  tcp_ = std::make_unique<TcpWire>(world_.loop, world_.servers.endpoint(server_), [this](Received received) { on_tcp(received); });
  udp_.reset();
  draw_id();
  const int error = tcp_->send(question_.message);
  if (error == 0) {
    arm();
  }
  return error;
}

/// Unpredictable, and a new one for each sending (RFC 5452 §9.2).
void PlainCall::draw_id() {
  id_ = static_cast<std::uint16_t>(world_.random.below(std::uint64_t{1} << 16U));
  question_.message[0] = static_cast<std::uint8_t>(id_ >> 8U);
  question_.message[1] = static_cast<std::uint8_t>(id_ & 0xFFU);
}

/// It was sent: this server has its share of the time that is left, the last one all of it.
void PlainCall::arm() {
  ++trail_.sendings;
  const Duration left = question_.deadline - now();
  const auto servers = static_cast<Duration::rep>(order_.size() - position_ + 1);
  timer_ = world_.loop.after(servers == 1 ? left : std::min(left / servers, world_.attempt), [this] { on_silence(); });
}

/// The message with id 0, if it has the id of the present sending.
std::optional<Bytes> PlainCall::ours(ByteView message) const {
  if (message.size() < dns::kHeaderSize || ((static_cast<unsigned>(message[0]) << 8U) | message[1]) != id_) {
    return std::nullopt;
  }
  Bytes copy(message.begin(), message.end());
  copy[0] = 0;
  copy[1] = 0;
  return copy;
}

/// What does not match is somebody else's or a forgery: the true answer may still come (RFC 5452 §9.1).
void PlainCall::on_udp(Received received) {
  if (!received) {
    unreachable(received.error());
    ask_next();
    return;
  }
  std::optional<Bytes> message = ours(*received);
  if (!message) {
    return;
  }
  const auto checked = dns::check_answer(question_.query, *message);
  const bool malformed = !checked && checked.error() == dns::AnswerFault::Malformed;
  if (!checked && !malformed) {
    return;
  }
  if (dns::is_truncated(*message)) {  // a cut message may end anywhere
    world_.servers.works(server_);
    if (const int error = ask_tcp(); is_exhaustion(error)) {
      overloaded(error_text(error));
    } else if (error != 0) {
      unreachable(error);
      ask_next();
    }
  } else if (malformed) {
    bad_answer(dns::to_string(checked.error()));
  } else {
    settle(std::move(*message));
  }
}

/// The connection is ours alone: a message that does not match is a fault of the server.
void PlainCall::on_tcp(Received received) {
  if (!received) {
    unreachable(received.error());
    ask_next();
    return;
  }
  std::optional<Bytes> message = ours(*received);
  if (!message) {
    bad_answer(dns::to_string(dns::AnswerFault::WrongId));
  } else if (const auto checked = dns::check_answer(question_.query, *message); !checked) {
    bad_answer(dns::to_string(checked.error()));
  } else if (dns::is_truncated(*message)) {
    bad_answer("truncated");
  } else {
    settle(std::move(*message));
  }
}

void PlainCall::on_silence() {
  unreachable(ETIMEDOUT);
  ask_next();
}

void PlainCall::settle(Bytes message) {
  world_.servers.works(server_);
  const bool goes_on = is_refusal(message) && position_ < order_.size();
  upstream::Answer answer{.message = std::move(message), .trail = trail_, .age = {}, .max_age = std::nullopt};
  if (goes_on) {
    refusal_ = std::move(answer);
    ask_next();
  } else {
    finish(std::move(answer));
  }
}

void PlainCall::unreachable(int error) {
  if (!tcp_) {  // who answers over UDP is alive
    world_.servers.failed(server_, now());
  }
  note(trail_.sendings == 0 ? upstream::Cause::NoReachableExit : upstream::Cause::NetworkError, error_text(error));
}

void PlainCall::bad_answer(std::string_view what) {
  note(upstream::Cause::BadAnswer, what);
  ask_next();
}

void PlainCall::note(upstream::Cause cause, std::string_view what) {
  cause_ = cause;
  stage_ = fmt::format("forward: {}{}", tcp_ ? "tcp " : "", what);  // whom it is about: trail_.host
}

/// Nobody is left or no time is: what a server said counts more than that others said nothing.
void PlainCall::conclude() {
  if (refusal_) {
    refusal_->trail.sendings = trail_.sendings;
    finish(std::move(*refusal_));
  } else {
    finish(std::unexpected(upstream::ExchangeError{.cause = cause_, .stage = std::move(stage_), .trail = std::move(trail_)}));
  }
}

void PlainCall::overloaded(std::string_view why) {
  finish(std::unexpected(
      upstream::ExchangeError{.cause = upstream::Cause::Overload, .stage = fmt::format("forward: {}", why), .trail = std::move(trail_)}));
}

/// The sockets are closed before the caller hears, whenever it lets go of this object.
void PlainCall::finish(std::expected<upstream::Answer, upstream::ExchangeError> result) {
  timer_.reset();
  udp_.reset();
  tcp_.reset();
  upstream::Exchanger::Done done = std::move(done_);
  done(std::move(result));
}

}  // namespace dohmux::forward
