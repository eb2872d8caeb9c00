// Formatting for the demo.
// Must not start or ask anything.
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dohmux::demo {

namespace {

struct HostRow {
  std::set<std::string> exits;
  std::vector<double> latencies;
};

// r10 behind r9
bool by_number(const std::string& a, const std::string& b) {
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

}  // namespace

double percentile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void print_hosts(const std::vector<QueryLine>& queries, const test::Stats& stats) {
  std::map<std::string, HostRow, decltype(&by_number)> hosts(by_number);
  std::vector<double> all;
  for (const QueryLine& query : queries) {
    HostRow& row = hosts[query.host];
    row.exits.insert(query.exit);
    row.latencies.push_back(query.ms);
    all.push_back(query.ms);
  }
  constexpr const char* kRow = "   {:<18} {:<6} {:>11} {:>8} {:>8} {:>8}\n";
  fmt::print(kRow, "host", "exit", "connections", "queries", "p50 ms", "p95 ms");
  long connections = 0;
  for (const auto& [host, row] : hosts) {
    const auto counters = stats.find(host.substr(0, host.find('.')));
    const long accepts = counters != stats.end() ? counters->second.at("accepts") : 0;
    connections += accepts;
    std::string exits;
    for (const std::string& exit : row.exits) {
      exits += (exits.empty() ? "" : ",") + exit;
    }
    fmt::print(kRow, host, exits, accepts, row.latencies.size(), fmt::format("{:.1f}", percentile(row.latencies, 0.5)),
               fmt::format("{:.1f}", percentile(row.latencies, 0.95)));
  }
  fmt::print(kRow, "all", "", connections, all.size(), fmt::format("{:.1f}", percentile(all, 0.5)),
             fmt::format("{:.1f}", percentile(all, 0.95)));
}

void print_moves(const std::vector<Move>& moves) {
  fmt::print("   {:<18} {:<10} {:>5}   {}\n", "host", "moved", "times", "because");
  std::vector<Move> sorted = moves;
  std::ranges::sort(sorted, by_number, &Move::host);
  for (const Move& move : sorted) {
    fmt::print("   {:<18} {:<10} {:>5}   {}\n", move.host, move.from + " > " + move.to, move.times, move.reason);
  }
}

void print_comparison(const std::vector<Measured>& rows) {
  constexpr const char* kRow = "   {:<44} {:>11} {:>8} {:>8} {:>8} {:>8}\n";
  fmt::print(kRow, "", "connections", "wall s", "p50 ms", "p95 ms", "p99 ms");
  for (const Measured& row : rows) {
    fmt::print(kRow, row.way, row.connections, fmt::format("{:.2f}", static_cast<double>(row.wall_ms) / 1000),
               fmt::format("{:.1f}", percentile(row.latencies_ms, 0.5)), fmt::format("{:.1f}", percentile(row.latencies_ms, 0.95)),
               fmt::format("{:.1f}", percentile(row.latencies_ms, 0.99)));
  }
}

void Checks::expect(bool held, std::string what) {
  checks_.push_back({held, std::move(what)});
}

bool Checks::conclude() const {
  fmt::print("\nWhat must hold\n");
  for (const Check& check : checks_) {
    fmt::print("   {:<6} {}\n", check.held ? "ok" : "FAILED", check.what);
  }
  return std::ranges::all_of(checks_, &Check::held);
}

}  // namespace dohmux::demo
