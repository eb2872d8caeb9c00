// Something under way. Destroying it cancels it: its `done` never runs afterwards.
#pragma once

namespace dohmux {

class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;
};

}  // namespace dohmux
