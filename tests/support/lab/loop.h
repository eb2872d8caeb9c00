// One epoll loop with timers. Every process of the lab has one and runs everything on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "support/lab/net.h"

namespace lab {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Millis = std::chrono::milliseconds;

/// Something with a descriptor. Must unwatch its descriptor before it closes it.
class Pollable {
 public:
  virtual ~Pollable() = default;
  /// `events` are EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP. May unwatch anything, but must not delete itself: use Loop::defer.
  virtual void on_ready(std::uint32_t events) = 0;
};

class Loop {
 public:
  using TimerId = std::pair<TimePoint, std::uint64_t>;

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() = default;

  /// Watches `fd`, or changes what is watched.
  void watch(int fd, std::uint32_t events, Pollable& owner);
  void unwatch(int fd);

  TimerId after(Clock::duration delay, std::function<void()> work);
  void cancel(TimerId timer) { timers_.erase(timer); }
  /// Runs `work` when the events at hand have been dealt with.
  void defer(std::function<void()> work) { deferred_.push_back(std::move(work)); }

  void run();
  void stop() { stopped_ = true; }

 private:
  struct Slot {
    Pollable* owner = nullptr;
    std::uint32_t generation = 0;
  };

  void run_due_timers();
  void run_deferred();
  void wait_once();

  UniqueFd epoll_;
  std::vector<Slot> slots_;
  std::map<TimerId, std::function<void()>> timers_;
  std::vector<std::function<void()>> deferred_;
  std::uint64_t next_timer_ = 1;
  bool stopped_ = false;
};

}  // namespace lab
