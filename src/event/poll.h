// Readiness of a file descriptor that somebody else owns (libcurl, our UDP sockets).
#pragma once

#include <functional>
#include <memory>

#include "event/loop.h"

namespace dohmux::event {

/// Interest or readiness; combine with |.
enum class Ready : unsigned { None = 0, Read = 1, Write = 2 };
[[nodiscard]] constexpr Ready operator|(Ready a, Ready b) {
  return static_cast<Ready>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool has(Ready set, Ready one) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) != 0;
}

class Poll {
 public:
  /// `error`: 0, or a positive errno when the watch itself failed (then both directions count as ready).
  using Callback = std::move_only_function<void(Ready ready, int error)>;

  /// Watches nothing yet. `fd` must stay open until this object is gone or stopped.
  Poll(Loop& loop, int fd, Callback callback);
  ~Poll();  // stops at once: `fd` may be closed and its number reused right after
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  void watch(Ready interest);  // replaces the interest; None stops
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dohmux::event
