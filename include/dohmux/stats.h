// A snapshot of the daemon's counters; what /metrics renders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dohmux {

struct Stats {
  std::uint64_t queries_udp = 0;
  std::uint64_t queries_tcp = 0;
  std::uint64_t in_flight = 0;
  std::string prometheus;  // the whole exposition, text format 0.0.4
};

}  // namespace dohmux
