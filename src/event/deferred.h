// Scheduler::defer with an owner: a task that can be asked for many times in one loop turn, runs once, and is
// cancelled by destroying this object.
#pragma once

#include <memory>
#include <utility>

#include "base/scheduler.h"
#include "event/callback_slot.h"

namespace dohmux::event {

class Deferred {
 public:
  /// `scheduler` outlives this object.
  Deferred(Scheduler& scheduler, Task task) : scheduler_(scheduler), task_(std::move(task)) {}
  ~Deferred() {
    if (ticket_ != nullptr) {
      ticket_->owner = nullptr;
    }
  }
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  /// The task runs once before the loop sleeps; further requests until then change nothing. Never inline.
  void request() {
    if (ticket_ != nullptr) {
      return;
    }
    auto ticket = std::make_unique<Ticket>(this);
    ticket_ = ticket.get();
    scheduler_.defer([ticket = std::move(ticket)] { ticket->redeem(); });
  }

 private:
  // Lives in the scheduler's queue; whoever dies first tells the other.
  struct Ticket {
    explicit Ticket(Deferred* holder) : owner(holder) {}
    ~Ticket() {
      if (owner != nullptr) {
        owner->ticket_ = nullptr;
      }
    }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    void redeem() {
      if (Deferred* holder = std::exchange(owner, nullptr); holder != nullptr) {
        holder->ticket_ = nullptr;
        holder->task_();
      }
    }
    Deferred* owner;
  };

  Scheduler& scheduler_;
  CallbackSlot<> task_;
  Ticket* ticket_ = nullptr;
};

}  // namespace dohmux::event
