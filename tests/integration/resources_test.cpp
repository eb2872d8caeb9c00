// What the daemon costs while nothing happens, and after much has happened (issue A, "Must hold").
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

constexpr int kHosts = 12;

/// Rounds of queries with all connections lost between them, orderly in the middle of some.
class Wear {
 public:
  explicit Wear(House& house) : house_(house) {}

  void round(std::size_t queries, const std::string& in_the_middle = {}) {
    bool done = in_the_middle.empty();
    const BatchResult result =
        run_batch({.port = house_.daemon.udp_port(), .queries = queries, .in_flight = 50, .on_finished = [&](std::size_t finished) {
                     if (!done && finished >= queries / 2) {
                       done = true;
                       house_.lab.command("resolver * " + in_the_middle);
                     }
                   }});
    unanswered_ += queries - result.with_answer();
  }
  /// The next round has to dial; that this is noticed first keeps every query from being sent in vain.
  bool lose_connections(const std::string& how) {
    house_.lab.command("resolver * " + how);
    return wait_for_open(0);
  }
  bool wait_for_open(long wanted) {
    for (int i = 0; i < 2000; ++i) {
      if (house_.metric("dohmux_connections_open{") == wanted) {
        return true;
      }
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  [[nodiscard]] std::size_t unanswered() const { return unanswered_; }

 private:
  House& house_;
  std::size_t unanswered_ = 0;
};

}  // namespace

TEST_CASE("ten idle seconds with 12 warm connections: not one voluntary context switch") {
  House house({.resolvers = 12, .proxies = 3, .rtt = "25ms"});
  REQUIRE(house.wait_for_connections(12));
  CHECK(house.ask_many(200, 50).with_answer() == 200);
  const pid_t daemon = house.daemon.process().pid();
  std::this_thread::sleep_for(3s);  // the web client and the last acknowledgements are gone
  const long before = voluntary_switches(daemon);
  std::this_thread::sleep_for(10s);
  const long after = voluntary_switches(daemon);
  INFO("threads: " << proc_status(daemon, "Threads"));
#if defined(__SANITIZE_THREAD__)
  CHECK(after >= before);  // ThreadSanitizer has a thread of its own, which wakes up all the time
#else
  CHECK(after - before == 0);
#endif
  CHECK(house.lab.total('r', "accepts") == 12);
  CHECK(house.ask_many(200, 50).with_answer() == 200);  // still the same connections
  CHECK(house.lab.total('r', "accepts") == 12);
}

TEST_CASE("100,000 queries and 1,000 reconnects: memory grows by at most 1 MiB, descriptors not at all") {
  if (kSanitized) {
    SKIP("a sanitizer has memory and descriptors of its own");
  }
  House house({.resolvers = kHosts, .proxies = 3});
  REQUIRE(house.wait_for_connections(kHosts));
  const pid_t daemon = house.daemon.process().pid();
  Wear wear(house);
  wear.round(10000);
  REQUIRE(wear.wait_for_open(kHosts));
  std::this_thread::sleep_for(500ms);
  const long accepts_before = house.lab.total('r', "accepts");
  const long descriptors_before = open_descriptors(daemon);
  const long memory_before = proc_status(daemon, "VmRSS");

  for (int i = 0; i < 99; ++i) {
    wear.round(1000, i % 5 == 0 ? "goaway-all" : "");
    REQUIRE(wear.lose_connections(i % 2 == 0 ? "drop-all" : "reset-all"));
  }
  wear.round(1000);
  CHECK(wear.wait_for_open(kHosts));
  std::this_thread::sleep_for(500ms);  // for the last connection to the metrics to be gone
  const long reconnects = house.lab.total('r', "accepts") - accepts_before;
  const long descriptors_after = open_descriptors(daemon);
  const long memory_after = proc_status(daemon, "VmRSS");
  INFO(fmt::format("{} reconnects, RSS {} -> {} KiB, descriptors {} -> {}", reconnects, memory_before, memory_after, descriptors_before,
                   descriptors_after));
  CHECK(wear.unanswered() == 0);
  CHECK(reconnects >= 1000);
  CHECK(memory_after - memory_before <= 1024);
  CHECK(descriptors_after == descriptors_before);
  CHECK(house.metric("dohmux_proxy_moves_total{") == 0);
  CHECK(house.daemon.stop() == 0);
}
