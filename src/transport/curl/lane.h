// One origin by one exit: one multi handle, its connections, its dials and its requests.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "event/callback_slot.h"
#include "event/loop.h"
#include "transport/curl/connections.h"
#include "transport/curl/dial.h"
#include "transport/curl/multi.h"
#include "transport/curl/options.h"
#include "transport/curl/transfer.h"
#include "transport/transport.h"

namespace dohmux::transport {

class CurlLane final : public Lane {
 public:
  CurlLane(event::Loop& loop, OriginSettings caps, LaneOptions options);
  ~CurlLane() override;

  [[nodiscard]] std::unique_ptr<Call> dial(Duration limit, DialDone done) override;
  [[nodiscard]] std::unique_ptr<Call> send(DohRequest request, SendDone done) override;
  [[nodiscard]] bool ready() const override;
  void on_change(std::move_only_function<void()> changed) override;
  [[nodiscard]] std::size_t connected() const override;
  [[nodiscard]] std::size_t in_flight() const override { return active_.size(); }
  [[nodiscard]] std::uint64_t opened() const override { return opened_; }
  void evict(std::uint64_t connection) override;

  // For Dial, Transfer and their calls. Those marked * run inside libcurl and must not enter it again.
  [[nodiscard]] TimePoint now() const { return loop_.now(); }
  /// * The connection with that local port has finished its handshake; null if it is unknown.
  Connection* came_up(std::uint16_t port);
  /// * Whether the transfer may put its request on that connection: the first time only.
  [[nodiscard]] bool may_send(Transfer& transfer, std::uint16_t port);
  /// * A header line has come.
  void answered(Transfer& transfer);
  /// * A new socket, or CURL_SOCKET_BAD: not for a resend, nor for a request when nothing is up.
  [[nodiscard]] curl_socket_t open_for(Transfer& transfer, int family);
  [[nodiscard]] curl_socket_t open_for(Dial& dial, int family);
  static int on_close_socket(void* self, curl_socket_t fd) noexcept;
  void cancel(Transfer& transfer);
  void cancel(Dial& dial);

 private:
  struct Target {
    std::string path;
    Url url;
  };

  void configure();
  [[nodiscard]] CURLU* url_of(const std::string& path);
  [[nodiscard]] Transfer& take_transfer();
  void begin(Transfer& transfer);
  void insert_by_deadline(Transfer& transfer);
  void finish(Transfer& transfer, CURLcode code, bool timed_out);
  void detach(Transfer& transfer);
  void recycle(Transfer& transfer);
  void finish(Dial& dial, CURLcode code, bool timed_out);
  void learn_version(bool http2);
  void dial_timed_out(Dial& dial);

  [[nodiscard]] bool may_begin() const;
  [[nodiscard]] bool ready_http2() const;
  /// One below the configured cap: the dialled connection may have gone stale before its first use (session tickets
  /// waiting on it are taken for a sign of death), and it counts as one that was opened.
  [[nodiscard]] std::size_t http1_cap() const { return std::max<std::size_t>(caps_.max_http1_connections, 2) - 1; }
  [[nodiscard]] bool gated(const Connection& connection) const;
  void arm();
  void expire();
  void take_results();
  void settle();
  void tell_dials(const bool& gone);
  void tell_transfers(const bool& gone);
  void refuse_resend(Transfer& transfer);

  event::Loop& loop_;
  OriginSettings caps_;
  LaneOptions options_;
  bool http2_ = true;        // as the last dial found it
  std::size_t waiting_ = 0;  // requests handed to libcurl that are not on a connection yet
  std::uint64_t opened_ = 0;
  bool beginning_ = false;  // inside send(): its caller looks at ready() himself
  bool changed_ = false;    // on_change is due
  bool* gone_ = nullptr;    // set when the lane dies inside a callback of its own
  std::unique_ptr<event::CallbackSlot<>> on_change_;
  std::vector<Target> targets_;
  Connections connections_;
  Multi multi_;            // after connections_: it closes them
  Transfer::List active_;  // inside libcurl, by deadline
  Transfer::List ended_;   // result not yet told
  Transfer::List spare_;
  Dial::List dials_;
  Dial::List ended_dials_;
  std::unique_ptr<Timer> timer_;
  TimePoint timer_due_;
};

/// What the caller holds; either side may go first.
class SendCall final : public Call {
 public:
  explicit SendCall(Transfer& transfer) : transfer_(&transfer) { transfer.call = this; }
  ~SendCall() override {
    if (transfer_ != nullptr) {
      transfer_->lane.cancel(*transfer_);
    }
  }
  void forget() noexcept { transfer_ = nullptr; }

 private:
  Transfer* transfer_;
};

class DialCall final : public Call {
 public:
  explicit DialCall(Dial& dial) : dial_(&dial) { dial.call = this; }
  ~DialCall() override {
    if (dial_ != nullptr) {
      dial_->lane.cancel(*dial_);
    }
  }
  void forget() noexcept { dial_ = nullptr; }

 private:
  Dial* dial_;
};

}  // namespace dohmux::transport
