// recvmmsg and sendmmsg with packet information.
// It must not know DNS nor who reads the datagrams.
#include "server/udp_batch.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dohmux::server {

namespace {

void read_info(const msghdr& header, DatagramPath& path) {
  msghdr copy = header;  // CMSG_NXTHDR wants it mutable
  for (cmsghdr* part = CMSG_FIRSTHDR(&copy); part != nullptr; part = CMSG_NXTHDR(&copy, part)) {
    if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(part), sizeof info);
      // The address of ours to answer from; ipi_addr would be the broadcast address for a broadcast (ip(7)).
      std::memcpy(path.local.octets.data(), &info.ipi_spec_dst, sizeof info.ipi_spec_dst);
      path.interface = static_cast<std::uint32_t>(info.ipi_ifindex);
    } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(part), sizeof info);
      std::memcpy(path.local.octets.data(), &info.ipi6_addr, sizeof info.ipi6_addr);
      path.interface = info.ipi6_ifindex;
    }
  }
}

bool is_link_local(const IpAddress& address) {
  return address.family == Family::V6 && address.octets[0] == 0xFE && (address.octets[1] & 0xC0U) == 0x80;
}

template <typename Info>
std::size_t write_info(PacketInfo& room, int level, int type, const Info& info) {
  cmsghdr head{};
  head.cmsg_len = CMSG_LEN(sizeof info);
  head.cmsg_level = level;
  head.cmsg_type = type;
  room = {};
  std::memcpy(room.space.data(), &head, sizeof head);
  std::memcpy(room.space.data() + CMSG_LEN(0), &info, sizeof info);
  return CMSG_SPACE(sizeof info);
}

// The interface is left to routing (the way back may differ), except where an address means nothing without it.
std::size_t sender_info(PacketInfo& room, const DatagramPath& path) {
  if (path.local.is_unspecified()) {
    return 0;
  }
  if (path.local.family == Family::V4) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, path.local.octets.data(), sizeof info.ipi_spec_dst);
    return write_info(room, IPPROTO_IP, IP_PKTINFO, info);
  }
  in6_pktinfo info{};
  std::memcpy(&info.ipi6_addr, path.local.octets.data(), sizeof info.ipi6_addr);
  info.ipi6_ifindex = is_link_local(path.local) ? path.interface : 0;
  return write_info(room, IPPROTO_IPV6, IPV6_PKTINFO, info);
}

}  // namespace

ReceiveBatch::ReceiveBatch() : buffers_(std::make_unique_for_overwrite<Buffers>()) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    vectors_.at(i) = {.iov_base = buffers_->at(i).data(), .iov_len = kLargestQuery};
  }
}

int ReceiveBatch::receive(int fd) {
  for (std::size_t i = 0; i < kBatch; ++i) {  // the kernel has written into these
    msghdr& header = headers_.at(i).msg_hdr;
    header = {};
    header.msg_name = &peers_.at(i);
    header.msg_namelen = sizeof(sockaddr_in6);
    header.msg_iov = &vectors_.at(i);
    header.msg_iovlen = 1;
    header.msg_control = infos_.at(i).space.data();
    header.msg_controllen = infos_.at(i).space.size();
  }
  const int count = ::recvmmsg(fd, headers_.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (count < 0) {
    return errno == EAGAIN ? 0 : -errno;
  }
  return count;
}

ReceiveBatch::Datagram ReceiveBatch::at(std::size_t index) const {
  const mmsghdr& header = headers_.at(index);
  Datagram datagram;
  datagram.octets = ByteView(buffers_->at(index)).first(std::min<std::size_t>(header.msg_len, kLargestQuery));
  datagram.whole = (static_cast<unsigned>(header.msg_hdr.msg_flags) & static_cast<unsigned>(MSG_TRUNC)) == 0;
  const auto peer = from_sockaddr(reinterpret_cast<const sockaddr*>(&peers_.at(index)));
  datagram.from_internet = peer.has_value();
  if (peer) {
    datagram.path.peer = *peer;
    datagram.path.local.family = peer->address.family;
    read_info(header.msg_hdr, datagram.path);
  }
  return datagram;
}

void SendBatch::add(const DatagramPath& path, ByteView octets) {
  assert(!full());
  Slot& slot = slots_.at(count_++);
  slot.octets.assign(octets.begin(), octets.end());
  slot.peer = to_sockaddr(path.peer);
  if (is_link_local(path.peer.address)) {
    reinterpret_cast<sockaddr_in6*>(&slot.peer.storage)->sin6_scope_id = path.interface;
  }
  slot.info_length = sender_info(slot.info, path);
}

SendBatch::Outcome SendBatch::send(int fd) {
  std::array<mmsghdr, kBatch> headers{};
  std::array<iovec, kBatch> vectors{};
  for (std::size_t i = 0; i < count_; ++i) {
    Slot& slot = slots_.at(i);
    vectors.at(i) = {.iov_base = slot.octets.data(), .iov_len = slot.octets.size()};
    msghdr& header = headers.at(i).msg_hdr;
    header.msg_name = &slot.peer.storage;
    header.msg_namelen = slot.peer.length;
    header.msg_iov = &vectors.at(i);
    header.msg_iovlen = 1;
    header.msg_control = slot.info_length == 0 ? nullptr : slot.info.space.data();
    header.msg_controllen = slot.info_length;
  }
  Outcome outcome;
  const std::size_t total = std::exchange(count_, 0);
  for (std::size_t done = 0; done < total;) {
    const int sent = ::sendmmsg(fd, &headers.at(done), static_cast<unsigned>(total - done), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
      outcome.sent += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) {
      outcome.dropped += total - done;
      break;
    } else {  // this one only: no route, filtered, too large …
      ++done;
      ++outcome.dropped;
    }
  }
  return outcome;
}

}  // namespace dohmux::server
