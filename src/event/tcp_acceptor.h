// A listening TCP socket that hands over its connections.
#pragma once

#include <dohmux/address.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "base/unique_fd.h"
#include "event/loop.h"
#include "event/poll.h"

namespace dohmux::event {

/// Without descriptors (EMFILE and its kin) it turns the first waiting client away, so that it need not wait in
/// vain, and accepts nothing for 100 ms: the backlog keeps the socket readable, and the loop must not spin.
/// Destroying it closes the socket. The callback may destroy it.
class TcpAcceptor {
 public:
  using Callback = std::move_only_function<void(UniqueFd connection, Endpoint peer)>;

  /// `listening` is bound and listening.
  TcpAcceptor(Loop& loop, UniqueFd listening, Callback callback);
  ~TcpAcceptor();
  TcpAcceptor(const TcpAcceptor&) = delete;
  TcpAcceptor& operator=(const TcpAcceptor&) = delete;

  [[nodiscard]] std::uint64_t pauses() const noexcept;  // how often descriptors had run out

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dohmux::event
