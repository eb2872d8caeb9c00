// Bookkeeping of sockets.
// It must not know libcurl or what travels on the connections.
#include "transport/curl/connections.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace dohmux::transport {

namespace {

// Unique over all lanes and workers, so that an id in a log or a report names one connection.
std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Connection* Connections::open(int family, const void* opener) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (fd < 0) {
    return nullptr;
  }
  Connection& connection = all_.emplace_back();
  connection.id = next_id();
  connection.fd = fd;
  connection.opener = opener;
  return &connection;
}

void Connections::close(int fd) noexcept {
  const auto found = std::ranges::find(all_, fd, &Connection::fd);
  if (found != all_.end()) {
    found->end = tcp_snapshot(fd);
    found->fd = -1;
    found->up = false;
  }
  ::close(fd);
  prune();
}

Connection* Connections::by_port(std::uint16_t port) noexcept {
  const auto found = std::ranges::find_if(all_, [port](Connection& connection) {
    if (connection.fd >= 0 && connection.port == 0) {
      connection.port = local_port(connection.fd);
    }
    return connection.fd >= 0 && connection.port == port;
  });
  return found == all_.end() ? nullptr : &*found;
}

Connection* Connections::by_id(std::uint64_t id) noexcept {
  const auto found = std::ranges::find(all_, id, &Connection::id);
  return found == all_.end() ? nullptr : &*found;
}

void Connections::release(const void* opener) noexcept {
  for (Connection& connection : all_) {
    if (connection.opener == opener) {
      connection.opener = nullptr;
    }
  }
  prune();
}

void Connections::leave(Connection& connection, TimePoint now) noexcept {
  --connection.streams;
  connection.last_used = now;
  prune();
}

std::size_t Connections::alive() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      all_, [](const Connection& connection) { return connection.usable() && connection.tcp().state == TcpState::Established; }));
}

bool Connections::any_alive() const noexcept {
  return std::ranges::any_of(all_, [](const Connection& connection) {
    return connection.usable() && (connection.streams > 0 || connection.tcp().state == TcpState::Established);
  });
}

bool Connections::any_idle_dead() const noexcept {
  return std::ranges::any_of(all_, [](const Connection& connection) {
    return connection.up && connection.fd >= 0 && connection.streams == 0 && connection.tcp().state != TcpState::Established;
  });
}

void Connections::retire_idle() noexcept {
  for (Connection& connection : all_) {
    if (connection.up && connection.streams == 0) {
      connection.spent = true;
    }
  }
}

void Connections::prune() noexcept {
  all_.remove_if([](const Connection& connection) { return connection.fd < 0 && connection.streams == 0 && connection.opener == nullptr; });
}

}  // namespace dohmux::transport
