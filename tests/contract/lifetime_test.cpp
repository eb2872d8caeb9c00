// Destroying is cancelling, at every moment.
#include <fmt/format.h>

#include "contract/transports.h"

namespace dohmux::contract {

CONTRACT_TEST("destroying a call cancels its request and nothing else") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bool told = false;
  std::optional<ExchangeReport> other;
  auto call = bench.lane().send(bench.request("d200.example"), [&](const ExchangeReport&) { told = true; });
  const auto kept = bench.lane().send(bench.request("d300.example"), [&](ExchangeReport report) { other = std::move(report); });
  CHECK(bench.lane().in_flight() == 2);
  call.reset();
  CHECK(bench.lane().in_flight() == 1);
  bench.run_until([&] { return other.has_value(); });
  CHECK(other->result.has_value());
  CHECK_FALSE(told);
  CHECK(bench.lab().count("r1", "accepts") == 1);
}

CONTRACT_TEST("a call destroyed after its answer has come, but before it was told, is not told") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  // Both answers are there when the loop looks; the first to be told destroys the other's call.
  std::unique_ptr<Call> first;
  std::unique_ptr<Call> second;
  int told = 0;
  first = bench.lane().send(bench.request("a.example"), [&](const ExchangeReport&) {
    ++told;
    second.reset();
  });
  second = bench.lane().send(bench.request("b.example"), [&](const ExchangeReport&) {
    ++told;
    first.reset();
  });
  bench.run_until([&] { return bench.lab().count("r1", "answered") == 3; });
  bench.run_until([&] { return told > 0; });
  bench.run_for(50ms);
  CHECK(told == 1);
  CHECK(bench.lane().in_flight() == 0);
}

CONTRACT_TEST("a call may be destroyed inside its own done function, and send again there") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  int told = 0;
  std::unique_ptr<Call> call;
  std::function<void()> send = [&] {
    call = bench.lane().send(bench.request("www.example"), [&](const ExchangeReport& report) {
      REQUIRE(report.result.has_value());
      if (++told < 10) {
        send();
      }
    });
  };
  send();
  bench.run_until([&] { return told == 10; });
  CHECK(bench.lab().count("r1", "accepts") == 1);
}

CONTRACT_TEST("the lane may be destroyed inside the done function of a request") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  int told = 0;
  std::vector<std::unique_ptr<Call>> calls;
  calls.reserve(10);
  for (int i = 0; i < 10; ++i) {
    calls.push_back(bench.lane().send(bench.request("www.example"), [&](const ExchangeReport&) {
      ++told;
      bench.owner().reset();
    }));
  }
  bench.run_until([&] { return told > 0; });
  bench.run_for(50ms);
  CHECK(told == 1);
  bench.run_until([&] { return bench.lab().count("r1", "open") == 0; });
}

CONTRACT_TEST("the lane may be destroyed inside the done function of a dial, and inside on_change") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bool told = false;
  const bool in_change = GENERATE(false, true);
  const auto call = bench.lane().dial(kPatience, [&](const auto& result) {
    CHECK(result.has_value());
    if (!in_change) {
      told = true;
      bench.owner().reset();
    }
  });
  bench.lane().on_change([&] {
    if (in_change && bench.lane().connected() == 1) {
      told = true;
      bench.owner().reset();
    }
  });
  bench.run_until([&] { return told; });
  bench.run_until([&] { return bench.lab().count("r1", "open") == 0; });
}

CONTRACT_TEST("a lane destroyed with everything under way tells nobody and closes everything") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("name slow.example hang");
  int told = 0;
  std::vector<std::unique_ptr<Call>> calls;
  calls.reserve(10);
  for (int i = 0; i < 10; ++i) {
    calls.push_back(bench.lane().send(bench.request("www.slow.example"), [&](const ExchangeReport&) { ++told; }));
  }
  bench.lab().command("proxy p1 stall-connect");
  calls.push_back(bench.lane().dial(kPatience, [&](const auto&) { ++told; }));
  bench.run_until([&] { return bench.lab().count("r1", "requests") == 11; });
  bench.owner().reset();
  calls.clear();  // outliving the lane is allowed
  bench.run_until([&] { return bench.lab().count("r1", "open") == 0 && bench.lab().count("p1", "open") == 0; });
  CHECK(told == 0);
}

CONTRACT_TEST("a lane can be destroyed before anything was done with it") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.owner().reset();
  CHECK(bench.lab().count("p1", "accepts") == 0);
}

CONTRACT_TEST("lanes of one transport do not disturb each other") {
  Bench bench(TestType::kMake);
  bench.lab().command("proxy p2 stall-connect");
  auto other = bench.transport().open(bench.spec_via("p2"));
  REQUIRE(other.has_value());
  bool hung = true;
  const auto dialling = (*other)->dial(kPatience, [&](const auto&) { hung = false; });
  bench.open_via("p1");
  bench.connect();
  CHECK(bench.ask("www.example").result.has_value());
  CHECK(hung);
}

CONTRACT_TEST("two hundred reconnects leave nothing open") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  constexpr int kRounds = 200;
  for (int i = 0; i < kRounds; ++i) {
    const DialInfo info = bench.connect();
    REQUIRE(bench.ask("www.example").result.has_value());
    bench.lane().evict(info.connection);
    REQUIRE(bench.lane().connected() == 0);
  }
  CHECK(bench.lane().opened() == kRounds);
  bench.run_until([&] { return bench.lab().count("r1", "open") <= 1; });
}

}  // namespace dohmux::contract
