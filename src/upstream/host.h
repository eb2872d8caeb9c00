// One resolver host (scheme, host, port): its allowed exits, the current one with a generation, one lane per
// exit, and the queue of questions that wait for a lane (contract.md §3: Pinning; Dial, then send).
#pragma once

#include <dohmux/config.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/call.h"
#include "base/scheduler.h"
#include "stats/metrics.h"
#include "transport/transport.h"
#include "upstream/backoff.h"
#include "upstream/exits.h"
#include "upstream/rules.h"

namespace dohmux::upstream {

/// One question for a host.
struct Ask {
  transport::DohRequest request;  // limit is filled by the host
  TimePoint deadline;             // of the query
  TimePoint give_up;              // leaves the queue unsent at this moment; ≤ deadline
  std::size_t upstream = 0;       // who counts it (metrics)
  bool second = false;            // it was sent before: it must not be spent on a lane that is suspected
};

/// Why a question was not sent.
enum class Unsent : std::uint8_t { No, NoExit, Certificate, Waited, Full };

struct AskResult {
  Unsent unsent = Unsent::No;
  std::optional<transport::ExchangeReport> report{};  // set when it was sent
  Verdict verdict{};                                  // what may follow; meaningful when there is no HTTP answer
  std::string stage{};                                // of the failure, for people
  ExitId exit = 0;                                    // the one it went through, or was tried last
};

/// A host as configured; `exits` has the home first.
struct HostSpec {
  std::string label;       // in logs and metrics: the name of its first upstream
  std::size_t metric = 0;  // index of that upstream in Metrics
  std::vector<ExitId> exits;
  std::vector<transport::LaneSpec> lanes;  // one per exit, same order
  bool warm = true;
};

/// What all hosts of a worker share.
struct HostWorld {
  Scheduler& scheduler;
  transport::Transport& transport;
  Exits& exits;
  stats::Metrics& metrics;
  const TimeoutsConfig& timeouts;
  /// Live tunnels through an exit that belong to other hosts than the given one.
  std::function<std::size_t(ExitId, const class Host*)> tunnels_of_others;
};

class HostCall;  // one question under way

class Host {
 public:
  using Done = std::move_only_function<void(AskResult)>;

  Host(HostSpec spec, HostWorld world);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();  // every HostCall must be gone

  /// Opens the home lane; error: text of the transport (an unusable CA file).
  [[nodiscard]] std::expected<void, std::string> open();
  /// Dials in the background until one exit works or all have failed.
  void warm();
  [[nodiscard]] bool wants_warmth() const { return spec_.warm; }
  /// Never completes inline.
  [[nodiscard]] std::unique_ptr<Call> ask(Ask ask, Done done);
  /// Worth asking before others: not avoided, and some exit may work.
  [[nodiscard]] bool available(TimePoint now) const;
  /// The answers of this host are bad (status, type, body), or it is slow; `wait`: its own Retry-After.
  void misbehaved(std::optional<std::chrono::seconds> wait);
  void behaved();
  /// An exit went down or came up.
  void exit_changed(ExitId exit);

  [[nodiscard]] const std::string& label() const { return spec_.label; }
  [[nodiscard]] std::size_t metric() const { return spec_.metric; }
  [[nodiscard]] ExitId current_exit() const { return slots_[current_].exit; }
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  /// Visits (exit, lane) of every lane that was opened.
  void each_lane(const std::function<void(ExitId, const transport::Lane&)>& visit) const;

 private:
  friend class HostCall;
  struct Slot {
    ExitId exit = 0;
    std::unique_ptr<transport::Lane> lane;
    std::unique_ptr<Call> dial;
    TimePoint dial_began{};
    bool failed = false;  // the last thing known about this lane
    Backoff backoff;
    std::list<HostCall*> sent;  // unanswered, the oldest first
    TimePoint heard{};          // last answer
  };
  struct LastFailure {
    transport::FailureKind kind;
    int http_status;
    std::size_t slot;
    TimePoint when;
  };

  // Queue and sending (host.cpp).
  void enqueue(HostCall& call);
  void pump();
  [[nodiscard]] bool stalled(TimePoint now) const;
  [[nodiscard]] bool must_hold(const HostCall& call, TimePoint now);
  void send(HostCall& call);
  void on_report(HostCall& call, transport::ExchangeReport report);
  void after_failure(HostCall& call, const transport::Failure& failure, AskResult& result);
  void requeue(HostCall& call);
  void take_from_sent(HostCall& call);
  void expire();
  void arm_expiry();
  void fail_queue(Unsent why);
  void finish(HostCall& call, AskResult result);
  void forget(HostCall& call);
  void kick();

  // Dials and moves (host_dial.cpp).
  [[nodiscard]] bool wanted() const { return !queue_.empty() || warming_; }
  [[nodiscard]] bool lane_up(std::size_t slot) const;
  [[nodiscard]] bool known_down(std::size_t slot, TimePoint now) const;
  [[nodiscard]] bool all_known_down(TimePoint now) const;
  [[nodiscard]] bool dialling() const;
  [[nodiscard]] std::optional<std::size_t> next_fresh(TimePoint now) const;
  [[nodiscard]] std::optional<std::size_t> next_probe(TimePoint now) const;
  [[nodiscard]] bool slot_usable(std::size_t slot, TimePoint now) const;
  void reach();
  void advance();
  void dial(std::size_t slot);
  void on_dial(std::size_t slot, std::expected<transport::DialInfo, transport::Failure> result);
  void dial_worked(std::size_t slot, const transport::DialInfo& info);
  void dial_failed(std::size_t slot, const transport::Failure& failure);
  void race();
  void move(std::size_t slot, std::string_view reason);
  void in_trouble(Unsent why);
  void book_lane(std::size_t slot, const transport::Failure& failure);
  [[nodiscard]] bool repeated_elsewhere(std::size_t slot, const transport::Failure& failure);
  [[nodiscard]] std::expected<void, std::string> open(std::size_t slot);

  HostSpec spec_;
  HostWorld world_;
  std::vector<Slot> slots_;
  std::size_t current_ = 0;
  std::uint64_t generation_ = 1;  // of the pin: counts moves
  std::list<HostCall*> queue_;    // by give_up
  std::size_t calls_ = 0;         // alive
  Backoff trouble_;               // booked to the host after dials: no dial meanwhile
  Backoff avoidance_;             // booked to the host after answers: others are preferred
  int bad_answers_ = 0;
  TimePoint avoid_until_{};
  std::optional<LastFailure> last_failure_;
  std::uint64_t silent_connection_ = 0;  // one request timed out there with nothing received
  Unsent trouble_why_ = Unsent::NoExit;
  std::string last_stage_;
  bool warming_ = false;
  bool http1_warned_ = false;
  std::unique_ptr<Timer> race_;
  std::unique_ptr<Timer> expiry_;
  TimePoint expiry_at_{};
  std::unique_ptr<Timer> hold_;
  const HostCall* probe_ = nullptr;  // the one question that was sent to a stalled lane
  std::unique_ptr<Timer> kick_;
};

/// One question under way at a host: in its queue, or sent.
class HostCall final : public Call {
 public:
  HostCall(Host& host, Ask ask, Host::Done done) : host_(host), ask_(std::move(ask)), done_(std::move(done)) {}
  ~HostCall() override { host_.forget(*this); }

 private:
  friend class Host;
  enum class State : std::uint8_t { New, Queued, Sent, Finished };
  Host& host_;
  Ask ask_;
  Host::Done done_;
  State state_ = State::New;
  std::list<HostCall*>::iterator place_;  // in the queue, or among the sent of its slot
  TimePoint since_{};                     // in that state
  std::unique_ptr<Call> sending_;
  std::size_t slot_ = 0;
  std::uint64_t generation_ = 0;
  int unsent_tries_ = 0;
  Unsent unsent_ = Unsent::Waited;  // the reason, should it leave the queue unsent
};

}  // namespace dohmux::upstream
