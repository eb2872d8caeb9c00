// DNS messages out of a TCP stream: two octets of length, then the message (RFC 1035 §4.2.2, RFC 7766 §8).
#pragma once

#include <cstddef>
#include <optional>

#include "base/bytes.h"

namespace dohmux::server {

/// Its buffer holds what has come, never what was merely announced.
class TcpFramer {
 public:
  void push(ByteView octets);

  /// The next whole message, valid until the next push(), next() or the end of this object. nullopt: more octets are
  /// needed, or the stream is broken.
  [[nodiscard]] std::optional<ByteView> next();

  /// A length below a DNS header was announced (HTTP, TLS, junk, or a zero): the stream cannot be followed any more.
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  /// Octets are held. After next() gave nothing: a message has begun and is not complete.
  [[nodiscard]] bool holds_octets() const noexcept { return begin_ < buffer_.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return buffer_.capacity(); }

 private:
  void drop_consumed();

  Bytes buffer_;
  std::size_t begin_ = 0;  // the octets before it have been handed out
  bool broken_ = false;
};

/// Appends `message` as a frame. REQUIRES: at most 65,535 octets.
void append_frame(Bytes& out, ByteView message);

}  // namespace dohmux::server
