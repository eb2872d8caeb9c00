// One curl multi handle on our loop: socket callback ↔ event::Poll, timer callback ↔ Scheduler. Rules: curl.md §8.
#pragma once

#include <memory>
#include <vector>

#include "event/callback_slot.h"
#include "event/deferred.h"
#include "event/loop.h"
#include "event/poll.h"
#include "transport/curl/handles.h"

namespace dohmux::transport {

class Multi {
 public:
  struct Finished {
    CURL* easy;
    CURLcode code;
  };

  /// `progressed` runs from the loop, never inside a call of ours or of libcurl, whenever libcurl has been given
  /// time; it may destroy this object.
  Multi(event::Loop& loop, Task progressed);
  ~Multi();  // closes all connections; every easy handle must have been removed
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;

  // None of these may be called from inside a libcurl callback.
  /// False: libcurl refused it.
  [[nodiscard]] bool add(CURL* easy);
  /// Ends the transfer without a result; harmless if it has finished already.
  void remove(CURL* easy);
  /// Lets libcurl do what is due now.
  void pump();
  /// Tells libcurl that something happened on `fd`, whether or not it is watched.
  void poke(int fd);
  /// Transfers that ended since the last call, already removed from the multi.
  [[nodiscard]] std::vector<Finished> take_finished();
  [[nodiscard]] bool has_finished() const noexcept { return !finished_.empty(); }
  void set(CURLMoption option, long value);
  /// Closes all connections and forgets every option. No easy handle may be in it.
  void renew();

  // These may.
  /// `progressed` will run soon.
  void request_progress() { kick_.request(); }
  /// `fd` is about to be closed: stops watching it even if libcurl never said so (curl #14976, #16026).
  void forget(int fd);

 private:
  struct Watch {
    int fd;
    std::unique_ptr<event::Poll> poll;
  };

  void hook();
  void act(curl_socket_t fd, int mask);
  void collect();
  void watch(int fd, int what);
  void schedule(long timeout_ms);
  void kick();
  void ready(int fd, event::Ready ready, int error);
  static int on_socket(CURL* easy, curl_socket_t fd, int what, void* self, void* unused) noexcept;
  static int on_timer(CURLM* multi, long timeout_ms, void* self) noexcept;

  event::Loop& loop_;
  event::CallbackSlot<> progressed_;
  event::Deferred kick_;
  std::unique_ptr<Timer> timer_;
  bool due_ = false;      // libcurl asked to be run at once
  bool entered_ = false;  // inside libcurl
  std::vector<Watch> watches_;
  std::vector<Finished> finished_;
  MultiHandle multi_;
};

}  // namespace dohmux::transport
