// Datagrams in batches: one system call for up to kBatch of them, with the addresses at both ends.
#pragma once

#include <dohmux/address.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/sockaddr.h"

namespace dohmux::server {

inline constexpr std::size_t kBatch = 32;

/// Where a datagram came from and where it went to.
struct DatagramPath {
  Endpoint peer;
  IpAddress local;              // unspecified: the kernel did not tell
  std::uint32_t interface = 0;  // 0: the kernel did not tell
};

/// Room for the address of our end (IP_PKTINFO, RFC 3542 IPV6_PKTINFO).
struct alignas(cmsghdr) PacketInfo {
  std::array<std::byte, CMSG_SPACE(sizeof(in6_pktinfo))> space{};
};

/// Buffers for one recvmmsg, made once. What is larger than kLargestQuery arrives cut.
class ReceiveBatch {
 public:
  static constexpr std::size_t kLargestQuery = 8192;

  struct Datagram {
    ByteView octets;  // valid until the next receive()
    DatagramPath path;
    bool whole = true;
    bool from_internet = true;  // false: no IP sender, cannot be answered
  };

  ReceiveBatch();
  /// How many have arrived; 0: none; negative: -errno.
  [[nodiscard]] int receive(int fd);
  [[nodiscard]] Datagram at(std::size_t index) const;

 private:
  using Buffers = std::array<std::array<std::uint8_t, kLargestQuery>, kBatch>;
  std::unique_ptr<Buffers> buffers_;  // not initialised: pages are touched only as far as datagrams fill them
  std::array<mmsghdr, kBatch> headers_{};
  std::array<iovec, kBatch> vectors_{};
  std::array<sockaddr_in6, kBatch> peers_{};  // large enough for IPv4, too
  std::array<PacketInfo, kBatch> infos_{};
};

/// Datagrams that wait for one sendmmsg. The slots keep their memory.
class SendBatch {
 public:
  struct Outcome {
    std::size_t sent = 0;
    std::size_t dropped = 0;
  };

  [[nodiscard]] bool full() const noexcept { return count_ == kBatch; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Copies. REQUIRES: not full().
  void add(const DatagramPath& path, ByteView octets);
  /// Empties the batch: what the kernel does not take now is dropped (UDP clients ask again; waiting would delay all).
  Outcome send(int fd);

 private:
  struct Slot {
    Bytes octets;
    SocketAddress peer;
    PacketInfo info;
    std::size_t info_length = 0;
  };
  std::array<Slot, kBatch> slots_{};
  std::size_t count_ = 0;
};

}  // namespace dohmux::server
