// The daemon's counters and their Prometheus form (features.md §13). One per worker, used by its thread only.
// Label sets are closed: names of upstreams and exits of the configuration, and the words below.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/scheduler.h"

namespace dohmux::stats {

enum class Proto : std::uint8_t { Udp, Tcp };
/// Where a reply came from.
enum class Source : std::uint8_t { Upstream, Forward, Local, Error };
[[nodiscard]] std::string_view word(Source source);
/// How a query ended that got no reply.
enum class Dropped : std::uint8_t { NotAQuery, Shed, RateLimited, Late };
/// How one sending to an upstream ended.
enum class Outcome : std::uint8_t { Answered, HttpStatus, BadAnswer, ConnectionLost, OrderlyClose, StreamReset, Timeout, Cancelled };

inline constexpr std::size_t kRcodes = 8;  // NOERROR FORMERR SERVFAIL NXDOMAIN NOTIMP REFUSED BADVERS other

/// Cumulative histogram of durations, 1 ms to 5 s.
class Histogram {
 public:
  void observe(Duration value);
  void render(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  static constexpr std::array<std::uint32_t, 12> kBoundsMs = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};
  std::array<std::uint64_t, kBoundsMs.size() + 1> buckets_{};
  std::uint64_t count_ = 0;
  Duration sum_{};
};

/// What only its owner knows at the moment of a scrape.
struct LaneGauge {
  std::uint64_t opened = 0;
  std::uint64_t open = 0;
};

class Metrics {
 public:
  Metrics(std::vector<std::string> upstreams, std::vector<std::string> exits);

  void request(Proto proto) { ++requests_[static_cast<std::size_t>(proto)]; }
  void response(std::uint16_t rcode, Source source, Duration took);
  void dropped(Dropped reason) { ++dropped_[static_cast<std::size_t>(reason)]; }
  void truncated() { ++truncated_; }
  void in_flight(std::uint64_t count) { in_flight_ = count; }

  void sending(std::size_t upstream, std::size_t exit, Outcome outcome, Duration took);
  void retry(std::size_t upstream, std::string_view reason) { ++retries_[{upstream, std::string(reason)}]; }
  void dial(std::size_t exit, std::string_view result) { ++dials_[{exit, std::string(result)}]; }
  void move(std::size_t upstream, std::size_t from, std::size_t to, std::string_view reason);
  void pin(std::size_t upstream, std::size_t exit) { pins_[upstream] = exit; }
  void exit_up(std::size_t exit, std::uint8_t up) { exit_up_[exit] = up; }
  void lane(std::size_t upstream, std::size_t exit, LaneGauge gauge) { lanes_[upstream * exits_.size() + exit] = gauge; }

  [[nodiscard]] std::uint64_t requests(Proto proto) const { return requests_[static_cast<std::size_t>(proto)]; }
  [[nodiscard]] std::uint64_t in_flight() const { return in_flight_; }
  /// Text exposition format 0.0.4.
  [[nodiscard]] std::string render(std::string_view version) const;

 private:
  void render_dns(std::string& out) const;
  void render_upstreams(std::string& out) const;
  void render_exits(std::string& out) const;
  [[nodiscard]] std::string lane_labels(std::size_t upstream, std::size_t exit) const;

  static constexpr std::size_t kSources = 4;
  static constexpr std::size_t kOutcomes = 8;
  std::vector<std::string> upstreams_;
  std::vector<std::string> exits_;
  std::array<std::uint64_t, 2> requests_{};
  std::array<std::array<std::uint64_t, kSources>, kRcodes> responses_{};
  std::array<Histogram, kSources> durations_{};
  std::array<std::uint64_t, 4> dropped_{};
  std::uint64_t truncated_ = 0;
  std::uint64_t in_flight_ = 0;
  std::vector<std::array<std::uint64_t, kOutcomes>> sendings_;  // [upstream * exits + exit]
  std::vector<Histogram> exchange_times_;                       // [upstream]
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> retries_;
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> dials_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t, std::string>, std::uint64_t> moves_;
  std::vector<std::size_t> pins_;
  std::vector<std::uint8_t> exit_up_;
  std::vector<LaneGauge> lanes_;
};

}  // namespace dohmux::stats
