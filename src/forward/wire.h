// How one question travels to one plain resolver: a UDP socket or a TCP connection of its own.
#pragma once

#include <dohmux/address.h>

#include <expected>
#include <memory>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/unique_fd.h"
#include "event/callback_slot.h"
#include "event/loop.h"
#include "event/poll.h"
#include "event/tcp_stream.h"

namespace dohmux::forward {

/// A message as it came, unchecked, valid until the wire is gone or the callback returns; or the errno that ended it.
/// Never called inline. The callback may destroy the wire.
using Heard = event::CallbackSlot<std::expected<ByteView, int>>::Callback;

/// One datagram out, any number in. The socket is fresh and its port the kernel's random choice (RFC 5452 §9.2); it is
/// connected, and what another address sends is dropped (§9.1).
class UdpWire {
 public:
  /// `buffer` is lent for the time of a read; it may be shared by all wires of a loop.
  UdpWire(event::Loop& loop, const Endpoint& server, std::span<std::uint8_t> buffer, Heard heard);

  /// 0, or the errno because of which nothing was sent; then nothing will be heard.
  [[nodiscard]] int send(ByteView message);

 private:
  void ready(int watch_error);

  event::Loop& loop_;
  Endpoint server_;
  std::span<std::uint8_t> buffer_;
  event::CallbackSlot<std::expected<ByteView, int>> heard_;
  UniqueFd socket_;
  std::unique_ptr<event::Poll> poll_;
};

/// One connection for one question (RFC 7766 §6.2.1 would allow more). Heard once: the first message, or the failure.
class TcpWire {
 public:
  TcpWire(event::Loop& loop, const Endpoint& server, Heard heard);

  /// Begins to connect; `message` follows when the connection is up. 0, or the errno because of which nothing happens.
  [[nodiscard]] int send(ByteView message);

 private:
  void connected(int watch_error);
  void received(ByteView octets);

  event::Loop& loop_;
  Endpoint server_;
  event::CallbackSlot<std::expected<ByteView, int>> heard_;
  Bytes frame_;     // what is to be sent
  Bytes incoming_;  // from the length on
  UniqueFd socket_;
  std::unique_ptr<event::Poll> poll_;  // while connecting
  std::optional<event::TcpStream> stream_;
};

}  // namespace dohmux::forward
