// What the daemon says about itself while the demo runs: its query log and its metrics.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/daemon.h"

namespace dohmux::demo {

struct QueryLine {
  std::string host;
  std::string exit;
  std::string rcode;
  double ms = 0;
  long sendings = 0;
};

struct Move {
  std::string host;
  std::string from;
  std::string to;
  std::string reason;
  long times = 0;
};

class Observer {
 public:
  explicit Observer(test::Daemon& daemon) : daemon_(daemon) {}

  /// The query log since the last call; waits a little until it holds `expected` queries.
  [[nodiscard]] std::vector<QueryLine> new_queries(std::size_t expected);
  /// Moves since the last call. `host` is the upstream's name.
  [[nodiscard]] std::vector<Move> new_moves();
  /// The current exit of each upstream.
  [[nodiscard]] std::map<std::string, std::string> exits();

 private:
  void read_log(std::vector<QueryLine>& queries);
  [[nodiscard]] std::vector<std::string> metric_lines(const std::string& name);

  test::Daemon& daemon_;
  std::size_t seen_ = 0;
  std::map<std::string, long> seen_moves_;  // by series
};

/// The value of `"key":` in one line of JSON, or of `key="…"` in a line of metrics; without quotes.
[[nodiscard]] std::string json_field(const std::string& line, const std::string& key);
[[nodiscard]] std::string label(const std::string& line, const std::string& key);

}  // namespace dohmux::demo
