// The ways out (each proxy, and `direct`) with the health that all hosts share. Time is a parameter.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "upstream/backoff.h"

namespace dohmux::upstream {

using ExitId = std::size_t;

class Exits {
 public:
  explicit Exits(const std::vector<std::string>& names);

  [[nodiscard]] std::size_t size() const { return exits_.size(); }
  [[nodiscard]] const std::string& name(ExitId exit) const { return exits_[exit].name; }
  /// The last thing known about it is a failure booked to it.
  [[nodiscard]] bool down(ExitId exit) const { return exits_[exit].down; }
  /// Down, and that is not old: once its back-off has been over for a while, nobody knows.
  [[nodiscard]] bool known_down(ExitId exit, TimePoint now) const;
  /// A dial through it makes sense now: it is not down, or its back-off is over and nobody probes it yet.
  [[nodiscard]] bool usable(ExitId exit, TimePoint now) const;

  /// A dial through it begins; on one that is down this is the only probe until it ends.
  void dial_begins(ExitId exit);
  /// The probe ended in a way that says nothing about the exit (cancelled, certificate).
  void dial_abandoned(ExitId exit) { exits_[exit].probing = false; }
  /// The exit itself failed (contract.md §3, "booked to proxy").
  void failed(ExitId exit, TimePoint now, const std::string& reason);
  /// The exit did its part: a tunnel, or a proper refusal of one.
  void works(ExitId exit);

  /// Called when an exit has gone down or come up.
  void on_change(std::function<void(ExitId)> changed) { changed_ = std::move(changed); }

 private:
  struct Exit {
    std::string name;
    bool down = false;
    bool probing = false;
    Backoff backoff;
  };
  std::vector<Exit> exits_;
  std::function<void(ExitId)> changed_;
};

}  // namespace dohmux::upstream
