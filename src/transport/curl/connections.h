// One lane's sockets, from the moment libcurl asks for one until it closes it: who they are, what they carry,
// and what the kernel says about them. libcurl names a connection by its local port only (curl.md §5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "base/scheduler.h"
#include "transport/curl/tcp.h"

namespace dohmux::transport {

struct Connection {
  std::uint64_t id = 0;
  int fd = -1;                   // -1 once libcurl has closed it
  std::uint16_t port = 0;        // local; 0 until first asked for
  const void* opener = nullptr;  // the dial or transfer that is opening it
  bool up = false;               // past its TLS handshake
  bool spent = false;            // libcurl will put nothing more on it, or we have evicted it
  bool evicted = false;
  bool answered = false;  // has answered a request, so the server's SETTINGS have arrived
  bool woken = false;     // used again after having been idle, and nothing has been answered since
  TimePoint up_at;
  TimePoint last_used;
  std::size_t streams = 0;  // requests on it now
  std::uint64_t carried = 0;
  TcpSnapshot end;  // the last state, once closed

  [[nodiscard]] TcpSnapshot tcp() const noexcept { return fd >= 0 ? tcp_snapshot(fd) : end; }
  [[nodiscard]] bool usable() const noexcept { return up && !spent && fd >= 0; }
};

class Connections {
 public:
  /// A new socket for libcurl, or null with errno set.
  [[nodiscard]] Connection* open(int family, const void* opener);
  /// libcurl is done with `fd`: closes it. The record stays while something refers to it.
  void close(int fd) noexcept;
  /// The live connection with that local port; null if there is none.
  [[nodiscard]] Connection* by_port(std::uint16_t port) noexcept;
  [[nodiscard]] Connection* by_id(std::uint64_t id) noexcept;
  /// The dial or transfer refers to its connections no longer.
  void release(const void* opener) noexcept;
  /// One request less on it.
  void leave(Connection& connection, TimePoint now) noexcept;
  /// How many are usable, as far as the kernel knows.
  [[nodiscard]] std::size_t alive() const noexcept;
  /// Whether there is any; one that carries requests counts without asking (libcurl watches it).
  [[nodiscard]] bool any_alive() const noexcept;
  /// Whether one that carries nothing has been closed by its peer.
  [[nodiscard]] bool any_idle_dead() const noexcept;
  /// An idle connection that libcurl passed over is dead to it; none of them counts any more.
  void retire_idle() noexcept;

  [[nodiscard]] const std::list<Connection>& all() const noexcept { return all_; }

 private:
  void prune() noexcept;

  std::list<Connection> all_;  // in order of opening, which is also the order in which libcurl prefers them
};

}  // namespace dohmux::transport
