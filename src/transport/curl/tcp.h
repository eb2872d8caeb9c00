// What the kernel knows about a TCP socket.
#pragma once

#include <cstdint>

namespace dohmux::transport {

enum class TcpState : std::uint8_t {
  Opening,      // SYN sent, not answered
  Established,  //
  PeerClosed,   // the peer sent FIN
  LocalClosed,  // we sent FIN (an evicted connection)
  Dead,         // reset, refused or timed out
};

struct TcpSnapshot {
  TcpState state = TcpState::Dead;
  std::uint64_t received = 0;  // octets of payload received so far
};

/// Asks the kernel; Dead when it does not know the socket.
[[nodiscard]] TcpSnapshot tcp_snapshot(int fd) noexcept;
/// Host byte order; 0 while unbound.
[[nodiscard]] std::uint16_t local_port(int fd) noexcept;
/// Bounds how long sent data may stay unacknowledged: the second net for a path that died (curl.md §5, §11.4).
void limit_unacknowledged(int fd) noexcept;

}  // namespace dohmux::transport
