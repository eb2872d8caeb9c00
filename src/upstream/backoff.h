// How long to leave something alone after it failed: doubling from `first` to `most`. Pure.
#pragma once

#include <algorithm>

#include "base/scheduler.h"

namespace dohmux::upstream {

class Backoff {
 public:
  Backoff(Duration first, Duration most) : first_(first), most_(most) {}

  void failed(TimePoint now) {
    step_ = step_ == Duration::zero() ? first_ : std::min(step_ * 2, most_);
    until_ = now + step_;
  }
  void succeeded() {
    step_ = Duration::zero();
    until_ = TimePoint{};
  }
  [[nodiscard]] bool over(TimePoint now) const { return now >= until_; }
  [[nodiscard]] Duration step() const { return step_; }
  [[nodiscard]] TimePoint until() const { return until_; }

 private:
  Duration first_;
  Duration most_;
  Duration step_{};
  TimePoint until_{};
};

}  // namespace dohmux::upstream
