// A stored callback that may destroy its own owner, and with it this slot, while it runs.
#pragma once

#include <functional>
#include <utility>

namespace dohmux::event {

template <typename... Args>
class CallbackSlot {
 public:
  using Callback = std::move_only_function<void(Args...)>;

  explicit CallbackSlot(Callback callback) : callback_(std::move(callback)) {}
  ~CallbackSlot() {
    if (gone_ != nullptr) {
      *gone_ = true;
    }
  }
  CallbackSlot(const CallbackSlot&) = delete;
  CallbackSlot& operator=(const CallbackSlot&) = delete;

  /// Runs the callback; true: the slot (and its owner) is still there. A call from within the callback does nothing.
  bool operator()(Args... args) {
    if (!callback_) {
      return true;
    }
    bool gone = false;
    gone_ = &gone;
    Callback running = std::move(callback_);
    callback_ = nullptr;
    running(std::forward<Args>(args)...);
    if (gone) {
      return false;
    }
    gone_ = nullptr;
    callback_ = std::move(running);
    return true;
  }

 private:
  Callback callback_;
  bool* gone_ = nullptr;
};

}  // namespace dohmux::event
