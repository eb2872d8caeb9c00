// What the calls of one route share, and their beginning; the work is in plain_call.cpp.
// Must not know which names are covered.
#include "forward/plain_forwarder.h"

#include <cassert>
#include <utility>

namespace dohmux::forward {

PlainForwarder::PlainForwarder(event::Loop& loop, const std::vector<Endpoint>& servers, const TimeoutsConfig& timeouts, Random random)
    : world_{.loop = loop,
             .servers = Servers(servers),
             .random = random,
             .attempt = timeouts.attempt,
             .in_flight = 0,
             .most_in_flight = kMostInFlight,
             .buffer = Bytes(dns::kMaxMessage)} {}

PlainForwarder::~PlainForwarder() {
  assert(world_.in_flight == 0 && "calls outlive their forwarder");
}

std::unique_ptr<Call> PlainForwarder::exchange(const dns::Query& query, Bytes message, TimePoint deadline, Done done) {
  return std::make_unique<PlainCall>(world_, PlainQuestion{.query = query, .message = std::move(message), .deadline = deadline},
                                     std::move(done));
}

}  // namespace dohmux::forward
