// Runs lanes against the laboratory.
// It must not know which transport it drives.
#include "contract/bench.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <list>
#include <utility>

namespace dohmux::contract {

using transport::DohRequest;
using transport::LaneSpec;

Bench::Bench(MakeTransport make) : lab_(Laboratory::fresh()), transport_(make(loop_)) {}

Bench::~Bench() {
  lane_.reset();
}

LaneSpec Bench::spec(int resolver) const {
  const std::string party = fmt::format("r{}", resolver);
  LaneSpec spec;
  spec.host = party + ".lab.example";
  spec.port = lab_.port(party);
  spec.origin.exits = {"direct"};
  spec.origin.addresses = {*IpAddress::parse("127.0.0.1")};
  spec.origin.ca = {lab_.ca_file()};
  return spec;
}

LaneSpec Bench::spec_via(const std::string& proxy, int resolver) const {
  LaneSpec spec = this->spec(resolver);
  spec.origin.exits = {proxy};
  spec.origin.addresses.clear();
  spec.proxy = ProxyConfig{};
  spec.proxy->name = proxy;
  spec.proxy->host = "127.0.0.1";
  spec.proxy->port = lab_.port(proxy);
  spec.proxy->addresses = {*IpAddress::parse("127.0.0.1")};
  return spec;
}

void Bench::open(const LaneSpec& spec) {
  auto lane = transport_->open(spec);
  INFO((lane ? std::string() : lane.error()));
  REQUIRE(lane.has_value());
  lane_ = std::move(*lane);
}

void Bench::run_until(const std::function<bool()>& met) {
  const TimePoint limit = loop_.now() + kPatience;
  std::unique_ptr<Timer> timer;
  bool done = false;
  std::function<void()> look = [&] {
    done = met();
    if (done || loop_.now() > limit) {
      loop_.stop();
      return;
    }
    timer = loop_.after(1ms, [&] { look(); });
  };
  timer = loop_.after(0ms, [&] { look(); });
  loop_.run();
  REQUIRE(done);
}

void Bench::run_for(Duration time) {
  const auto timer = loop_.after(time, [this] { loop_.stop(); });
  loop_.run();
}

std::expected<DialInfo, Failure> Bench::dial(Duration limit) {
  std::optional<std::expected<DialInfo, Failure>> result;
  const auto call = lane_->dial(limit, [&](std::expected<DialInfo, Failure> done) { result = std::move(done); });
  REQUIRE_FALSE(result.has_value());  // never inline
  run_until([&] { return result.has_value(); });
  return std::move(*result);
}

DialInfo Bench::connect() {
  auto result = dial();
  INFO((result ? std::string() : result.error().detail));
  REQUIRE(result.has_value());
  return std::move(*result);
}

DohRequest Bench::request(const std::string& name, Duration limit) const {
  return {.message = query_for(name), .method = HttpMethod::Post, .path = "/dns-query", .limit = limit};
}

ExchangeReport Bench::ask(const std::string& name, Duration limit) {
  std::optional<ExchangeReport> result;
  const auto call = lane_->send(request(name, limit), [&](ExchangeReport report) { result = std::move(report); });
  REQUIRE_FALSE(result.has_value());
  run_until([&] { return result.has_value(); });
  return std::move(*result);
}

BurstResult Bench::burst(int count, int in_flight, const std::string& prefix) {
  BurstResult result;
  int issued = 0;
  std::vector<std::unique_ptr<Call>> calls(static_cast<std::size_t>(count));
  std::unique_ptr<Call> dialling;
  bool dial_pending = false;
  std::function<void()> feed = [&] {
    while (issued < count && issued - result.done < in_flight && lane_->ready()) {
      const auto index = static_cast<std::size_t>(issued++);
      calls[index] = lane_->send(request(fmt::format("{}q{}.example", prefix, index)), [&](ExchangeReport report) {
        ++result.done;
        result.sendings += report.use.sent ? 1 : 0;
        if (report.result) {
          ++result.ok;
          ++result.per_connection[report.use.connection];
        } else {
          ++result.failures[report.result.error().kind];
          result.details += report.result.error().detail + "; ";
        }
        feed();
      });
    }
    if (issued < count && lane_->connected() == 0 && !dial_pending) {
      dial_pending = true;
      dialling = lane_->dial(kPatience, [&](const std::expected<DialInfo, Failure>&) {
        dial_pending = false;
        feed();
      });
    }
  };
  lane_->on_change([&] { feed(); });
  loop_.defer([&] { feed(); });
  run_until([&] { return result.done == count; });
  lane_->on_change([] {});
  return result;
}

Bytes query_for(const std::string& name) {
  Bytes message = {0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  std::size_t start = 0;
  while (start < name.size()) {
    const std::size_t dot = std::min(name.find('.', start), name.size());
    message.push_back(static_cast<std::uint8_t>(dot - start));
    message.insert(message.end(), name.begin() + static_cast<std::ptrdiff_t>(start), name.begin() + static_cast<std::ptrdiff_t>(dot));
    start = dot + 1;
  }
  message.insert(message.end(), {0, 0, 1, 0, 1});
  return message;
}

FailureKind kind_of(const ExchangeReport& report) {
  REQUIRE_FALSE(report.result.has_value());
  UNSCOPED_INFO(report.result.error().detail);
  return report.result.error().kind;
}

FailureKind kind_of(const std::expected<DialInfo, Failure>& result) {
  REQUIRE_FALSE(result.has_value());
  UNSCOPED_INFO(result.error().detail);
  return result.error().kind;
}

}  // namespace dohmux::contract
