// getsockopt(TCP_INFO) in our words.
// It must not know libcurl.
#include "transport/curl/tcp.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace dohmux::transport {

namespace {

// The kernel's numbers (include/net/tcp_states.h); <netinet/tcp.h>, which names them, clashes with <linux/tcp.h>.
constexpr int kEstablished = 1;
constexpr int kSynSent = 2;
constexpr int kFinWait1 = 4;
constexpr int kFinWait2 = 5;
constexpr int kTimeWait = 6;
constexpr int kCloseWait = 8;
constexpr int kLastAck = 9;
constexpr int kClosing = 11;

constexpr unsigned kUnacknowledgedMs = 5000;

TcpState state_of(int number) noexcept {
  switch (number) {
    case kEstablished:
      return TcpState::Established;
    case kSynSent:
      return TcpState::Opening;
    case kCloseWait:
    case kLastAck:
      return TcpState::PeerClosed;
    case kFinWait1:
    case kFinWait2:
    case kTimeWait:
    case kClosing:
      return TcpState::LocalClosed;
    default:
      return TcpState::Dead;
  }
}

}  // namespace

TcpSnapshot tcp_snapshot(int fd) noexcept {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (fd < 0 || ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
    return {};
  }
  const bool counted = length >= offsetof(tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received);
  return {.state = state_of(info.tcpi_state), .received = counted ? info.tcpi_bytes_received : 0};
}

std::uint16_t local_port(int fd) noexcept {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return 0;
  }
  if (storage.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  }
  return storage.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port) : std::uint16_t{0};
}

void limit_unacknowledged(int fd) noexcept {
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMs, sizeof(kUnacknowledgedMs));
}

}  // namespace dohmux::transport
