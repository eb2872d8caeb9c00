// One libuv loop as the program's Scheduler. Not thread-safe.
#pragma once

#include <memory>

#include "base/scheduler.h"

struct uv_loop_s;

namespace dohmux::event {

class Loop final : public Scheduler {
 public:
  Loop();
  ~Loop() override;  // runs until every close callback is done; asserts in debug that no handle is left

  /// Serves events until stop(), or until nothing is left to wait for.
  void run();
  void stop();

  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] std::unique_ptr<Timer> after(Duration delay, Task task) override;
  void defer(Task task) override;

  /// For the classes of src/event only.
  [[nodiscard]] uv_loop_s* uv() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dohmux::event
