// Unix signals over uv_signal_t.
// It must not know what a signal means to the program.
#include "event/signal.h"

#include <uv.h>

#include <cassert>
#include <utility>

#include "event/callback_slot.h"
#include "event/handle.h"

namespace dohmux::event {

struct Signal::Impl {
  explicit Impl(std::move_only_function<void()> on_signal) : callback(std::move(on_signal)) {}

  CallbackSlot<> callback;
  Handle<uv_signal_t, Impl> handle;
};

Signal::Signal(Loop& loop, int number, std::move_only_function<void()> callback) : impl_(std::make_unique<Impl>(std::move(callback))) {
  int failed = impl_->handle.open(*impl_, [&](uv_signal_t* signal) { return uv_signal_init(loop.uv(), signal); });
  assert(failed == 0);  // fails only without descriptors for libuv's own pipe
  if (failed != 0) {
    return;
  }
  failed = uv_signal_start(
      impl_->handle.get(),
      [](uv_signal_t* signal, int) noexcept {
        if (Impl* self = Handle<uv_signal_t, Impl>::owner_of(signal); self != nullptr) {
          self->callback();
        }
      },
      number);
  assert(failed == 0);  // a signal that exists and can be caught
  uv_unref(reinterpret_cast<uv_handle_t*>(impl_->handle.get()));
}

Signal::~Signal() = default;

}  // namespace dohmux::event
