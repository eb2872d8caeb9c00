// The plain resolvers of one route in the file's order, and which of them were in trouble lately. Pure.
#pragma once

#include <dohmux/address.h>

#include <cstddef>
#include <vector>

#include "base/scheduler.h"
#include "upstream/backoff.h"

namespace dohmux::forward {

class Servers {
 public:
  explicit Servers(const std::vector<Endpoint>& endpoints);

  [[nodiscard]] const Endpoint& endpoint(std::size_t server) const { return servers_[server].endpoint; }

  /// Whom one query asks, each once: the order of the list, but those in trouble behind the others. When a back-off is
  /// over the caller gets that server in its old place and others do not: one query probes, the rest need not wait.
  [[nodiscard]] std::vector<std::size_t> order(TimePoint now);
  /// It was silent, or could not be reached.
  void failed(std::size_t server, TimePoint now);
  /// It has answered, with whatever.
  void works(std::size_t server);

 private:
  struct Server {
    Endpoint endpoint;
    upstream::Backoff backoff;
  };
  std::vector<Server> servers_;
};

}  // namespace dohmux::forward
