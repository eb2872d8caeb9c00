// One Unix signal as a callback on the loop.
#pragma once

#include <functional>
#include <memory>

#include "event/loop.h"

namespace dohmux::event {

/// Does not keep Loop::run() going. The callback may destroy this object.
class Signal {
 public:
  Signal(Loop& loop, int number, std::move_only_function<void()> callback);
  ~Signal();  // the signal's former disposition comes back with the last Signal of that number
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dohmux::event
