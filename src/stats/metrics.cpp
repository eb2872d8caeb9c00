// Rendering of the counters. Knows names and numbers only; who counts what is the callers' business.
#include "stats/metrics.h"

#include <fmt/format.h>

#include <iterator>

namespace dohmux::stats {
namespace {

constexpr std::array<std::string_view, 2> kProtoWords = {"udp", "tcp"};
constexpr std::array<std::string_view, 4> kSourceWords = {"upstream", "forward", "local", "error"};
constexpr std::array<std::string_view, 4> kDroppedWords = {"not_a_query", "shed", "rate_limited", "late"};
constexpr std::array<std::string_view, 8> kOutcomeWords = {"answered",      "http_status",  "bad_answer", "connection_lost",
                                                           "orderly_close", "stream_reset", "timeout",    "cancelled"};
constexpr std::array<std::string_view, kRcodes> kRcodeWords = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                                               "NOTIMP",  "REFUSED", "BADVERS",  "other"};

std::size_t rcode_index(std::uint16_t rcode) {
  if (rcode <= 5) {
    return rcode;
  }
  return rcode == 16 ? 6 : 7;
}

double seconds(Duration value) {
  return std::chrono::duration<double>(value).count();
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <typename Value>
void line(std::string& out, std::string_view name, std::string_view labels, Value value) {
  if (labels.empty()) {
    fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
  } else {
    fmt::format_to(std::back_inserter(out), "{}{{{}}} {}\n", name, labels, value);
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string_view word(Source source) {
  return kSourceWords.at(static_cast<std::size_t>(source));
}

void Histogram::observe(Duration value) {
  std::size_t bucket = 0;
  while (bucket < kBoundsMs.size() && value > std::chrono::milliseconds(kBoundsMs[bucket])) {
    ++bucket;
  }
  ++buckets_[bucket];
  ++count_;
  sum_ += value;
}

void Histogram::render(std::string& out, std::string_view name, std::string_view labels) const {
  const std::string_view comma = labels.empty() ? "" : ",";
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < kBoundsMs.size(); ++i) {
    so_far += buckets_[i];
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, kBoundsMs[i] / 1000.0, so_far);
  }
  fmt::format_to(std::back_inserter(out), "{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, count_);
  line(out, fmt::format("{}_sum", name), labels, seconds(sum_));
  line(out, fmt::format("{}_count", name), labels, count_);
}

Metrics::Metrics(std::vector<std::string> upstreams, std::vector<std::string> exits)
    : upstreams_(std::move(upstreams)),
      exits_(std::move(exits)),
      sendings_(upstreams_.size() * exits_.size()),
      exchange_times_(upstreams_.size()),
      pins_(upstreams_.size(), exits_.size()),
      exit_up_(exits_.size(), 1),
      lanes_(upstreams_.size() * exits_.size()) {}

void Metrics::response(std::uint16_t rcode, Source source, Duration took) {
  const auto from = static_cast<std::size_t>(source);
  ++responses_[rcode_index(rcode)][from];
  durations_[from].observe(took);
}

void Metrics::sending(std::size_t upstream, std::size_t exit, Outcome outcome, Duration took) {
  ++sendings_[upstream * exits_.size() + exit][static_cast<std::size_t>(outcome)];
  if (outcome == Outcome::Answered) {
    exchange_times_[upstream].observe(took);
  }
}

void Metrics::move(std::size_t upstream, std::size_t from, std::size_t to, std::string_view reason) {
  ++moves_[{upstream, from, to, std::string(reason)}];
  pins_[upstream] = to;
}

std::string Metrics::lane_labels(std::size_t upstream, std::size_t exit) const {
  return fmt::format("upstream=\"{}\",proxy=\"{}\"", escaped(upstreams_[upstream]), escaped(exits_[exit]));
}

void Metrics::render_dns(std::string& out) const {
  head(out, "dohmux_dns_requests_total", "counter", "Queries accepted from clients.");
  for (std::size_t i = 0; i < kProtoWords.size(); ++i) {
    line(out, "dohmux_dns_requests_total", fmt::format("proto=\"{}\"", kProtoWords[i]), requests_[i]);
  }
  head(out, "dohmux_dns_responses_total", "counter", "Replies sent to clients.");
  for (std::size_t rcode = 0; rcode < kRcodes; ++rcode) {
    for (std::size_t source = 0; source < kSources; ++source) {
      line(out, "dohmux_dns_responses_total", fmt::format("rcode=\"{}\",source=\"{}\"", kRcodeWords[rcode], kSourceWords[source]),
           responses_[rcode][source]);
    }
  }
  head(out, "dohmux_dns_dropped_total", "counter", "Queries that ended without a reply.");
  for (std::size_t i = 0; i < kDroppedWords.size(); ++i) {
    line(out, "dohmux_dns_dropped_total", fmt::format("reason=\"{}\"", kDroppedWords[i]), dropped_[i]);
  }
  head(out, "dohmux_dns_truncated_total", "counter", "Replies sent with TC=1.");
  line(out, "dohmux_dns_truncated_total", "", truncated_);
  head(out, "dohmux_dns_inflight", "gauge", "Queries that wait for their answer.");
  line(out, "dohmux_dns_inflight", "", in_flight_);
  head(out, "dohmux_dns_request_duration_seconds", "histogram", "From query to reply.");
  for (std::size_t source = 0; source < kSources; ++source) {
    durations_[source].render(out, "dohmux_dns_request_duration_seconds", fmt::format("source=\"{}\"", kSourceWords[source]));
  }
}

void Metrics::render_upstreams(std::string& out) const {
  const auto each_lane = [this](auto&& visit) {
    for (std::size_t upstream = 0; upstream < upstreams_.size(); ++upstream) {
      for (std::size_t exit = 0; exit < exits_.size(); ++exit) {
        visit(upstream, exit, upstream * exits_.size() + exit);
      }
    }
  };
  head(out, "dohmux_upstream_requests_total", "counter", "Sendings to a resolver, by how they ended.");
  each_lane([&](std::size_t upstream, std::size_t exit, std::size_t index) {
    for (std::size_t i = 0; i < kOutcomes; ++i) {
      line(out, "dohmux_upstream_requests_total", fmt::format("{},outcome=\"{}\"", lane_labels(upstream, exit), kOutcomeWords[i]),
           sendings_[index][i]);
    }
  });
  head(out, "dohmux_upstream_connections_opened_total", "counter", "Connections that were set up.");
  each_lane([&](std::size_t upstream, std::size_t exit, std::size_t index) {
    line(out, "dohmux_upstream_connections_opened_total", lane_labels(upstream, exit), lanes_[index].opened);
  });
  head(out, "dohmux_connections_open", "gauge", "Connections that are up.");
  each_lane([&](std::size_t upstream, std::size_t exit, std::size_t index) {
    line(out, "dohmux_connections_open", lane_labels(upstream, exit), lanes_[index].open);
  });
  head(out, "dohmux_upstream_request_duration_seconds", "histogram", "From sending to answer.");
  for (std::size_t upstream = 0; upstream < upstreams_.size(); ++upstream) {
    exchange_times_[upstream].render(out, "dohmux_upstream_request_duration_seconds",
                                     fmt::format("upstream=\"{}\"", escaped(upstreams_[upstream])));
  }
  head(out, "dohmux_upstream_retries_total", "counter", "Second sendings, by reason of the first one's failure.");
  for (const auto& [key, count] : retries_) {
    line(out, "dohmux_upstream_retries_total", fmt::format("upstream=\"{}\",reason=\"{}\"", escaped(upstreams_[key.first]), key.second),
         count);
  }
}

void Metrics::render_exits(std::string& out) const {
  head(out, "dohmux_proxy_up", "gauge", "1: the last thing known about the exit is not a failure of its own.");
  for (std::size_t exit = 0; exit < exits_.size(); ++exit) {
    line(out, "dohmux_proxy_up", fmt::format("proxy=\"{}\"", escaped(exits_[exit])), exit_up_[exit]);
  }
  head(out, "dohmux_proxy_connects_total", "counter", "Dials through an exit, by result.");
  for (const auto& [key, count] : dials_) {
    line(out, "dohmux_proxy_connects_total", fmt::format("proxy=\"{}\",result=\"{}\"", escaped(exits_[key.first]), key.second), count);
  }
  head(out, "dohmux_proxy_moves_total", "counter", "Hosts that changed their exit.");
  for (const auto& [key, count] : moves_) {
    const auto& [upstream, from, to, reason] = key;
    line(out, "dohmux_proxy_moves_total",
         fmt::format("upstream=\"{}\",from=\"{}\",to=\"{}\",reason=\"{}\"", escaped(upstreams_[upstream]), escaped(exits_[from]),
                     escaped(exits_[to]), reason),
         count);
  }
  head(out, "dohmux_upstream_proxy_info", "gauge", "The exit that a host uses now.");
  for (std::size_t upstream = 0; upstream < upstreams_.size(); ++upstream) {
    if (pins_[upstream] < exits_.size()) {
      line(out, "dohmux_upstream_proxy_info", lane_labels(upstream, pins_[upstream]), 1);
    }
  }
}

std::string Metrics::render(std::string_view version) const {
  std::string out;
  head(out, "dohmux_build_info", "gauge", "The running program.");
  line(out, "dohmux_build_info", fmt::format("version=\"{}\"", version), 1);
  render_dns(out);
  render_upstreams(out);
  render_exits(out);
  return out;
}

}  // namespace dohmux::stats
