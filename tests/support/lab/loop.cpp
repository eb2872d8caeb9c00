// The epoll loop of a lab process.
// Must not know sockets, TLS or DNS. An event that was fetched before its descriptor was unwatched is dropped: slots carry a generation.
#include "support/lab/loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>

namespace lab {

Loop::Loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

void Loop::watch(int fd, std::uint32_t events, Pollable& owner) {
  const auto index = static_cast<std::size_t>(fd);
  if (slots_.size() <= index) {
    slots_.resize(index + 1);
  }
  Slot& slot = slots_[index];
  const bool known = slot.owner != nullptr;
  if (!known) {
    ++slot.generation;
  }
  slot.owner = &owner;
  epoll_event event{};
  event.events = events;
  event.data.u64 = (static_cast<std::uint64_t>(slot.generation) << 32U) | static_cast<std::uint32_t>(fd);
  ::epoll_ctl(epoll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
}

void Loop::unwatch(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (fd < 0 || index >= slots_.size() || slots_[index].owner == nullptr) {
    return;
  }
  slots_[index].owner = nullptr;
  ++slots_[index].generation;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Loop::TimerId Loop::after(Clock::duration delay, std::function<void()> work) {
  const TimerId id{Clock::now() + delay, next_timer_++};
  timers_.emplace(id, std::move(work));
  return id;
}

void Loop::run_due_timers() {
  const TimePoint now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto node = timers_.extract(timers_.begin());
    node.mapped()();
  }
}

void Loop::run_deferred() {
  while (!deferred_.empty()) {
    std::vector<std::function<void()>> work;
    work.swap(deferred_);
    for (auto& item : work) {
      item();
    }
  }
}

void Loop::wait_once() {
  timespec limit{};
  timespec* wait = nullptr;
  if (!timers_.empty()) {
    const auto left = std::max(Clock::duration::zero(), timers_.begin()->first.first - Clock::now());
    const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    limit.tv_sec = nanos / 1'000'000'000;
    limit.tv_nsec = nanos % 1'000'000'000;
    wait = &limit;
  }
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()), wait, nullptr);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto fd = static_cast<std::size_t>(event.data.u64 & 0xffffffffU);
    const auto generation = static_cast<std::uint32_t>(event.data.u64 >> 32U);
    if (slots_[fd].owner != nullptr && slots_[fd].generation == generation) {
      slots_[fd].owner->on_ready(event.events);
    }
  }
}

void Loop::run() {
  while (!stopped_) {
    run_deferred();
    if (stopped_) {
      break;
    }
    wait_once();
    run_due_timers();
  }
  run_deferred();
}

}  // namespace lab
