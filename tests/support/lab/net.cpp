// Loopback sockets of the lab.
// Must not know what is spoken on them. Ports are reserved with SO_REUSEPORT, so that "refuse" can close a listener and
// reopen it on the same number although other programs on the machine are looking for free ports.
#include "support/lab/net.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace lab {

namespace {

sockaddr_in loopback(std::uint32_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(host);
  return address;
}

std::string error_text(std::string_view what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<UniqueFd> bound_socket(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    return std::unexpected(error_text("socket"));
  }
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  const sockaddr_in address = loopback(INADDR_LOOPBACK, port);
  if (::bind(fd.get(), generic(address), sizeof address) != 0) {
    return std::unexpected(error_text(fmt::format("bind 127.0.0.1:{}", port)));
  }
  return fd;
}

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

void UniqueFd::reset() noexcept {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
}

Result<ReservedPort> reserve_port(std::uint16_t port) {
  auto fd = bound_socket(port);
  if (!fd) {
    return std::unexpected(fd.error());
  }
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ::getsockname(fd->get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ReservedPort{std::move(*fd), ntohs(address.sin_port)};
}

Result<UniqueFd> listen_on(std::uint16_t port) {
  auto fd = bound_socket(port);
  if (fd && ::listen(fd->get(), 1024) != 0) {
    return std::unexpected(error_text("listen"));
  }
  return fd;
}

UniqueFd accept_from(int listener, sockaddr_in& peer) {
  socklen_t length = sizeof peer;
  UniqueFd fd(::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd.valid()) {
    no_delay(fd.get());
  }
  return fd;
}

Result<UniqueFd> connect_from(std::uint8_t source_host, std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    return std::unexpected(error_text("socket"));
  }
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  const sockaddr_in source = loopback(INADDR_LOOPBACK + 0xffU + source_host, 0);  // 127.0.1.x
  if (::bind(fd.get(), generic(source), sizeof source) != 0) {
    return std::unexpected(error_text("bind source"));
  }
  no_delay(fd.get());
  const sockaddr_in target = loopback(INADDR_LOOPBACK, port);
  if (::connect(fd.get(), generic(target), sizeof target) != 0 && errno != EINPROGRESS) {
    return std::unexpected(error_text("connect"));
  }
  return fd;
}

Io read_some(int fd, std::string& into, std::size_t limit) {
  std::array<char, 16384> buffer{};
  std::size_t total = 0;
  while (total < limit) {
    const ssize_t count = ::recv(fd, buffer.data(), std::min(buffer.size(), limit - total), 0);
    if (count > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(count));
      total += static_cast<std::size_t>(count);
      continue;
    }
    if (count == 0) {
      return Io::Closed;
    }
    if (errno == EINTR) {
      continue;
    }
    return errno == EAGAIN ? Io::Blocked : Io::Failed;
  }
  return Io::Done;
}

Io write_some(int fd, std::string& data) {
  std::size_t sent = 0;
  Io outcome = Io::Done;
  while (sent < data.size()) {
    const ssize_t count = ::send(fd, data.data() + sent, data.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (errno == EINTR) {
      continue;
    }
    outcome = errno == EAGAIN ? Io::Blocked : Io::Failed;
    break;
  }
  data.erase(0, sent);
  return outcome;
}

void make_close_abortive(int fd) {
  const linger abortive{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &abortive, sizeof abortive);
}

}  // namespace lab
