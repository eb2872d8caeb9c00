// Plain DNS to the servers of one route (`routes` with `forward`): what the resolver asks instead of a DoH group.
#pragma once

#include <dohmux/address.h>
#include <dohmux/config.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/random.h"
#include "event/loop.h"
#include "forward/plain_call.h"
#include "upstream/exchanger.h"

namespace dohmux::forward {

/// Asks the servers one after the other, over UDP and, when an answer was cut, over TCP (RFC 7766 §5); each at most
/// once a query. The next one is asked when a server is silent for its share of the time, unreachable, answers
/// SERVFAIL or REFUSED, or sends what is no answer. Without any other answer the last refusal is handed out.
/// Nothing else ever sees the name.
class PlainForwarder final : public upstream::Exchanger {
 public:
  /// Queries under way, each with one socket; beyond it a query fails with Overload.
  static constexpr std::size_t kMostInFlight = 1024;

  PlainForwarder(event::Loop& loop, const std::vector<Endpoint>& servers, const TimeoutsConfig& timeouts, Random random);
  ~PlainForwarder() override;  // every call must be gone

  /// `message` leaves in clear text, so it must come from dns::upstream_query with Padding::None (RFC 7830 §6).
  [[nodiscard]] std::unique_ptr<Call> exchange(const dns::Query& query, Bytes message, TimePoint deadline, Done done) override;

  [[nodiscard]] std::size_t in_flight() const { return world_.in_flight; }

 private:
  PlainWorld world_;
};

}  // namespace dohmux::forward
