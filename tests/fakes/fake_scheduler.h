// Virtual time: runs timers and deferred tasks in order when the test says so. No socket, no clock.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "base/scheduler.h"

namespace dohmux::test {

class FakeScheduler final : public Scheduler {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }

  [[nodiscard]] std::unique_ptr<Timer> after(Duration delay, Task task) override {
    const Key key{now_ + delay, next_++};
    timers_.emplace(key, std::move(task));
    return std::make_unique<FakeTimer>(*this, key);
  }

  void defer(Task task) override { deferred_.push_back(std::move(task)); }

  /// Runs everything that is due within `span`, in order of time, and leaves the clock at its end.
  void advance(Duration span) {
    const TimePoint end = now_ + span;
    run_deferred();
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      auto node = timers_.extract(timers_.begin());
      now_ = std::max(now_, node.key().first);
      node.mapped()();
      run_deferred();
    }
    now_ = end;
  }

  [[nodiscard]] std::size_t pending() const { return timers_.size() + deferred_.size(); }

 private:
  using Key = std::pair<TimePoint, std::uint64_t>;
  struct FakeTimer final : Timer {
    FakeTimer(FakeScheduler& owner, Key where) : scheduler(owner), key(where) {}
    ~FakeTimer() override { scheduler.timers_.erase(key); }
    FakeScheduler& scheduler;
    Key key;
  };

  void run_deferred() {
    while (!deferred_.empty()) {
      Task task = std::move(deferred_.front());
      deferred_.pop_front();
      task();
    }
  }

  TimePoint now_{std::chrono::hours(1)};
  std::uint64_t next_ = 0;
  std::map<Key, Task> timers_;
  std::deque<Task> deferred_;
};

}  // namespace dohmux::test
