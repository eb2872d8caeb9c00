// Order and health of a route's servers.
// Must not know sockets or queries: time is a parameter.
#include "forward/servers.h"

namespace dohmux::forward {
namespace {

constexpr Duration kFirstBackoff = std::chrono::seconds(1);
constexpr Duration kMostBackoff = std::chrono::seconds(30);

}  // namespace

Servers::Servers(const std::vector<Endpoint>& endpoints) {
  servers_.reserve(endpoints.size());
  for (const Endpoint& endpoint : endpoints) {
    servers_.push_back({.endpoint = endpoint, .backoff = upstream::Backoff(kFirstBackoff, kMostBackoff)});
  }
}

std::vector<std::size_t> Servers::order(TimePoint now) {
  std::vector<std::size_t> order;
  std::vector<std::size_t> in_trouble;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    upstream::Backoff& backoff = servers_[i].backoff;
    if (!backoff.over(now)) {
      in_trouble.push_back(i);
      continue;
    }
    order.push_back(i);
    if (backoff.step() != Duration::zero()) {
      backoff.failed(now);  // until this probe has an answer
    }
  }
  order.insert(order.end(), in_trouble.begin(), in_trouble.end());
  return order;
}

void Servers::failed(std::size_t server, TimePoint now) {
  upstream::Backoff& backoff = servers_[server].backoff;
  if (backoff.over(now)) {  // many queries that wait for one dead server are one failure
    backoff.failed(now);
  }
}

void Servers::works(std::size_t server) {
  servers_[server].backoff.succeeded();
}

}  // namespace dohmux::forward
