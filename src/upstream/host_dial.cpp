// Dials, the race of exits, and moves of one host (contract.md §3). Knows no question but that some wait.
#include <algorithm>

#include "base/log.h"
#include "upstream/host.h"

namespace dohmux::upstream {
namespace {
using namespace std::chrono_literals;
constexpr Duration kSameFailureWindow = 10s;  // contract.md §3: booked to the host within it
constexpr Duration kFailureFades = 60s;       // after its back-off a lane's failure is worth knowing for so long
}  // namespace

std::expected<void, std::string> Host::open() {
  return open(current_);
}

std::expected<void, std::string> Host::open(std::size_t index) {
  Slot& slot = slots_[index];
  if (slot.lane) {
    return {};
  }
  auto lane = world_.transport.open(spec_.lanes[index]);
  if (!lane) {
    return std::unexpected(lane.error());
  }
  slot.lane = std::move(*lane);
  slot.lane->on_change([this] {
    if (!queue_.empty()) {
      pump();
    }
  });
  return {};
}

void Host::warm() {
  warming_ = true;
  reach();
}

bool Host::lane_up(std::size_t slot) const {
  return slots_[slot].lane && slots_[slot].lane->connected() > 0;
}

bool Host::known_down(std::size_t index, TimePoint now) const {
  const Slot& slot = slots_[index];
  if ((slot.failed && now < slot.backoff.until() + kFailureFades) || world_.exits.known_down(slot.exit, now)) {
    return true;
  }
  return slot.dial && now - slot.dial_began >= world_.timeouts.attempt;  // silent for so long
}

bool Host::all_known_down(TimePoint now) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!known_down(i, now)) {
      return false;
    }
  }
  return !lane_up(current_);
}

bool Host::dialling() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.dial != nullptr; });
}

bool Host::slot_usable(std::size_t index, TimePoint now) const {
  const Slot& slot = slots_[index];
  return !slot.dial && slot.backoff.over(now) && world_.exits.usable(slot.exit, now);
}

/// The first other exit, in the host's order, of which nothing bad is known.
std::optional<std::size_t> Host::next_fresh(TimePoint now) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (i != current_ && !known_down(i, now) && !slots_[i].dial) {
      return i;
    }
  }
  return std::nullopt;
}

/// An exit that failed before and may be tried again.
std::optional<std::size_t> Host::next_probe(TimePoint now) const {
  for (std::size_t step = 0; step < slots_.size(); ++step) {
    const std::size_t i = (current_ + step) % slots_.size();
    if (slot_usable(i, now)) {
      return i;
    }
  }
  return std::nullopt;
}

/// Something waits for a lane: the current one is up, or a dial is under way, or one begins now.
void Host::reach() {
  if (lane_up(current_)) {
    warming_ = false;
    return;
  }
  if (!trouble_.over(world_.scheduler.now())) {
    warming_ = false;
    fail_queue(trouble_why_);
    return;
  }
  if (!dialling()) {
    advance();
  }
}

/// Begins the next dial: the current exit if it may work, else the next that may (the host moves there),
/// else one that failed before. With nothing left and no dial under way, who waits is told.
void Host::advance() {
  const TimePoint now = world_.scheduler.now();
  if (!slots_[current_].dial && !known_down(current_, now)) {
    dial(current_);
    return;
  }
  if (const auto fresh = next_fresh(now)) {
    if (!slots_[current_].dial) {
      move(*fresh, world_.exits.down(current_exit()) ? "exit_down" : "dial_failed");
    }
    dial(*fresh);
    return;
  }
  if (const auto probe = next_probe(now)) {
    dial(*probe);
    return;
  }
  if (!dialling()) {
    warming_ = false;
    fail_queue(Unsent::NoExit);
  }
}

void Host::dial(std::size_t index) {
  Slot& slot = slots_[index];
  if (slot.dial) {
    return;
  }
  if (lane_up(index)) {  // it was left with its connections up
    if (index != current_) {
      move(index, "still_connected");
    }
    kick();
    return;
  }
  if (const auto opened = open(index); !opened) {
    log::error("upstream", "{}: {}", spec_.label, opened.error());
    last_stage_ = opened.error();
    in_trouble(Unsent::NoExit);
    return;
  }
  slot.dial_began = world_.scheduler.now();
  world_.exits.dial_begins(slot.exit);
  slot.dial = slot.lane->dial(world_.timeouts.dial, [this, index](std::expected<transport::DialInfo, transport::Failure> result) {
    on_dial(index, std::move(result));
  });
  race_ = world_.scheduler.after(world_.timeouts.exit_race, [this] { race(); });
}

/// No exit is up after `exit_race`: the next one is dialled beside.
void Host::race() {
  race_.reset();
  if (!wanted() || lane_up(current_)) {
    return;
  }
  const TimePoint now = world_.scheduler.now();
  auto next = next_fresh(now);
  if (!next) {
    next = next_probe(now);
  }
  if (next) {
    dial(*next);
  }
}

void Host::on_dial(std::size_t index, std::expected<transport::DialInfo, transport::Failure> result) {
  slots_[index].dial.reset();
  if (result) {
    dial_worked(index, *result);
  } else {
    dial_failed(index, result.error());
  }
  pump();
}

void Host::dial_worked(std::size_t index, const transport::DialInfo& info) {
  Slot& slot = slots_[index];
  slot.failed = false;
  slot.backoff.succeeded();
  trouble_.succeeded();
  last_stage_.clear();
  world_.metrics.dial(slot.exit, "ok");
  world_.exits.works(slot.exit);
  if (!info.http2 && !http1_warned_) {
    http1_warned_ = true;
    log::warning("upstream", "{} speaks HTTP/1.1 only: one query at a time on each of at most {} connections", spec_.label,
                 spec_.lanes[index].origin.max_http1_connections);
  }
  if (index != current_ && !lane_up(current_)) {
    move(index, known_down(current_, world_.scheduler.now()) ? "dial_failed" : "exit_race");
  }
  warming_ = false;
  race_.reset();
}

void Host::dial_failed(std::size_t index, const transport::Failure& failure) {
  const TimePoint now = world_.scheduler.now();
  Slot& slot = slots_[index];
  const Verdict verdict = judge_dial(failure);
  last_stage_ = stage_text(failure);
  world_.metrics.dial(slot.exit, word(failure.kind));
  const bool proxy_fault = verdict.book == Book::Proxy && world_.tunnels_of_others(slot.exit, this) == 0;
  if (proxy_fault) {
    world_.exits.failed(slot.exit, now, last_stage_);
  } else if (verdict.book == Book::Lane && failure.kind == transport::FailureKind::TunnelRefused) {
    world_.exits.works(slot.exit);  // it answered
  } else {
    world_.exits.dial_abandoned(slot.exit);
  }
  if (verdict.book == Book::Host) {
    log::error("upstream", "{} is not used: {}", spec_.label, last_stage_);
    in_trouble(failure.kind == transport::FailureKind::Certificate ? Unsent::Certificate : Unsent::NoExit);
    return;
  }
  slot.failed = true;
  if (!proxy_fault) {
    book_lane(index, failure);
    if (repeated_elsewhere(index, failure)) {
      log::warning("upstream", "{} is down whichever way it is reached: {}", spec_.label, last_stage_);
      in_trouble(Unsent::NoExit);
      return;
    }
  }
  if (wanted() && !lane_up(current_)) {
    advance();
  }
}

/// Booked to the host: no dial for a while, and who waits is told why.
void Host::in_trouble(Unsent why) {
  trouble_.failed(world_.scheduler.now());
  trouble_why_ = why;
  warming_ = false;
  fail_queue(why);
}

void Host::book_lane(std::size_t index, const transport::Failure& failure) {
  Slot& slot = slots_[index];
  slot.backoff.failed(world_.scheduler.now());
  log::info("upstream", "{} cannot be reached through {}: {}", spec_.label, world_.exits.name(slot.exit), stage_text(failure));
}

/// True if the last failure of this host was of the same kind, through another exit, not long ago.
bool Host::repeated_elsewhere(std::size_t index, const transport::Failure& failure) {
  const TimePoint now = world_.scheduler.now();
  const bool same = last_failure_ && last_failure_->kind == failure.kind && last_failure_->http_status == failure.http_status &&
                    last_failure_->slot != index && now - last_failure_->when <= kSameFailureWindow;
  last_failure_ = LastFailure{failure.kind, failure.http_status, index, now};
  return same;
}

void Host::move(std::size_t index, std::string_view reason) {
  const ExitId from = current_exit();
  current_ = index;
  ++generation_;
  probe_ = nullptr;
  world_.metrics.move(spec_.metric, from, current_exit(), reason);
  log::info("upstream", "{} moves from {} to {}: {}", spec_.label, world_.exits.name(from), world_.exits.name(current_exit()), reason);
}

}  // namespace dohmux::upstream
