// Queries over UDP: datagrams in, replies out, from the address that was asked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event/deferred.h"
#include "event/loop.h"
#include "event/poll.h"
#include "resolver/client.h"
#include "server/bind.h"
#include "server/udp_batch.h"

namespace dohmux::server {

struct UdpCounters {
  std::uint64_t queries = 0;          // handed to the sink
  std::uint64_t replies = 0;          // given to the kernel
  std::uint64_t dropped_ports = 0;    // source port 0 or of a service that answers anything, or our own address
  std::uint64_t dropped_large = 0;    // above ReceiveBatch::kLargestQuery
  std::uint64_t dropped_replies = 0;  // the kernel would not take them (EAGAIN, ENOBUFS, no route …)
  std::uint64_t receive_errors = 0;   // ICMP errors and the like; harmless
};

class UdpListener final : public ReplySink {
 public:
  static constexpr int kWantedReceiveBuffer = 4 * 1024 * 1024;  // net.core.rmem_max may allow less

  /// `loop` and `sink` outlive it. Queries arrive from the next loop turn on.
  UdpListener(event::Loop& loop, BoundSocket socket, QuerySink& sink);

  /// Later queries go to `sink` (reload).
  void set_sink(QuerySink& sink) noexcept { sink_ = &sink; }
  /// Hands over what has arrived already (submit() runs inside this call), then reads nothing more. Replies still leave.
  void stop_reading();
  /// Sends what waits for the end of the loop turn now.
  void flush();

  void reply(const Client& client, ByteView message) override;
  void no_reply(const Client& client) override;

  [[nodiscard]] const Endpoint& endpoint() const noexcept { return socket_.endpoint; }
  [[nodiscard]] const UdpCounters& counters() const noexcept { return counters_; }
  /// Octets of receive buffer that the kernel granted; 4 MiB were asked for.
  [[nodiscard]] int receive_buffer() const noexcept { return receive_buffer_; }
  /// Datagrams that the kernel dropped because we were too slow (SO_MEMINFO).
  [[nodiscard]] std::uint64_t kernel_drops() const noexcept;

 private:
  void set_options();
  void read_some(int max_batches);
  void take(const ReceiveBatch::Datagram& datagram);

  BoundSocket socket_;
  QuerySink* sink_;
  UdpCounters counters_;
  int receive_buffer_ = 0;
  ReceiveBatch incoming_;
  SendBatch outgoing_;
  event::Deferred send_;
  event::Poll poll_;  // last: dies before the socket
};

}  // namespace dohmux::server
