// socket, options, bind, listen; and words for what goes wrong there.
// It must not know the loop: the sockets are handed to whoever serves them.
#include "server/bind.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/sockaddr.h"
#include "resolver/client.h"
#include "server/port_holder.h"

namespace dohmux::server {

namespace {

constexpr int kPortAttempts = 32;  // for port 0: the free UDP port may be taken on TCP

BindFault fault_of(int error) {
  switch (error) {
    case EAFNOSUPPORT:
    case EADDRNOTAVAIL:
    case EPROTONOSUPPORT:
      return BindFault::Missing;
    case EADDRINUSE:
      return BindFault::InUse;
    case EACCES:
    case EPERM:
      return BindFault::Forbidden;
    default:
      return BindFault::Other;
  }
}

std::string remedy(const Endpoint& endpoint, Protocol protocol, int error) {
  switch (fault_of(error)) {
    case BindFault::Missing:
      return error == EADDRNOTAVAIL ? "no interface of this host has that address; give one that it has, or remove the entry"
                                    : "this host has no such address family; remove the entry";
    case BindFault::InUse: {
      const auto holder = find_port_holder(endpoint, protocol);
      const std::string who = holder ? fmt::format("process {} ({}) has it; ", holder->pid, holder->name) : std::string();
      return who + "stop the other program or choose another address or port";
    }
    case BindFault::Forbidden:
      return "ports below 1024 need CAP_NET_BIND_SERVICE (the unit in systemd/ gives it); or choose a port from 1024 on";
    case BindFault::Other:
      break;
  }
  return "see the error of the operating system";
}

BindError describe(const Endpoint& endpoint, Protocol protocol, int error) {
  const std::string_view transport = protocol == Protocol::Udp ? "udp" : "tcp";
  const char* name = ::strerrorname_np(error);
  return {.fault = fault_of(error),
          .text = fmt::format("cannot listen on {} {}: {} ({}); {}", endpoint.to_string(), transport, ::strerrordesc_np(error),
                              name != nullptr ? name : "?", remedy(endpoint, protocol, error))};
}

bool set_option(int fd, int level, int option) {
  const int on = 1;
  return ::setsockopt(fd, level, option, &on, sizeof on) == 0;
}

// The errno of the first step that failed.
std::expected<BoundSocket, int> open_bound(const Endpoint& endpoint, Protocol protocol) {
  const int family = endpoint.address.family == Family::V4 ? AF_INET : AF_INET6;
  const int type = protocol == Protocol::Udp ? SOCK_DGRAM : SOCK_STREAM;
  UniqueFd fd(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) {
    return std::unexpected(errno);
  }
  // TCP: past connections in TIME_WAIT must not stop a restart. On UDP the same option would let two daemons share
  // the port and steal each other's queries.
  if (protocol == Protocol::Tcp && !set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR)) {
    return std::unexpected(errno);
  }
  // [::] means IPv6 only, so that 0.0.0.0 can have the same port and IPv4 clients have IPv4 addresses.
  if (family == AF_INET6 && !set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY)) {
    return std::unexpected(errno);
  }
  const SocketAddress wanted = to_sockaddr(endpoint);
  if (::bind(fd.get(), wanted.get(), wanted.length) != 0) {
    return std::unexpected(errno);
  }
  if (protocol == Protocol::Tcp && ::listen(fd.get(), SOMAXCONN) != 0) {
    return std::unexpected(errno);
  }
  SocketAddress got;
  got.length = sizeof got.storage;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&got.storage), &got.length) != 0) {
    return std::unexpected(errno);
  }
  return BoundSocket{.fd = std::move(fd), .endpoint = from_sockaddr(got.get()).value_or(endpoint)};
}

}  // namespace

std::expected<DnsSockets, BindError> bind_dns(const Endpoint& endpoint) {
  for (int attempt = 1;; ++attempt) {
    auto udp = open_bound(endpoint, Protocol::Udp);
    if (!udp) {
      return std::unexpected(describe(endpoint, Protocol::Udp, udp.error()));
    }
    auto tcp = open_bound(udp->endpoint, Protocol::Tcp);
    if (tcp) {
      return DnsSockets{.udp = std::move(*udp), .tcp = std::move(*tcp)};
    }
    if (endpoint.port != 0 || tcp.error() != EADDRINUSE || attempt == kPortAttempts) {
      return std::unexpected(describe(udp->endpoint, Protocol::Tcp, tcp.error()));
    }
  }
}

std::expected<BoundSocket, BindError> bind_tcp(const Endpoint& endpoint) {
  auto socket = open_bound(endpoint, Protocol::Tcp);
  if (!socket) {
    return std::unexpected(describe(endpoint, Protocol::Tcp, socket.error()));
  }
  return std::move(*socket);
}

}  // namespace dohmux::server
