// The bench of the scenarios: builds a Config by hand, so that these tests do not depend on YAML.
#include "bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace dohmux::test {
namespace {

constexpr std::uint8_t kQuestion[] = {0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 'w', 'w', 'w', 4, 'e', 'x', 'a', 'm', 0, 0, 1, 0, 1};

}  // namespace

std::string exit_part(const std::string& lane) {
  return lane.substr(lane.find('/') + 1);
}

Bench::Bench(Shape shape) {
  std::vector<std::string> via = shape.via;
  for (int i = 1; i <= shape.proxies; ++i) {
    config.proxies.push_back(ProxyConfig{.name = fmt::format("p{}", i), .host = "127.0.0.1", .port = 1, .addresses = {}, .auth = {}});
    if (shape.via.empty()) {
      via.push_back(config.proxies.back().name);
    }
  }
  GroupConfig group{.name = "default", .upstreams = {}, .strategy = shape.strategy};
  for (int i = 1; i <= shape.hosts; ++i) {
    UpstreamConfig upstream;
    upstream.name = upstream.host = fmt::format("h{}", i);
    upstream.warm = false;
    upstream.origin.exits = via;
    group.upstreams.push_back(upstream.name);
    config.upstreams.push_back(std::move(upstream));
  }
  config.groups.push_back(std::move(group));
  config.instance_id = "bench";
  metrics = std::make_unique<stats::Metrics>(config.groups[0].upstreams, upstream::exit_names(config));
  pool = std::move(*upstream::Pool::build(config, scheduler, transport, *metrics));
  query_ = *dns::parse_query(kQuestion);
}

std::size_t Bench::ask() {
  const std::size_t index = outcomes.size();
  outcomes.emplace_back();
  const TimePoint began = scheduler.now();
  calls_.push_back(pool->default_group().exchange(query_, dns::upstream_query(query_, dns::Padding::None), began + config.timeouts.query,
                                                  [this, index, began](std::expected<upstream::Answer, upstream::ExchangeError> result) {
                                                    Outcome& outcome = outcomes[index];
                                                    outcome.done = true;
                                                    outcome.took = scheduler.now() - began;
                                                    outcome.answered = result.has_value();
                                                    if (result) {
                                                      outcome.trail = result->trail;
                                                    } else {
                                                      outcome.error = result.error();
                                                      outcome.trail = outcome.error.trail;
                                                    }
                                                    calls_[index].reset();
                                                  }));
  return index;
}

void Bench::ask_many(int count) {
  for (int i = 0; i < count; ++i) {
    ask();
  }
}

int Bench::answered() const {
  return static_cast<int>(std::ranges::count_if(outcomes, &Outcome::answered));
}
int Bench::finished() const {
  return static_cast<int>(std::ranges::count_if(outcomes, &Outcome::done));
}

int Bench::sendings_most() const {
  int most = 0;
  for (const Outcome& outcome : outcomes) {
    most = std::max(most, outcome.trail.sendings);
  }
  return most;
}

std::uint64_t Bench::metric(const std::string& line_start) const {
  std::istringstream lines(metrics->render("test"));
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(line_start)) {
      sum += std::stoull(line.substr(line.rfind(' ') + 1));
    }
  }
  return sum;
}

std::uint64_t Bench::moves(const std::string& host) const {
  return metric(host.empty() ? "dohmux_proxy_moves_total{" : fmt::format("dohmux_proxy_moves_total{{upstream=\"{}\"", host));
}

std::string Bench::exit_of(const std::string& host) {
  std::istringstream lines(metrics->render("test"));
  const std::string start = fmt::format("dohmux_upstream_proxy_info{{upstream=\"{}\",proxy=\"", host);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) {
      return line.substr(start.size(), line.find('"', start.size()) - start.size());
    }
  }
  return "";
}

}  // namespace dohmux::test
