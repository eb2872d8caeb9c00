// Readiness of a foreign descriptor over uv_poll_t.
// It must not know who owns the descriptor, and never closes it.
#include "event/poll.h"

#include <uv.h>

#include <utility>

#include "event/callback_slot.h"
#include "event/handle.h"

namespace dohmux::event {

namespace {

int events_of(Ready interest) noexcept {
  return (has(interest, Ready::Read) ? UV_READABLE : 0) | (has(interest, Ready::Write) ? UV_WRITABLE : 0);
}

Ready ready_of(int events) noexcept {
  return ((events & UV_READABLE) != 0 ? Ready::Read : Ready::None) | ((events & UV_WRITABLE) != 0 ? Ready::Write : Ready::None);
}

}  // namespace

// The handle exists only while there is an interest. uv_close on a uv_poll_t that was merely stopped would take the
// descriptor's *number* out of epoll once more, and that number may belong to somebody else by then.
struct Poll::Impl {
  Impl(Loop& owner_loop, int descriptor, Callback on_ready) : loop(owner_loop), fd(descriptor), callback(std::move(on_ready)) {}

  void watch(Ready wanted);
  void start();
  static void happened(uv_poll_t* poll, int status, int events) noexcept;

  Loop& loop;
  int fd;
  CallbackSlot<Ready, int> callback;
  Ready interest = Ready::None;
  Handle<uv_poll_t, Impl> handle;
  std::unique_ptr<Timer> failure;  // the report that the descriptor cannot be watched at all
};

void Poll::Impl::watch(Ready wanted) {
  interest = wanted;
  failure.reset();
  if (wanted == Ready::None) {
    handle.close();
    return;
  }
  start();
}

void Poll::Impl::start() {
  int status = 0;
  if (!handle.is_open()) {
    status = handle.open(*this, [this](uv_poll_t* poll) { return uv_poll_init(loop.uv(), poll, fd); });
  }
  if (status == 0) {
    status = uv_poll_start(handle.get(), events_of(interest), &Impl::happened);
  }
  if (status != 0) {
    handle.close();
    failure = loop.after(Duration::zero(), [this, status] { callback(Ready::Read | Ready::Write, -status); });
  }
}

void Poll::Impl::happened(uv_poll_t* poll, int status, int events) noexcept {
  Impl* self = Handle<uv_poll_t, Impl>::owner_of(poll);
  if (self == nullptr) {
    return;
  }
  if (status == 0) {
    self->callback(ready_of(events), 0);
    return;
  }
  // libuv has stopped the watch (EPOLLERR). Whoever still wants it after the report gets it again: the error has
  // been read from the socket by then, or will be reported again.
  const bool alive = self->callback(Ready::Read | Ready::Write, -status);
  if (alive && self->interest != Ready::None && self->failure == nullptr) {
    self->start();
  }
}

Poll::Poll(Loop& loop, int fd, Callback callback) : impl_(std::make_unique<Impl>(loop, fd, std::move(callback))) {}

Poll::~Poll() = default;

void Poll::watch(Ready interest) {
  impl_->watch(interest);
}

void Poll::stop() {
  impl_->watch(Ready::None);
}

}  // namespace dohmux::event
