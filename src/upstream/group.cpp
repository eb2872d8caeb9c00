// Choice among upstreams: failover in the order of preference, or in turn. Must not know what a sending is.
#include "upstream/group.h"

#include <utility>

#include "upstream/exchange.h"

namespace dohmux::upstream {

Group::Group(std::vector<Upstream> upstreams, Strategy strategy, HostWorld world)
    : upstreams_(std::move(upstreams)), strategy_(strategy), world_(std::move(world)) {}

std::optional<std::size_t> Group::pick(std::size_t start, const std::vector<std::uint8_t>& tried) const {
  const TimePoint now = world_.scheduler.now();
  std::optional<std::size_t> last_resort;
  for (std::size_t step = 0; step < upstreams_.size(); ++step) {
    const std::size_t index = (start + step) % upstreams_.size();
    if (index < tried.size() && tried[index] != 0) {
      continue;
    }
    if (upstreams_[index].host->available(now)) {
      return index;
    }
    if (!last_resort) {
      last_resort = index;
    }
  }
  return last_resort;
}

std::unique_ptr<Call> Group::exchange(const dns::Query& query, Bytes message, TimePoint deadline, Done done) {
  auto exchange = std::make_unique<Exchange>(*this, query, std::move(message), deadline);
  const std::size_t first = strategy_ == Strategy::RoundRobin ? turn_++ % upstreams_.size() : 0;
  exchange->start(first, std::move(done));
  return exchange;
}

}  // namespace dohmux::upstream
