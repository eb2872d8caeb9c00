// How many requests go where: stream limits, the gate of a new connection, caps, HTTP/1.1.
#include <fmt/format.h>

#include "contract/transports.h"

namespace dohmux::contract {

CONTRACT_TEST("a small stream limit opens more connections and refuses nobody") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 max-streams 10");
  bench.lab().command("resolver r1 rtt 5ms");
  bench.open_via("p1");
  const BurstResult result = bench.burst(300, 50, "d10.");
  CHECK(result.ok == 300);
  CHECK(result.sendings == 300);
  CHECK(bench.lab().count("r1", "accepts") <= 4);
  CHECK(bench.lab().count("r1", "refused_streams") == 0);
  CHECK(bench.lab().count("r1", "max_streams_seen") <= 10);
  CHECK(bench.lane().opened() == static_cast<std::uint64_t>(bench.lab().count("r1", "accepts")));
}

CONTRACT_TEST("our own stream limit opens more connections") {
  Bench bench(TestType::kMake);
  auto spec = bench.spec_via("p1");
  spec.origin.max_streams = 5;
  spec.origin.max_connections = 3;
  bench.open(spec);
  const BurstResult result = bench.burst(100, 50, "d10.");
  CHECK(result.ok == 100);
  CHECK(bench.lab().count("r1", "max_open") <= 3);
  CHECK(bench.lab().count("r1", "max_streams_seen") <= 5);
}

CONTRACT_TEST("a connection that has not answered yet carries one request") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  std::optional<ExchangeReport> first;
  const auto call = bench.lane().send(bench.request("d100.example"), [&](ExchangeReport report) { first = std::move(report); });
  CHECK_FALSE(bench.lane().ready());
  bool ready_when_told = false;
  bench.lane().on_change([&] { ready_when_told = bench.lane().ready(); });
  bench.run_until([&] { return first.has_value(); });
  CHECK(ready_when_told);
  CHECK(bench.lane().ready());
}

CONTRACT_TEST("the gate of a silent connection opens by itself") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  bench.lab().command("name slow.example hang");
  const auto call = bench.lane().send(bench.request("www.slow.example"), [](const ExchangeReport&) {});
  bool told = false;
  bench.lane().on_change([&] { told = told || bench.lane().ready(); });
  CHECK_FALSE(bench.lane().ready());
  bench.run_until([&] { return told; });
  CHECK(bench.lane().ready());
}

CONTRACT_TEST("when every connection is full one request waits, and no more are taken") {
  Bench bench(TestType::kMake);
  auto spec = bench.spec_via("p1");
  spec.origin.max_connections = 1;
  bench.lab().command("resolver r1 max-streams 2");
  bench.open(spec);
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  int done = 0;
  std::vector<std::unique_ptr<Call>> calls;
  calls.reserve(2);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(bench.lane().ready());
    calls.push_back(bench.lane().send(bench.request("d200.example"), [&](const ExchangeReport& report) { done += report.result ? 1 : 0; }));
  }
  REQUIRE(bench.lane().ready());  // the lane cannot know the server's limit
  calls.push_back(bench.lane().send(bench.request("last.example"), [&](const ExchangeReport& report) { done += report.result ? 1 : 0; }));
  CHECK_FALSE(bench.lane().ready());
  bench.run_until([&] { return done == 3; });
  CHECK(bench.lab().count("r1", "accepts") == 1);
  CHECK(bench.lab().count("r1", "refused_streams") == 0);
}

CONTRACT_TEST("a request that waits too long for a connection was not sent") {
  Bench bench(TestType::kMake);
  auto spec = bench.spec_via("p1");
  spec.origin.max_connections = 1;
  bench.lab().command("resolver r1 max-streams 1");
  bench.lab().command("name slow.example hang");
  bench.open(spec);
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  const auto call = bench.lane().send(bench.request("www.slow.example"), [](const ExchangeReport&) {});
  const ExchangeReport report = bench.ask("www.example", 200ms);
  CHECK(kind_of(report) == FailureKind::NotConnected);
  CHECK_FALSE(report.use.sent);
  CHECK(bench.lane().ready());
}

CONTRACT_TEST("a further connection that cannot be opened costs its request nothing") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 max-streams 1");
  bench.lab().command("name slow.example hang");
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("proxy p1 status 503");
  const auto call = bench.lane().send(bench.request("www.slow.example"), [](const ExchangeReport&) {});
  const ExchangeReport report = bench.ask("www.example");
  CHECK(kind_of(report) == FailureKind::NotConnected);
  CHECK_FALSE(report.use.sent);
  CHECK(bench.lane().connected() == 1);
}

CONTRACT_TEST("an HTTP/1.1 host gets connections of its own, up to their cap") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 h1");
  bench.lab().command("resolver r1 rtt 5ms");
  auto spec = bench.spec_via("p1");
  spec.origin.max_http1_connections = 6;
  bench.open(spec);
  const DialInfo info = bench.connect();
  CHECK_FALSE(info.http2);
  CHECK(bench.lane().ready());
  const BurstResult result = bench.burst(100, 50, "d10.");
  CHECK(result.ok == 100);
  CHECK(result.sendings == 100);
  CHECK(bench.lab().count("r1", "max_open") <= 6);
  CHECK(bench.lab().count("r1", "accepts") <= 6);  // the dialled one included, should it have gone stale
}

CONTRACT_TEST("HTTP/1.1 answers are answers") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 h1");
  bench.open_direct();
  bench.connect();
  const ExchangeReport report = bench.ask("www.example");
  REQUIRE(report.result.has_value());
  CHECK(report.result->status == 200);
  CHECK_FALSE(report.http2);
  const ExchangeReport second = bench.ask("www.example");
  REQUIRE(second.result.has_value());
  CHECK(second.use.reused);
  CHECK(second.use.connection == report.use.connection);
}

}  // namespace dohmux::contract
