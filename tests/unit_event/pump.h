// Turns a loop until something has happened; plain sockets of the test's own as the other side, on the same thread.
#pragma once

#include <dohmux/address.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/sockaddr.h"
#include "base/unique_fd.h"
#include "event/loop.h"

namespace dohmux::test {

/// False: it did not happen in time.
inline bool pump_until(event::Loop& loop, const std::function<bool()>& happened,
                       std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    const auto tick = loop.after(std::chrono::milliseconds(1), [&] { loop.stop(); });
    loop.run();
  }
  return true;
}

inline void pump_for(event::Loop& loop, std::chrono::milliseconds time) {
  const auto tick = loop.after(time, [&] { loop.stop(); });
  loop.run();
}

inline Endpoint local_endpoint(int fd) {
  SocketAddress got;
  got.length = sizeof got.storage;
  if (fd < 0) {
    return {};
  }
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&got.storage), &got.length);
  return from_sockaddr(got.get()).value_or(Endpoint{});
}

/// A listening socket on a free port of 127.0.0.1.
inline UniqueFd listen_anywhere() {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) {
    return fd;
  }
  const SocketAddress address = to_sockaddr(Endpoint{.address = *IpAddress::parse("127.0.0.1"), .port = 0});
  ::bind(fd.get(), address.get(), address.length);
  ::listen(fd.get(), 128);
  return fd;
}

/// A TCP client that never blocks except in connect (which loopback answers from the backlog).
class TcpClient {
 public:
  explicit TcpClient(const Endpoint& server, const char* from = nullptr, int receive_buffer = 0)
      : fd_(::socket(server.address.family == Family::V4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer != 0) {
      ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    if (from != nullptr) {
      const SocketAddress mine = to_sockaddr(Endpoint{.address = *IpAddress::parse(from), .port = 0});
      ::bind(fd_.get(), mine.get(), mine.length);
    }
    const SocketAddress address = to_sockaddr(server);
    connected_ = ::connect(fd_.get(), address.get(), address.length) == 0;
    const int on = 1;
    ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  [[nodiscard]] bool connected() const { return connected_; }
  bool send(ByteView octets) {
    return ::send(fd_.get(), octets.data(), octets.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(octets.size());
  }
  bool send(std::string_view text) {
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  void finish() { ::shutdown(fd_.get(), SHUT_WR); }
  void reset() {  // RST instead of FIN
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    fd_.reset();
  }
  void close() { fd_.reset(); }

  /// Takes what has arrived; see received(), ended().
  void take() { take(std::numeric_limits<std::size_t>::max()); }
  /// At most so much of it.
  void take(std::size_t limit) {
    std::array<std::uint8_t, 65536> chunk{};
    while (limit > 0) {
      const ssize_t count = ::recv(fd_.get(), chunk.data(), std::min(chunk.size(), limit), MSG_DONTWAIT);
      if (count > 0) {
        limit -= static_cast<std::size_t>(count);
        received_.insert(received_.end(), chunk.begin(), chunk.begin() + count);
        continue;
      }
      const bool failed = count < 0 && errno != EAGAIN && errno != EINTR;
      was_reset_ = was_reset_ || failed;
      ended_ = ended_ || count == 0 || failed;
      return;
    }
  }
  [[nodiscard]] bool ended() {
    take();
    return ended_;
  }
  [[nodiscard]] bool was_reset() const { return was_reset_; }  // RST instead of FIN
  [[nodiscard]] const Bytes& received() {
    take();
    return received_;
  }
  [[nodiscard]] std::string text() {
    take();
    return {received_.begin(), received_.end()};
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  Bytes received_;
  bool connected_ = false;
  bool ended_ = false;
  bool was_reset_ = false;
};

}  // namespace dohmux::test
