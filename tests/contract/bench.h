// A lane under test: a loop, a transport, the laboratory's resolver 1, and helpers that run the loop until
// something has happened. What a test asserts are the lab's exact counters and the reports.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "contract/laboratory.h"
#include "event/loop.h"
#include "transport/transport.h"

namespace dohmux::contract {

using transport::DialInfo;
using transport::ExchangeReport;
using transport::Failure;
using transport::FailureKind;
using namespace std::chrono_literals;

/// Deadlines are generous: sanitizer builds on a busy machine must meet them.
constexpr Duration kPatience = 20s;

using MakeTransport = std::unique_ptr<transport::Transport> (*)(event::Loop&);

struct BurstResult {
  int done = 0;
  int ok = 0;
  int sendings = 0;
  std::map<FailureKind, int> failures;
  std::string details;  // of the failures
  std::map<std::uint64_t, int> per_connection;
};

class Bench {
 public:
  explicit Bench(MakeTransport make);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // The lane's way; call before open().
  [[nodiscard]] transport::LaneSpec spec(int resolver = 1) const;  // direct
  [[nodiscard]] transport::LaneSpec spec_via(const std::string& proxy, int resolver = 1) const;
  void open(const transport::LaneSpec& spec);
  void open_via(const std::string& proxy) { open(spec_via(proxy)); }
  void open_direct() { open(spec()); }

  [[nodiscard]] transport::Lane& lane() { return *lane_; }
  [[nodiscard]] std::unique_ptr<transport::Lane>& owner() { return lane_; }
  [[nodiscard]] transport::Transport& transport() { return *transport_; }
  [[nodiscard]] event::Loop& loop() { return loop_; }
  [[nodiscard]] Laboratory& lab() { return lab_; }

  /// Runs the loop until `met`, or fails the test when it takes too long.
  void run_until(const std::function<bool()>& met);
  void run_for(Duration time);

  [[nodiscard]] std::expected<DialInfo, Failure> dial(Duration limit = kPatience);
  /// Dials and requires success.
  DialInfo connect();
  [[nodiscard]] transport::DohRequest request(const std::string& name, Duration limit = kPatience) const;
  [[nodiscard]] ExchangeReport ask(const std::string& name, Duration limit = kPatience);
  /// `count` requests, never more than `in_flight` at once, each handed over as soon as ready(). Dials when needed.
  [[nodiscard]] BurstResult burst(int count, int in_flight, const std::string& prefix = "");

 private:
  Laboratory& lab_;
  event::Loop loop_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<transport::Lane> lane_;
};

/// The wire form of "name A" with id 0.
[[nodiscard]] Bytes query_for(const std::string& name);
/// The kind of a report's failure; the test fails if there is none.
[[nodiscard]] FailureKind kind_of(const ExchangeReport& report);
[[nodiscard]] FailureKind kind_of(const std::expected<DialInfo, Failure>& result);

}  // namespace dohmux::contract
