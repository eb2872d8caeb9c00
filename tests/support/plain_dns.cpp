// The scripted plain DNS server. One thread, poll(), a short tick; shares no code with the daemon.
#include "support/plain_dns.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace dohmux::test {
namespace {

using namespace std::chrono_literals;

constexpr int kTickMs = 5;
constexpr int kManyRecords = 120;  // more than any UDP answer holds
constexpr unsigned kQrRdRa = 0x8180;
constexpr unsigned kTc = 0x0200;

unsigned u16(const Octets& message, std::size_t at) {
  return at + 1 < message.size() ? (static_cast<unsigned>(message[at]) << 8U) | message[at + 1] : 0;
}

/// Octets of the first question's name.
Octets name_octets(const Octets& query) {
  std::size_t end = 12;
  while (end < query.size() && query[end] != 0) {
    end += query[end] + std::size_t{1};
  }
  return end < query.size() ? Octets(query.begin() + 12, query.begin() + static_cast<std::ptrdiff_t>(end) + 1) : Octets{0};
}

std::string dotted(const Octets& name) {
  std::string text;
  for (std::size_t at = 0; at < name.size() && name[at] != 0; at += name[at] + std::size_t{1}) {
    text += (text.empty() ? "" : ".");
    for (std::size_t i = at + 1; i <= at + name[at] && i < name.size(); ++i) {
      text += static_cast<char>(name[i]);
    }
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// An empty answer to `query`.
MessageBuilder reply_to(const Octets& query, unsigned flags) {
  const Octets name = name_octets(query);
  MessageBuilder builder;
  builder.id(static_cast<std::uint16_t>(u16(query, 0))).flags(flags);
  builder.question(name, u16(query, 12 + name.size()), u16(query, 14 + name.size()));
  return builder;
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool bind_to(int fd, std::uint16_t port) {
  const sockaddr_in address = loopback(port);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

bool truncates(PlainMode mode) {
  switch (mode) {
    case PlainMode::Truncated:
    case PlainMode::TruncatedCutOff:
    case PlainMode::TruncatedNoTcp:
    case PlainMode::TruncatedSilent:
    case PlainMode::TruncatedTwice:
    case PlainMode::TruncatedWrongId:
    case PlainMode::TruncatedDrip:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct PlainDns::Connection {
  explicit Connection(int socket) : fd(socket) {}
  ~Connection() { ::close(fd); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void write(const Octets& octets) const { [[maybe_unused]] const auto sent = ::send(fd, octets.data(), octets.size(), MSG_NOSIGNAL); }
  void write_framed(const Octets& message) const { write(be16(static_cast<unsigned>(message.size())) + message); }

  int fd;
  Octets incoming;
  bool over = false;
};

PlainDns::PlainDns(PlainMode mode, Octets address) : address_(std::move(address)), mode_(mode) {
  for (int i = 0; i < 50 && port_ == 0; ++i) {  // a port that is free for both
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int buffer = 4 << 20;
    ::setsockopt(udp_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    if (bind_to(listener_, 0) && ::listen(listener_, 1024) == 0 && bind_to(udp_, port_of(listener_))) {
      port_ = port_of(listener_);
    } else {
      ::close(listener_);
      ::close(udp_);
    }
  }
  thread_ = std::thread([this] { serve(); });
}

PlainDns::~PlainDns() {
  stopping_ = true;
  thread_.join();
  if (port_ != 0) {
    ::close(udp_);
    ::close(listener_);
  }
}

void PlainDns::mode(PlainMode mode) {
  mode_ = mode;
}

std::vector<PlainDns::Asked> PlainDns::asked() const {
  const std::scoped_lock lock(mutex_);
  return asked_;
}

std::size_t PlainDns::count(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(asked_, [wanted = lower(name)](const Asked& one) { return lower(one.name) == wanted; }));
}

bool PlainDns::wait_for(std::size_t questions) const {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (count() < questions) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

void PlainDns::serve() {
  std::vector<pollfd> watched;
  while (!stopping_) {
    watched = {{.fd = udp_, .events = POLLIN, .revents = 0}, {.fd = listener_, .events = POLLIN, .revents = 0}};
    for (const auto& connection : connections_) {
      watched.push_back({.fd = connection->fd, .events = POLLIN, .revents = 0});
    }
    ::poll(watched.data(), watched.size(), kTickMs);
    on_datagram();
    for (std::size_t i = 2; i < watched.size(); ++i) {
      if (watched[i].revents != 0) {
        on_octets(*connections_[i - 2]);
      }
    }
    std::erase_if(connections_, [](const auto& connection) { return connection->over; });
    for (int fd = 0; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
      connections_.push_back(std::make_unique<Connection>(fd));
      connections_.back()->over = mode_ == PlainMode::TruncatedNoTcp;
    }
    std::erase_if(connections_, [](const auto& connection) { return connection->over; });
    if (const PlainMode now = mode_; now != PlainMode::Held) {
      for (const Waiting& waiting : std::exchange(held_, {})) {
        answer_udp(now, waiting.query, waiting.from);
      }
    }
  }
}

void PlainDns::on_datagram() {
  Octets buffer(65535);
  for (;;) {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const ssize_t size = ::recvfrom(udp_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) {
      return;
    }
    const Octets query(buffer.begin(), buffer.begin() + size);
    remember(query, from, false);
    answer_udp(mode_, query, from);
  }
}

void PlainDns::on_octets(Connection& connection) {
  std::array<std::uint8_t, 4096> chunk{};
  const ssize_t size = ::recv(connection.fd, chunk.data(), chunk.size(), 0);
  if (size <= 0) {
    connection.over = true;
    return;
  }
  connection.incoming.insert(connection.incoming.end(), chunk.begin(), chunk.begin() + size);
  const std::size_t length = u16(connection.incoming, 0);
  if (connection.incoming.size() < 2 || connection.incoming.size() - 2 < length) {
    return;
  }
  const Octets query(connection.incoming.begin() + 2, connection.incoming.begin() + 2 + static_cast<std::ptrdiff_t>(length));
  connection.incoming.clear();
  sockaddr_in from{};
  socklen_t from_length = sizeof from;
  ::getpeername(connection.fd, reinterpret_cast<sockaddr*>(&from), &from_length);
  remember(query, from, true);
  answer_tcp(mode_, query, connection);
}

Octets PlainDns::good(const Octets& query, int records) const {
  MessageBuilder reply = reply_to(query, kQrRdRa);
  const Octets name = name_octets(query);
  for (int i = 0; i < records && u16(query, 12 + name.size()) == 1; ++i) {
    reply.answer(a(name, 300, i == 0 ? address_ : Octets{198, 51, 100, static_cast<std::uint8_t>(i)}));
  }
  return reply.additional(opt()).build();
}

void PlainDns::answer_udp(PlainMode mode, const Octets& query, const sockaddr_in& to) {
  if (truncates(mode)) {
    MessageBuilder reply = reply_to(query, kQrRdRa | kTc);
    if (mode == PlainMode::TruncatedCutOff) {
      reply.counts({1, 1, 0, 0}).raw({0xC0, 12, 0});
    }
    send(reply.build(), to);
    return;
  }
  switch (mode) {
    case PlainMode::Silent:
      return;
    case PlainMode::Held:
      held_.push_back({.query = query, .from = to});
      return;
    case PlainMode::WrongId:
      send(MessageBuilder(reply_to(query, kQrRdRa)).id(static_cast<std::uint16_t>(u16(query, 0) + 1)).build(), to);
      return;
    case PlainMode::ServFail:
      send(reply_to(query, kQrRdRa | 2U).build(), to);
      return;
    case PlainMode::Refused:
      send(reply_to(query, kQrRdRa | 5U).build(), to);
      return;
    case PlainMode::Malformed:
      send(reply_to(query, kQrRdRa).counts({1, 1, 0, 0}).raw({0xC0, 12, 0}).build(), to);
      return;
    case PlainMode::Forged:
      forge(query, to);
      break;
    default:
      break;
  }
  send(good(query), to);
}

/// What an attacker could send, each wrong in one thing only, all with a record that must never be believed.
void PlainDns::forge(const Octets& query, const sockaddr_in& to) const {
  const Octets name = name_octets(query);
  const Octets lie = rr_octets(a(name, 300, {203, 0, 113, 66}));
  const auto id = static_cast<std::uint16_t>(u16(query, 0));
  const unsigned type = u16(query, 12 + name.size());
  const auto message = [&](std::uint16_t with_id, unsigned flags, const Octets& question) {
    return MessageBuilder().id(with_id).flags(flags).counts({1, 1, 0, 0}).raw(question + lie).build();
  };
  const Octets asked = name + be16(type) + be16(1);
  send(message(static_cast<std::uint16_t>(id ^ 1U), kQrRdRa, asked), to);
  send(message(id, kQrRdRa, wire("other.example") + be16(type) + be16(1)), to);
  send(message(id, kQrRdRa, name + be16(type + 1) + be16(1)), to);
  send(message(id, kQrRdRa, name + be16(type) + be16(3)), to);
  send(message(id, 0x0100, asked), to);
  send(message(id, kQrRdRa | 0x2000U, asked), to);
  send(Octets{}, to);
  send(Octets{1, 2, 3}, to);
  const int other = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const Octets right = message(id, kQrRdRa, asked);
  ::sendto(other, right.data(), right.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  ::close(other);
}

void PlainDns::answer_tcp(PlainMode mode, const Octets& query, Connection& connection) {
  switch (mode) {
    case PlainMode::TruncatedSilent:
    case PlainMode::Silent:
      return;
    case PlainMode::TruncatedTwice:
      connection.write_framed(reply_to(query, kQrRdRa | kTc).build());
      return;
    case PlainMode::TruncatedWrongId:
      connection.write_framed(reply_to(query, kQrRdRa).id(static_cast<std::uint16_t>(u16(query, 0) ^ 1U)).build());
      return;
    case PlainMode::TruncatedDrip: {
      const Octets message = good(query, kManyRecords);
      for (const std::uint8_t octet : be16(static_cast<unsigned>(message.size())) + message) {
        connection.write({octet});
      }
      return;
    }
    default:
      connection.write_framed(good(query, kManyRecords));
      return;
  }
}

void PlainDns::remember(const Octets& query, const sockaddr_in& from, bool tcp) {
  const Octets name = name_octets(query);
  const std::scoped_lock lock(mutex_);
  asked_.push_back({.name = dotted(name),
                    .type = static_cast<std::uint16_t>(u16(query, 12 + name.size())),
                    .id = static_cast<std::uint16_t>(u16(query, 0)),
                    .source_port = ntohs(from.sin_port),
                    .tcp = tcp,
                    .message = query});
}

void PlainDns::send(const Octets& message, const sockaddr_in& to) const {
  ::sendto(udp_, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

}  // namespace dohmux::test
