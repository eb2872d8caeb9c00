// The UDP listener: a socket of our own on event::Poll, because libuv's has neither packet information nor drop counts.
// It must not know what is asked, nor who answers.
#include "server/udp_listener.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

namespace dohmux::server {

namespace {

constexpr int kBatchesPerTurn = 4;  // then the upstream's sockets have their turn
constexpr int kLastBatches = 128;   // when reading ends: what the kernel can hold, but not a flood without end
constexpr int kMaxErrorsInARow = 64;

// A reply to these would be answered in turn, or set by a forger to make two servers talk for ever:
// echo-like services and Kerberos' password port. Port 0 cannot be answered.
constexpr std::array<std::uint16_t, 6> kNeverAnswered{0, 7, 13, 19, 37, 464};

void set_int(int fd, int level, int option, int value) {
  static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));  // each is an improvement, none a condition
}

}  // namespace

UdpListener::UdpListener(event::Loop& loop, BoundSocket socket, QuerySink& sink)
    : socket_(std::move(socket)),
      sink_(&sink),
      send_(loop, [this] { flush(); }),
      poll_(loop, socket_.fd.get(), [this](event::Ready, int) { read_some(kBatchesPerTurn); }) {
  set_options();
  poll_.watch(event::Ready::Read);
}

void UdpListener::set_options() {
  const int fd = socket_.fd.get();
  if (socket_.endpoint.address.family == Family::V4) {
    set_int(fd, IPPROTO_IP, IP_PKTINFO, 1);
    // No path MTU from forged ICMP, no DF bit: a reply is at most 1232 octets and is never fragmented by us.
    set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT);
  } else {
    set_int(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT);
  }
  int wanted = kWantedReceiveBuffer;
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0) {
    set_int(fd, SOL_SOCKET, SO_RCVBUF, wanted);
  }
  socklen_t length = sizeof receive_buffer_;
  static_cast<void>(::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer_, &length));
  receive_buffer_ /= 2;  // the kernel doubles what it grants, for its own bookkeeping (socket(7))
}

void UdpListener::read_some(int max_batches) {
  int errors = 0;
  for (int batch = 0; batch < max_batches && errors < kMaxErrorsInARow;) {
    const int count = incoming_.receive(socket_.fd.get());
    if (count < 0) {  // reading the error clears it
      ++counters_.receive_errors;
      ++errors;
      continue;
    }
    for (int i = 0; i < count; ++i) {
      take(incoming_.at(static_cast<std::size_t>(i)));
    }
    if (static_cast<std::size_t>(count) < kBatch) {
      return;
    }
    ++batch;
  }
}

void UdpListener::take(const ReceiveBatch::Datagram& datagram) {
  const Endpoint& peer = datagram.path.peer;
  const bool ourselves = peer.port == socket_.endpoint.port && peer.address == datagram.path.local;
  if (!datagram.from_internet || ourselves || std::ranges::find(kNeverAnswered, peer.port) != kNeverAnswered.end()) {
    ++counters_.dropped_ports;
    return;
  }
  if (!datagram.whole) {
    ++counters_.dropped_large;
    return;
  }
  ++counters_.queries;
  const Client client{.via = this,
                      .connection = 0,
                      .protocol = Protocol::Udp,
                      .peer = peer,
                      .local = datagram.path.local,
                      .interface = datagram.path.interface};
  sink_->submit(client, datagram.octets);
}

void UdpListener::stop_reading() {
  poll_.stop();
  read_some(kLastBatches);
}

void UdpListener::reply(const Client& client, ByteView message) {
  if (outgoing_.full()) {
    flush();
  }
  outgoing_.add({.peer = client.peer, .local = client.local, .interface = client.interface}, message);
  send_.request();
}

void UdpListener::no_reply(const Client&) {}

void UdpListener::flush() {
  if (outgoing_.empty()) {
    return;
  }
  const SendBatch::Outcome outcome = outgoing_.send(socket_.fd.get());
  counters_.replies += outcome.sent;
  counters_.dropped_replies += outcome.dropped;
}

std::uint64_t UdpListener::kernel_drops() const noexcept {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket_.fd.get(), SOL_SOCKET, SO_MEMINFO, info.data(), &length) != 0) {
    return 0;
  }
  return info.at(SK_MEMINFO_DROPS);
}

}  // namespace dohmux::server
