// What the listeners allow; runtime fills it from the configuration.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/scheduler.h"

namespace dohmux::server {

struct TcpLimits {
  std::size_t connections = 1024;
  std::size_t connections_per_address = 64;            // loopback is exempt
  std::size_t unanswered = 100;                        // queries under way on one connection; then it is not read
  std::size_t unsent_bytes = std::size_t{256} * 1024;  // answers that the client does not fetch; then it is not read
  Duration idle = std::chrono::seconds(10);            // nothing under way (RFC 7766 §6.2.3)
  Duration frame = std::chrono::seconds(5);            // from the first octet of a message to its last
  Duration write = std::chrono::seconds(10);           // answers waiting and not one octet of them taken
};

}  // namespace dohmux::server
