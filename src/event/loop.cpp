// The loop: time, timers and deferred tasks over one uv_loop_t.
// It must not know what its tasks do; it holds no sockets itself.
#include "event/loop.h"

#include <uv.h>

#include <algorithm>
#include <cassert>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <vector>

#include "event/handle.h"

namespace dohmux::event {

namespace {

// Deferred tasks may defer more. After so many generations the loop looks at its sockets before it goes on.
constexpr int kMaxGenerations = 32;
constexpr Duration kLongest = std::chrono::hours(24 * 3650);
constexpr std::uint64_t kNanosPerMilli = 1'000'000;

TimePoint boot_time() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace

struct Loop::Impl {
  class OneShot;

  Impl();
  void defer(Task task);
  void run_deferred() noexcept;
  void refresh() noexcept;
  [[nodiscard]] std::uint64_t timeout_for(Duration delay) noexcept;
  [[nodiscard]] bool close() noexcept;

  uv_loop_t uv{};
  Handle<uv_prepare_t, Impl> before_sleep;
  Handle<uv_check_t, Impl> after_sleep;
  Handle<uv_idle_t, Impl> awake;  // active exactly while something is deferred: keeps the loop from sleeping and from ending
  std::vector<Task> deferred;
  std::vector<Task> generation;  // the tasks that are being run
  TimePoint now;
  std::uint64_t uv_nanos = 0;  // libuv's own clock at the moment of `now`
  bool stale = true;           // `now` belongs to an earlier turn
  bool running = false;
  bool in_timer = false;
};

class Loop::Impl::OneShot final : public Timer {
 public:
  OneShot(Impl& loop, Duration delay, Task task) : loop_(loop), task_(std::move(task)) {
    [[maybe_unused]] const int opened = handle_.open(*this, [&](uv_timer_t* timer) { return uv_timer_init(&loop.uv, timer); });
    assert(opened == 0);  // uv_timer_init cannot fail
    uv_timer_start(handle_.get(), &OneShot::due, loop.timeout_for(delay), 0);
  }

 private:
  static void due(uv_timer_t* timer) noexcept {
    OneShot* self = Handle<uv_timer_t, OneShot>::owner_of(timer);
    if (self == nullptr) {
      return;
    }
    Impl& loop = self->loop_;
    Task task = std::move(self->task_);  // the task may destroy this timer
    loop.in_timer = true;
    task();
    loop.in_timer = false;
  }

  Impl& loop_;
  Task task_;
  Handle<uv_timer_t, OneShot> handle_;
};

Loop::Impl::Impl() {
  if (const int status = uv_loop_init(&uv); status != 0) {
    std::fprintf(stderr, "event loop: %s\n", uv_strerror(status));
    std::abort();  // no descriptors or memory at the very start: nothing can be served
  }
  int failed = before_sleep.open(*this, [this](uv_prepare_t* prepare) { return uv_prepare_init(&uv, prepare); });
  failed |= after_sleep.open(*this, [this](uv_check_t* check) { return uv_check_init(&uv, check); });
  failed |= awake.open(*this, [this](uv_idle_t* idle) { return uv_idle_init(&uv, idle); });
  assert(failed == 0);  // none of the three can fail
  failed |= uv_prepare_start(before_sleep.get(), [](uv_prepare_t* prepare) noexcept {
    Impl* self = Handle<uv_prepare_t, Impl>::owner_of(prepare);
    self->run_deferred();
    self->stale = true;  // the loop may sleep now
  });
  failed |= uv_check_start(after_sleep.get(), [](uv_check_t* check) noexcept {
    Impl* self = Handle<uv_check_t, Impl>::owner_of(check);
    self->run_deferred();
    self->stale = true;  // timers come next: they must not see a time before their own
  });
  assert(failed == 0);
  uv_unref(reinterpret_cast<uv_handle_t*>(before_sleep.get()));
  uv_unref(reinterpret_cast<uv_handle_t*>(after_sleep.get()));
}

void Loop::Impl::defer(Task task) {
  if (deferred.empty()) {
    uv_idle_start(awake.get(), [](uv_idle_t*) noexcept {});
  }
  deferred.push_back(std::move(task));
}

void Loop::Impl::run_deferred() noexcept {
  for (int i = 0; i < kMaxGenerations && !deferred.empty(); ++i) {
    generation.swap(deferred);
    for (Task& task : generation) {
      Task once = std::move(task);
      once();
    }
    generation.clear();
  }
  if (deferred.empty()) {
    uv_idle_stop(awake.get());
  }
}

void Loop::Impl::refresh() noexcept {
  if (stale || !running) {
    now = boot_time();
    uv_nanos = uv_hrtime();
    stale = false;
  }
}

// Milliseconds for uv_timer_start such that the timer is never early, seen from now(). libuv counts from the whole
// millisecond at which its turn began; both ends are therefore computed in its absolute time and rounded up.
std::uint64_t Loop::Impl::timeout_for(Duration delay) noexcept {
  refresh();
  const auto wait = static_cast<std::uint64_t>(std::clamp(delay, Duration::zero(), kLongest).count());
  const std::uint64_t due = (uv_nanos + wait + kNanosPerMilli - 1) / kNanosPerMilli;
  const std::uint64_t turn = uv_now(&uv);
  const std::uint64_t timeout = wait > 0 && due > turn ? due - turn : 0;
  // libuv runs a timer that is due at once within the same round of timers: re-armed for ever it would starve I/O.
  return in_timer ? std::max<std::uint64_t>(timeout, 1) : timeout;
}

bool Loop::Impl::close() noexcept {
  while (!deferred.empty()) {  // dropped unrun; their destructors may defer again
    generation.swap(deferred);
    generation.clear();
  }
  before_sleep.close();
  after_sleep.close();
  awake.close();
  int status = uv_loop_close(&uv);
  for (int turn = 0; status == UV_EBUSY && turn < 8; ++turn) {  // one turn frees what is closing already
    uv_run(&uv, UV_RUN_NOWAIT);
    status = uv_loop_close(&uv);
  }
  if (status == UV_EBUSY) {
    std::fputs("event loop destroyed before its handles:\n", stderr);
    uv_print_all_handles(&uv, stderr);
  }
  return status == 0;
}

Loop::Loop() : impl_(std::make_unique<Impl>()) {
  std::signal(SIGPIPE, SIG_IGN);  // libuv writes without MSG_NOSIGNAL; a peer that left must not end the program
}

Loop::~Loop() {
  if (!impl_->close()) {
    assert(false && "handles outlive their loop");
    static_cast<void>(impl_.release());  // leaked on purpose: those handles still point into it
  }
}

void Loop::run() {
  impl_->running = true;
  impl_->stale = true;
  uv_run(&impl_->uv, UV_RUN_DEFAULT);
  impl_->run_deferred();  // stopped by a timer, newer libuv ends its turn without coming to us again
  impl_->running = false;
}

void Loop::stop() {
  uv_stop(&impl_->uv);
}

TimePoint Loop::now() const {
  impl_->refresh();
  return impl_->now;
}

std::unique_ptr<Timer> Loop::after(Duration delay, Task task) {
  return std::make_unique<Impl::OneShot>(*impl_, delay, std::move(task));
}

void Loop::defer(Task task) {
  impl_->defer(std::move(task));
}

uv_loop_s* Loop::uv() noexcept {
  return &impl_->uv;
}

}  // namespace dohmux::event
