// A Transport that does what rules say, in virtual time, and counts. Each lane is known as "host/exit".
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/scheduler.h"
#include "transport/transport.h"

namespace dohmux::test {

using transport::DialInfo;
using transport::ExchangeReport;
using transport::Failure;
using transport::FailureKind;

/// What becomes of a dial or a sending: after `delay`, success or `failure`; `hang`: nothing until the caller's limit.
struct Step {
  Duration delay{};
  std::optional<FailureKind> failure{};
  int http_status = 0;  // of the failure, or of the reply when there is none
  bool hang = false;
  bool received_since = false;
  bool header_seen = false;
  std::string content_type = "application/dns-message";
};

struct LaneCounts {
  int dials = 0;
  int dials_at_once_max = 0;
  int sendings = 0;
};

class FakeLane;

class FakeTransport final : public transport::Transport {
 public:
  using Rule = std::function<Step(const std::string& lane)>;
  explicit FakeTransport(Scheduler& scheduler) : scheduler_(scheduler) {}

  [[nodiscard]] std::expected<std::unique_ptr<transport::Lane>, std::string> open(const transport::LaneSpec& spec) override;

  Rule dial_rule = [](const std::string&) { return Step{.delay = std::chrono::milliseconds(50)}; };
  Rule send_rule = [](const std::string&) { return Step{.delay = std::chrono::milliseconds(25), .http_status = 200}; };
  std::size_t streams = 100;
  std::map<std::string, LaneCounts> counts;
  std::vector<std::string> order;  // "dial host/exit", "send host/exit"

  /// All connections of that lane end now; what is in flight on them fails with `kind`.
  void lose(const std::string& lane, FailureKind kind = FailureKind::ConnectionLost);
  /// Its connections look alive, but the next request finds them dead (closed while idle).
  void go_stale(const std::string& lane);

 private:
  friend class FakeLane;
  Scheduler& scheduler_;
  std::map<std::string, FakeLane*> lanes_;
  std::uint64_t next_connection_ = 1;
};

}  // namespace dohmux::test
