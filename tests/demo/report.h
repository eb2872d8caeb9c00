// What the demo prints: per-host tables, the comparison, and what must hold.
#pragma once

#include <string>
#include <vector>

#include "observed.h"
#include "support/lab.h"

namespace dohmux::demo {

/// One line of the comparison.
struct Measured {
  std::string way;
  long connections = 0;
  long wall_ms = 0;
  std::vector<double> latencies_ms;
};

/// 0.5 = median; 0 if there is nothing.
[[nodiscard]] double percentile(std::vector<double> values, double share);

void print_hosts(const std::vector<QueryLine>& queries, const test::Stats& stats);
void print_moves(const std::vector<Move>& moves);
void print_comparison(const std::vector<Measured>& rows);

/// Collects what must hold and says at the end what did not.
class Checks {
 public:
  void expect(bool held, std::string what);
  /// Prints all; true if all held.
  [[nodiscard]] bool conclude() const;

 private:
  struct Check {
    bool held;
    std::string what;
  };
  std::vector<Check> checks_;
};

}  // namespace dohmux::demo
