// The only source of time and of "later" (architecture.md §7). One per worker; not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace dohmux {

/// Monotonic time that also counts while the machine sleeps (CLOCK_BOOTTIME).
struct BootClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
};
using TimePoint = BootClock::time_point;
using Duration = BootClock::duration;
using Task = std::move_only_function<void()>;

/// A callback that is due later. Destroying it cancels it, also from inside the callback.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;
};

class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;

  /// One value per loop turn.
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Runs `task` once, not before `delay` has passed; never inline.
  [[nodiscard]] virtual std::unique_ptr<Timer> after(Duration delay, Task task) = 0;
  /// Runs `task` after the present callback, in order, in the same loop turn if possible; never inline.
  /// It cannot be cancelled: `task` must not refer to what may die before.
  virtual void defer(Task task) = 0;
};

}  // namespace dohmux
