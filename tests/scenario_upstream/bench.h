// A pool over the fake transport: `questions` go in, outcomes and counts come out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dns/query.h"
#include "fakes/fake_scheduler.h"
#include "fakes/fake_transport.h"
#include "stats/metrics.h"
#include "upstream/pool.h"

namespace dohmux::test {

using namespace std::chrono_literals;

/// Hosts h1..hN (names "hI") that may all use proxies p1..pM.
struct Shape {
  int hosts = 1;
  int proxies = 3;
  Strategy strategy = Strategy::Failover;
  std::vector<std::string> via{};  // empty: all proxies
};

class Bench {
 public:
  explicit Bench(Shape shape);

  struct Outcome {
    bool done = false;
    bool answered = false;
    upstream::ExchangeError error{};
    upstream::Trail trail{};
    Duration took{};
  };

  /// Asks the default group; the outcome is filled when it ends. Returns its index.
  std::size_t ask();
  void ask_many(int count);
  void run(Duration span) { scheduler.advance(span); }

  [[nodiscard]] int answered() const;
  [[nodiscard]] int finished() const;
  [[nodiscard]] int sendings_most() const;
  [[nodiscard]] std::uint64_t moves(const std::string& host = "") const;
  [[nodiscard]] std::string exit_of(const std::string& host);
  [[nodiscard]] std::uint64_t metric(const std::string& line_start) const;
  [[nodiscard]] bool exit_up(const std::string& exit) const { return metric("dohmux_proxy_up{proxy=\"" + exit + "\"}") == 1; }

  FakeScheduler scheduler;
  FakeTransport transport{scheduler};
  Config config;
  std::unique_ptr<stats::Metrics> metrics;
  std::unique_ptr<upstream::Pool> pool;
  std::vector<Outcome> outcomes;

 private:
  dns::Query query_;
  std::vector<std::unique_ptr<Call>> calls_;
};

/// "h1/p2" -> "p2".
std::string exit_part(const std::string& lane);

}  // namespace dohmux::test
