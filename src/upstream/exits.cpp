// Health of the ways out. Knows no host, no lane and no transport: it is told what happened.
#include "upstream/exits.h"

#include "base/log.h"

namespace dohmux::upstream {
namespace {
using namespace std::chrono_literals;
constexpr Duration kFirst = 1s;
constexpr Duration kMost = 60s;
constexpr Duration kFades = 5s;  // after the back-off; while queries keep failing each probe renews it
}  // namespace

Exits::Exits(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    exits_.push_back(Exit{.name = name, .backoff = Backoff(kFirst, kMost)});
  }
}

bool Exits::known_down(ExitId exit, TimePoint now) const {
  return exits_[exit].down && now < exits_[exit].backoff.until() + kFades;
}

bool Exits::usable(ExitId exit, TimePoint now) const {
  const Exit& one = exits_[exit];
  return !one.down || (one.backoff.over(now) && !one.probing);
}

void Exits::dial_begins(ExitId exit) {
  if (exits_[exit].down) {
    exits_[exit].probing = true;
  }
}

void Exits::failed(ExitId exit, TimePoint now, const std::string& reason) {
  Exit& one = exits_[exit];
  one.probing = false;
  if (one.down && !one.backoff.over(now)) {
    return;  // several hosts found the same failure: counted once
  }
  one.backoff.failed(now);
  const auto wait = std::chrono::duration_cast<std::chrono::seconds>(one.backoff.step()).count();
  if (one.down) {
    log::debug("exit", "{} is still down: {}; not tried again for {} s", one.name, reason, wait);
    return;
  }
  one.down = true;
  log::warning("exit", "{} is down: {}; all resolvers avoid it, not tried again for {} s", one.name, reason, wait);
  if (changed_) {
    changed_(exit);
  }
}

void Exits::works(ExitId exit) {
  Exit& one = exits_[exit];
  one.probing = false;
  if (!one.down) {
    return;
  }
  one.down = false;
  one.backoff.succeeded();
  log::info("exit", "{} works again", one.name);
  if (changed_) {
    changed_(exit);
  }
}

}  // namespace dohmux::upstream
