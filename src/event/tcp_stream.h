// One TCP connection that somebody accepted for us: octets in, octets out.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/bytes.h"
#include "base/unique_fd.h"
#include "event/loop.h"

namespace dohmux::event {

/// Destroying it closes the connection at once; nothing is called afterwards. Every callback may destroy it.
class TcpStream {
 public:
  struct Handlers {
    std::move_only_function<void(ByteView)> data;  // the octets are valid during the call only
    /// Nothing will be read any more. 0: the peer's FIN, writing may go on; else a positive errno, all is over.
    /// Each of the two at most once, and nothing after an error.
    std::move_only_function<void(int)> end;
    std::move_only_function<void()> drained;  // the kernel has taken all that was waiting
  };

  /// Takes over a connected socket and sets TCP_NODELAY. Reads nothing before start_reading().
  TcpStream(Loop& loop, UniqueFd socket, Handlers handlers);
  ~TcpStream();
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;

  void start_reading();
  void stop_reading();

  /// Sends in order. What the kernel does not take at once is kept (see unsent()). Never calls back inline: a failure
  /// is reported through `end` later.
  void write(Bytes octets);
  [[nodiscard]] std::size_t unsent() const noexcept;  // octets that wait for the kernel

  /// Sends FIN after everything written.
  void finish();
  /// Throws away what has arrived unread. Unread octets would make close() send a reset, and a reset can
  /// destroy answers that are still on their way (RFC 9293 §3.6.1).
  void discard_input() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dohmux::event
