// The way most programs do it: a thread takes a name, makes a handle, connects, asks, throws both away.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "support/lab.h"

namespace dohmux::demo {

struct NaiveResult {
  std::size_t answered = 0;
  std::chrono::milliseconds wall{0};
  std::vector<double> latencies_ms;
};

struct NaiveWork {
  std::size_t queries = 630;
  std::size_t threads = 50;
};

/// The same resolvers in turn, the same proxies at random, through libcurl's easy interface.
[[nodiscard]] NaiveResult run_naive(test::Lab& lab, const NaiveWork& work);

}  // namespace dohmux::demo
