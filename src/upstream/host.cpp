// The queue of one host and what follows from each sending. Dials and moves are in host_dial.cpp.
// Must not know groups, DNS or HTTP status rules.
#include "upstream/host.h"

#include <algorithm>
#include <cassert>

#include "base/log.h"

namespace dohmux::upstream {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kMaxQueue = 8192;
constexpr int kMaxUnsentTries = 8;              // a lane that looks ready and never sends
constexpr Duration kKnownDownPatience = 400ms;  // contract.md §3: an answer within 0.5 s when all exits are known to be down
constexpr int kBadAnswersToAvoid = 3;
constexpr Duration kHold = 100ms;  // for a second sending, until others' timeouts tell whether the connection is dead

stats::Outcome outcome_of(const transport::Failure& failure) {
  switch (failure.kind) {
    case transport::FailureKind::ConnectionLost:
      return stats::Outcome::ConnectionLost;
    case transport::FailureKind::Orderly:
      return stats::Outcome::OrderlyClose;
    case transport::FailureKind::StreamReset:
      return stats::Outcome::StreamReset;
    case transport::FailureKind::Timeout:
      return stats::Outcome::Timeout;
    default:
      return stats::Outcome::BadAnswer;
  }
}

}  // namespace

Host::Host(HostSpec spec, HostWorld world) : spec_(std::move(spec)), world_(std::move(world)), trouble_(1s, 1s), avoidance_(1s, 60s) {
  for (const ExitId exit : spec_.exits) {
    slots_.push_back(Slot{.exit = exit, .lane = nullptr, .dial = nullptr, .backoff = Backoff(1s, 1s)});
  }
  world_.metrics.pin(spec_.metric, current_exit());
}

Host::~Host() {
  assert(calls_ == 0);
}

std::unique_ptr<Call> Host::ask(Ask ask, Done done) {
  const TimePoint now = world_.scheduler.now();
  if (all_known_down(now)) {
    ask.give_up = std::min(ask.give_up, now + kKnownDownPatience);
  }
  auto call = std::make_unique<HostCall>(*this, std::move(ask), std::move(done));
  ++calls_;
  if (queue_.size() >= kMaxQueue) {
    call->ask_.give_up = now;  // leaves at once, but never inline
    call->unsent_ = Unsent::Full;
  }
  enqueue(*call);
  pump();
  return call;
}

void Host::enqueue(HostCall& call) {
  auto place = queue_.end();
  while (place != queue_.begin() && (*std::prev(place))->ask_.give_up > call.ask_.give_up) {
    --place;
  }
  call.place_ = queue_.insert(place, &call);
  call.state_ = HostCall::State::Queued;
  call.since_ = world_.scheduler.now();
}

/// Questions wait on the current lane and none was answered for half an attempt: perhaps dead, perhaps only slow names.
bool Host::stalled(TimePoint now) const {
  const Slot& slot = slots_[current_];
  return !slot.sent.empty() && now - std::max(slot.sent.front()->since_, slot.heard) >= Duration(world_.timeouts.attempt) / 2;
}

/// A stalled lane gets one question, whose answer clears it, and never one that has been sent before if that can be
/// helped: the timeouts that are due soon will move the host if the connection is dead.
bool Host::must_hold(const HostCall& call, TimePoint now) {
  if (!stalled(now)) {
    return false;
  }
  if (probe_ != nullptr) {
    return true;
  }
  if (!call.ask_.second || now - call.since_ >= kHold) {
    return false;
  }
  if (!hold_) {
    hold_ = world_.scheduler.after(kHold, [this] {
      hold_.reset();
      pump();
    });
  }
  return true;
}

/// Hands questions to the current lane while it takes them; otherwise sees to it that a lane comes up.
void Host::pump() {
  const TimePoint now = world_.scheduler.now();
  while (!queue_.empty()) {
    const transport::Lane* lane = slots_[current_].lane.get();
    HostCall& call = *queue_.front();
    if (call.ask_.give_up <= now || lane == nullptr || !lane->ready() || must_hold(call, now)) {
      break;
    }
    if (stalled(now)) {
      probe_ = &call;
    }
    queue_.pop_front();
    send(call);
  }
  if (!queue_.empty()) {
    reach();
  }
  arm_expiry();
}

void Host::send(HostCall& call) {
  const TimePoint now = world_.scheduler.now();
  call.state_ = HostCall::State::Sent;
  call.since_ = now;
  call.slot_ = current_;
  call.place_ = slots_[current_].sent.insert(slots_[current_].sent.end(), &call);
  call.generation_ = generation_;
  transport::DohRequest request = call.ask_.request;  // kept: it may have to be sent again
  request.limit = std::min<Duration>(world_.timeouts.attempt, call.ask_.deadline - now);
  call.sending_ = slots_[current_].lane->send(std::move(request),
                                              [this, &call](transport::ExchangeReport report) { on_report(call, std::move(report)); });
}

/// The call is no longer among those that wait for an answer.
void Host::take_from_sent(HostCall& call) {
  slots_[call.slot_].sent.erase(call.place_);
  call.state_ = HostCall::State::New;
  if (probe_ == &call) {
    probe_ = nullptr;
  }
}

void Host::on_report(HostCall& call, transport::ExchangeReport report) {
  take_from_sent(call);
  if (!report.use.sent) {
    requeue(call);
    pump();
    return;
  }
  AskResult result{.report = std::move(report), .exit = slots_[call.slot_].exit};
  if (!result.report->result) {
    after_failure(call, result.report->result.error(), result);
    world_.metrics.sending(call.ask_.upstream, result.exit, outcome_of(result.report->result.error()), result.report->times.total);
  } else {
    slots_[call.slot_].heard = world_.scheduler.now();
    silent_connection_ = silent_connection_ == result.report->use.connection ? 0 : silent_connection_;
  }
  finish(call, std::move(result));
  pump();
}

/// Books the failure of a sent request and moves the host where the table says so.
void Host::after_failure(HostCall& call, const transport::Failure& failure, AskResult& result) {
  const transport::ConnectionUse& use = result.report->use;
  result.verdict = judge_exchange(failure, use);
  result.stage = stage_text(failure);
  if (result.verdict.book == Book::Host) {
    misbehaved(std::nullopt);
  }
  if (result.verdict.move != Move::Leave) {
    return;
  }
  if (failure.kind == transport::FailureKind::Timeout) {
    if (silent_connection_ == use.connection && use.connection != 0) {
      slots_[call.slot_].lane->evict(use.connection);  // two timeouts and not an octet: dead
    }
    silent_connection_ = use.connection;
  }
  if (call.generation_ != generation_) {
    return;  // the host has moved since this was sent: once per connection
  }
  const TimePoint now = world_.scheduler.now();
  if (repeated_elsewhere(call.slot_, failure)) {
    result.verdict.book = Book::Host;
    avoidance_.failed(now);
    return;
  }
  if (const auto next = next_fresh(now)) {  // with nowhere to go the same exit is dialled again at once
    slots_[call.slot_].backoff.failed(now);
    slots_[call.slot_].failed = true;
    move(*next, word(failure.kind));
  }
}

/// It was not sent after all (the pooled connection was found dead): back to its place, a dial follows.
void Host::requeue(HostCall& call) {
  call.sending_.reset();
  if (++call.unsent_tries_ >= kMaxUnsentTries) {
    call.ask_.give_up = world_.scheduler.now();
  }
  enqueue(call);
}

void Host::finish(HostCall& call, AskResult result) {
  call.state_ = HostCall::State::Finished;
  Done done = std::move(call.done_);
  done(std::move(result));  // may destroy the call
}

void Host::forget(HostCall& call) {
  --calls_;
  if (call.state_ == HostCall::State::Queued) {
    queue_.erase(call.place_);
    arm_expiry();
  } else if (call.state_ == HostCall::State::Sent) {
    take_from_sent(call);
  }
}

void Host::arm_expiry() {
  if (queue_.empty()) {
    expiry_.reset();
    return;
  }
  const TimePoint head = queue_.front()->ask_.give_up;
  if (expiry_ && expiry_at_ == head) {
    return;
  }
  expiry_at_ = head;
  expiry_ = world_.scheduler.after(std::max(Duration::zero(), head - world_.scheduler.now()), [this] { expire(); });
}

void Host::expire() {
  expiry_.reset();
  const TimePoint now = world_.scheduler.now();
  while (!queue_.empty() && queue_.front()->ask_.give_up <= now) {
    HostCall& call = *queue_.front();
    queue_.pop_front();
    finish(call,
           AskResult{.unsent = call.unsent_, .stage = last_stage_.empty() ? "no exit is up yet" : last_stage_, .exit = current_exit()});
  }
  arm_expiry();
}

/// All that wait leave now, from a timer: this may be called inside ask().
void Host::fail_queue(Unsent why) {
  for (HostCall* call : queue_) {
    call->ask_.give_up = world_.scheduler.now();
    call->unsent_ = why;
  }
  arm_expiry();
}

bool Host::available(TimePoint now) const {
  if (now < avoid_until_ || !avoidance_.over(now) || !trouble_.over(now)) {
    return false;
  }
  return !all_known_down(now) && !stalled(now);
}

void Host::misbehaved(std::optional<std::chrono::seconds> wait) {
  const TimePoint now = world_.scheduler.now();
  if (wait) {
    avoid_until_ = std::max(avoid_until_, now + *wait);
  }
  if (++bad_answers_ >= kBadAnswersToAvoid && avoidance_.over(now)) {
    avoidance_.failed(now);
    log::warning("upstream", "{}: {} bad or late answers in a row; others are preferred for {} s", spec_.label, bad_answers_,
                 std::chrono::duration_cast<std::chrono::seconds>(avoidance_.step()).count());
  }
}

void Host::behaved() {
  bad_answers_ = 0;
  avoidance_.succeeded();
}

void Host::exit_changed(ExitId exit) {
  const bool mine = std::ranges::any_of(slots_, [exit](const Slot& slot) { return slot.exit == exit; });
  if (mine && (!queue_.empty() || (spec_.warm && current_exit() == exit))) {
    kick();
  }
}

void Host::kick() {
  if (!kick_) {
    kick_ = world_.scheduler.after(Duration::zero(), [this] {
      kick_.reset();
      if (spec_.warm && !lane_up(current_)) {
        warm();
      }
      pump();
    });
  }
}

void Host::each_lane(const std::function<void(ExitId, const transport::Lane&)>& visit) const {
  for (const Slot& slot : slots_) {
    if (slot.lane) {
      visit(slot.exit, *slot.lane);
    }
  }
}

}  // namespace dohmux::upstream
