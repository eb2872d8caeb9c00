// Connections under one common time limit. Because the limit is the same for all, the order of arrival is the order
// of expiry: a list is enough, and one timer can serve many such lists.
#pragma once

#include <cstdint>
#include <list>
#include <optional>

#include "base/scheduler.h"

namespace dohmux::server {

class DeadlineList {
  struct Entry {
    std::uint64_t id = 0;
    TimePoint since;
  };

 public:
  /// A connection's place in one list. Belongs to the connection; leave() before it dies.
  using Place = std::optional<std::list<Entry>::iterator>;

  explicit DeadlineList(Duration limit) : limit_(limit) {}

  /// The time starts now, unless it is running already.
  void enter(Place& place, std::uint64_t id, TimePoint now) {
    if (!place) {
      place = entries_.insert(entries_.end(), Entry{.id = id, .since = now});
    }
  }
  void leave(Place& place) {
    if (place) {
      entries_.erase(*place);
      place.reset();
    }
  }

  /// When the oldest entry expires.
  [[nodiscard]] std::optional<TimePoint> due() const {
    return entries_.empty() ? std::nullopt : std::optional(entries_.front().since + limit_);
  }
  /// The oldest entry if it has expired. It stays in until leave().
  [[nodiscard]] std::optional<std::uint64_t> expired(TimePoint now) const {
    return !entries_.empty() && entries_.front().since + limit_ <= now ? std::optional(entries_.front().id) : std::nullopt;
  }
  /// Ids, oldest first; `visit` returns true to stop.
  template <typename Visit>
  void visit_oldest_first(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (visit(entry.id)) {
        return;
      }
    }
  }

 private:
  Duration limit_;
  std::list<Entry> entries_;
};

}  // namespace dohmux::server
