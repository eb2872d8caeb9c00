// The bridge between libcurl's multi-socket interface and the loop.
// It must not know what the transfers are for.
#include "transport/curl/multi.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace dohmux::transport {

Multi::Multi(event::Loop& loop, Task progressed)
    : loop_(loop), progressed_(std::move(progressed)), kick_(loop, [this] { kick(); }), multi_(curl_multi_init()) {
  hook();
}

void Multi::hook() {
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &Multi::on_socket);
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &Multi::on_timer);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
}

Multi::~Multi() {
  entered_ = true;  // the closing connections still call back
  multi_.reset();
}

bool Multi::add(CURL* easy) {
  entered_ = true;
  const CURLMcode code = curl_multi_add_handle(multi_.get(), easy);
  entered_ = false;
  if (due_) {
    kick_.request();
  }
  return code == CURLM_OK;
}

void Multi::remove(CURL* easy) {
  const auto gone = std::ranges::remove(finished_, easy, &Finished::easy);
  if (!gone.empty()) {
    finished_.erase(gone.begin(), gone.end());
    return;
  }
  entered_ = true;
  curl_multi_remove_handle(multi_.get(), easy);
  entered_ = false;
  if (due_) {
    kick_.request();
  }
}

void Multi::pump() {
  due_ = false;
  act(CURL_SOCKET_TIMEOUT, 0);
}

void Multi::poke(int fd) {
  act(fd, CURL_CSELECT_IN | CURL_CSELECT_ERR);
}

std::vector<Multi::Finished> Multi::take_finished() {
  return std::exchange(finished_, {});
}

void Multi::set(CURLMoption option, long value) {
  curl_multi_setopt(multi_.get(), option, value);
}

void Multi::renew() {
  entered_ = true;
  multi_.reset();
  entered_ = false;
  watches_.clear();
  timer_.reset();
  due_ = false;
  multi_.reset(curl_multi_init());
  hook();
}

void Multi::forget(int fd) {
  std::erase_if(watches_, [fd](const Watch& watch) { return watch.fd == fd; });
}

void Multi::act(curl_socket_t fd, int mask) {
  int running = 0;
  entered_ = true;
  curl_multi_socket_action(multi_.get(), fd, mask, &running);
  collect();
  entered_ = false;
  if (due_) {
    kick_.request();
  }
}

// All completions are taken, and their handles removed, before anybody hears of one.
void Multi::collect() {
  int queued = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_.get(), &queued)) {
    if (message->msg == CURLMSG_DONE) {
      const Finished finished{.easy = message->easy_handle, .code = message->data.result};  // the message dies with the removal
      curl_multi_remove_handle(multi_.get(), finished.easy);
      finished_.push_back(finished);
    }
  }
}

void Multi::kick() {
  if (due_) {
    pump();
  }
  progressed_();
}

void Multi::ready(int fd, event::Ready ready, int error) {
  int mask =
      (event::has(ready, event::Ready::Read) ? CURL_CSELECT_IN : 0) | (event::has(ready, event::Ready::Write) ? CURL_CSELECT_OUT : 0);
  if (error != 0) {
    mask |= CURL_CSELECT_ERR;
  }
  act(fd, mask);
  progressed_();
}

void Multi::watch(int fd, int what) {
  if (what == CURL_POLL_REMOVE) {
    forget(fd);  // also for a descriptor never announced (curl #17949)
    return;
  }
  auto found = std::ranges::find(watches_, fd, &Watch::fd);
  if (found == watches_.end()) {
    auto poll = std::make_unique<event::Poll>(loop_, fd, [this, fd](event::Ready state, int error) { ready(fd, state, error); });
    watches_.push_back({.fd = fd, .poll = std::move(poll)});
    found = watches_.end() - 1;
  }
  const bool read = what == CURL_POLL_IN || what == CURL_POLL_INOUT;
  const bool write = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
  found->poll->watch((read ? event::Ready::Read : event::Ready::None) | (write ? event::Ready::Write : event::Ready::None));
}

void Multi::schedule(long timeout_ms) {
  timer_.reset();
  due_ = timeout_ms == 0;
  if (timeout_ms > 0) {
    timer_ = loop_.after(std::chrono::milliseconds(timeout_ms), [this] {
      timer_.reset();
      act(CURL_SOCKET_TIMEOUT, 0);
      progressed_();
    });
  } else if (due_ && !entered_) {
    kick_.request();
  }
}

// NOLINTNEXTLINE(readability-function-size): libcurl's signature
int Multi::on_socket(CURL* /*easy*/, curl_socket_t fd, int what, void* self, void* /*unused*/) noexcept {
  static_cast<Multi*>(self)->watch(fd, what);
  return 0;
}

int Multi::on_timer(CURLM* /*multi*/, long timeout_ms, void* self) noexcept {
  static_cast<Multi*>(self)->schedule(timeout_ms);
  return 0;
}

}  // namespace dohmux::transport
