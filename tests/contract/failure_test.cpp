// Every way in which a request can fail once it has been sent.
#include <fmt/format.h>

#include "contract/transports.h"

namespace dohmux::contract {

CONTRACT_TEST("a refused stream may be sent again, and was sent once") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  const bool reused = GENERATE(false, true);
  if (reused) {
    REQUIRE(bench.ask("warm.example").result.has_value());
  }
  bench.lab().command("resolver r1 rst REFUSED_STREAM");
  bench.lab().command("stats reset");
  const ExchangeReport report = bench.ask("www.example");
  CHECK(kind_of(report) == FailureKind::Orderly);
  CHECK(report.use.sent);
  CHECK_FALSE(report.result.error().header_seen);
  CHECK(bench.lab().count("r1", "requests") == 1);
  CHECK(bench.lab().count("r1", "accepts") == 0);
}

CONTRACT_TEST("a reset stream fails alone") {
  const std::string code = GENERATE("INTERNAL_ERROR", "PROTOCOL_ERROR", "CANCEL", "ENHANCE_YOUR_CALM", "NO_ERROR", "HTTP_1_1_REQUIRED");
  CAPTURE(code);
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("name bad.example rst " + code);
  bench.lab().command("stats reset");
  std::optional<ExchangeReport> slow;
  const auto call = bench.lane().send(bench.request("d300.example"), [&](ExchangeReport report) { slow = std::move(report); });
  const ExchangeReport report = bench.ask("bad.example");
  CHECK(kind_of(report) == FailureKind::StreamReset);
  CHECK_FALSE(report.result.error().header_seen);
  bench.run_until([&] { return slow.has_value(); });
  CHECK(slow->result.has_value());
  CHECK(bench.lab().count("r1", "requests") == 2);
  CHECK(bench.lab().count("r1", "accepts") == 0);
}

CONTRACT_TEST("a stream reset after its header says so") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  bench.lab().command("name bad.example half-rst INTERNAL_ERROR");
  const ExchangeReport report = bench.ask("bad.example");
  CHECK(kind_of(report) == FailureKind::StreamReset);
  CHECK(report.result.error().header_seen);
}

CONTRACT_TEST("streams above the last id of a GOAWAY may be sent again, those below are answered") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 goaway 10");
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  const BurstResult result = bench.burst(30, 30);
  CHECK(result.done == 30);
  for (const auto& [kind, count] : result.failures) {
    CHECK(kind == FailureKind::Orderly);
  }
  CHECK(result.ok > 0);
}

CONTRACT_TEST("GOAWAY with everything above its last id is orderly") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("stats reset");
  bench.lab().command("resolver r1 goaway-all");
  const ExchangeReport report = bench.ask("www.example");
  if (!report.result) {  // otherwise the GOAWAY was seen first, and nothing was sent
    CHECK((kind_of(report) == FailureKind::Orderly || kind_of(report) == FailureKind::NotConnected));
  }
  CHECK(bench.lab().count("r1", "queries") == 0);
  CHECK(bench.lab().count("r1", "accepts") == 0);
}

CONTRACT_TEST("a lost connection takes its streams with it, each sent once") {
  const std::string fault = GENERATE("resolver r1 reset-all", "resolver r1 drop-all", "proxy p1 cut-all", "proxy p1 kill");
  CAPTURE(fault);
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  const DialInfo info = bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("name slow.example hang");
  std::vector<ExchangeReport> reports;
  std::vector<std::unique_ptr<Call>> calls;
  calls.reserve(20);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(bench.lane().ready());
    calls.push_back(bench.lane().send(bench.request(fmt::format("q{}.slow.example", i)),
                                      [&](ExchangeReport report) { reports.push_back(std::move(report)); }));
  }
  bench.run_until([&] { return bench.lab().count("r1", "requests") == 21; });
  const long accepts = bench.lab().count("r1", "accepts");
  bench.lab().command(fault);
  bench.run_until([&] { return reports.size() == 20; });
  for (const ExchangeReport& report : reports) {
    CHECK(kind_of(report) == FailureKind::ConnectionLost);
    CHECK_FALSE(report.result.error().header_seen);
    CHECK(report.use.connection == info.connection);
    CHECK(report.use.sent);
  }
  CHECK(bench.lane().connected() == 0);
  CHECK(bench.lab().count("r1", "accepts") == accepts);
  CHECK(bench.lab().count("r1", "requests") == 21);
}

CONTRACT_TEST("a connection lost behind the header says so") {
  Bench bench(TestType::kMake);
  const bool http1 = GENERATE(false, true);
  if (http1) {
    bench.lab().command("resolver r1 h1");
  }
  bench.lab().command("name cut.example half");
  bench.open_via("p1");
  bench.connect();
  std::optional<ExchangeReport> report;
  const auto call = bench.lane().send(bench.request("www.cut.example"), [&](ExchangeReport done) { report = std::move(done); });
  bench.run_until([&] { return bench.lab().count("r1", "requests") == 1; });
  bench.run_for(50ms);
  CHECK_FALSE(report.has_value());
  bench.lab().command("resolver r1 drop-all");
  bench.run_until([&] { return report.has_value(); });
  CHECK(kind_of(*report) == FailureKind::ConnectionLost);
  CHECK(report->result.error().header_seen);
  CHECK(report->http2 == !http1);
  CHECK(bench.lab().count("r1", "requests") == 1);
}

CONTRACT_TEST("a lost HTTP/1.1 connection is lost, and its request not sent again") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 h1");
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("name gone.example drop");
  const ExchangeReport report = bench.ask("gone.example");
  CHECK(kind_of(report) == FailureKind::ConnectionLost);
  CHECK(report.use.reused);
  CHECK(bench.lab().count("r1", "requests") == 2);
}

CONTRACT_TEST("an HTTP/1.1 timeout costs the connection, not the lane") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 h1");
  bench.lab().command("name slow.example hang");
  bench.open_via("p1");
  bench.connect();
  CHECK(kind_of(bench.ask("www.slow.example", 200ms)) == FailureKind::Timeout);
  CHECK(bench.lane().connected() == 0);
  bench.connect();
  CHECK(bench.ask("www.example").result.has_value());
}

CONTRACT_TEST("a connection cut under the first request is lost") {
  Bench bench(TestType::kMake);
  bench.lab().command("name gone.example drop");
  bench.open_via("p1");
  bench.connect();
  const ExchangeReport report = bench.ask("gone.example");
  CHECK(kind_of(report) == FailureKind::ConnectionLost);
  CHECK(bench.lab().count("r1", "requests") == 1);
}

CONTRACT_TEST("an idle connection that its peer has closed is found out before anything is sent") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 idle-close 50ms");
  bench.open_via("p1");
  bench.connect();
  bench.run_until([&] { return bench.lane().connected() == 0; });
  CHECK_FALSE(bench.lane().ready());
  bench.lab().command("resolver r1 ok");
  const ExchangeReport report = bench.ask("www.example");  // against the contract, and harmless
  CHECK(kind_of(report) == FailureKind::NotConnected);
  CHECK_FALSE(report.use.sent);
  CHECK(bench.lab().count("r1", "requests") == 0);
  CHECK(bench.lab().count("r1", "accepts") == 1);  // dialling is left to whoever uses the lane
}

CONTRACT_TEST("an idle connection that resets when it is used is orderly") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.run_for(1200ms);
  bench.lab().command("name gone.example drop");
  const ExchangeReport report = bench.ask("gone.example");
  CHECK(kind_of(report) == FailureKind::Orderly);
  CHECK(report.result.error().detail == "idle connection found closed");
}

CONTRACT_TEST("the limit ends a request and not its connection") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  bench.lab().command("name slow.example hang");
  const ExchangeReport report = bench.ask("www.slow.example", 200ms);
  CHECK(kind_of(report) == FailureKind::Timeout);
  CHECK(bench.lane().connected() == 1);
  CHECK(bench.lane().in_flight() == 0);
  CHECK(bench.ask("www.example").result.has_value());
  CHECK(bench.lab().count("r1", "accepts") == 1);
}

CONTRACT_TEST("a timeout tells whether the connection was alive meanwhile") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("name slow.example hang");
  std::optional<ExchangeReport> slow;
  const auto call = bench.lane().send(bench.request("www.slow.example", 600ms), [&](ExchangeReport report) { slow = std::move(report); });
  const bool alive = GENERATE(true, false);
  if (alive) {
    REQUIRE(bench.ask("other.example").result.has_value());
  } else {
    bench.run_until([&] { return bench.lab().count("r1", "requests") == 2; });
    bench.lab().command("proxy p1 stop");
  }
  bench.run_until([&] { return slow.has_value(); });
  bench.lab().command("proxy p1 cont");
  CHECK(kind_of(*slow) == FailureKind::Timeout);
  if (alive) {
    CHECK(slow->use.received_since);
  }
  if (!alive) {
    CHECK_FALSE(bench.lane().in_flight() > 0);
  }
}

CONTRACT_TEST("behind a proxy that fell silent nothing is received") {
  const std::string fault = GENERATE("proxy p1 stop", "resolver r1 freeze-all");
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.run_for(50ms);  // what the answer still brings (acknowledged SETTINGS, tickets) is in
  bench.lab().command(fault);
  const ExchangeReport report = bench.ask("www.example", 300ms);
  bench.lab().command("proxy p1 cont");
  CHECK(kind_of(report) == FailureKind::Timeout);
  CHECK_FALSE(report.use.received_since);
}

CONTRACT_TEST("an evicted connection fails its requests at once") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  const DialInfo info = bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("proxy p1 stop");
  std::vector<ExchangeReport> reports;
  std::vector<std::unique_ptr<Call>> calls;
  calls.reserve(5);
  for (int i = 0; i < 5; ++i) {
    calls.push_back(bench.lane().send(bench.request("www.example"), [&](ExchangeReport report) { reports.push_back(std::move(report)); }));
  }
  bench.lane().evict(info.connection);
  CHECK(reports.empty());  // never inline
  CHECK(bench.lane().connected() == 0);
  CHECK_FALSE(bench.lane().ready());
  bench.run_until([&] { return reports.size() == 5; });
  bench.lab().command("proxy p1 cont");
  for (const ExchangeReport& report : reports) {
    CHECK(kind_of(report) == FailureKind::ConnectionLost);
  }
  const DialInfo again = bench.connect();
  CHECK(again.connection != info.connection);
  CHECK(bench.ask("www.example").use.connection == again.connection);
}

CONTRACT_TEST("an evicted idle connection is not used again") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  const DialInfo info = bench.connect();
  bench.lane().evict(info.connection);
  CHECK(bench.lane().connected() == 0);
  bench.lane().evict(info.connection);  // harmless, as is an id that never was
  bench.lane().evict(0);
  const DialInfo again = bench.connect();
  CHECK(bench.lane().connected() == 1);
  CHECK(bench.ask("www.example").use.connection == again.connection);
}

CONTRACT_TEST("a body above 65535 octets is too large") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  bench.lab().command("name big.example big 65536");
  bench.lab().command("name fits.example big 65535");
  CHECK(kind_of(bench.ask("www.big.example")) == FailureKind::TooLarge);
  const ExchangeReport report = bench.ask("www.fits.example");
  REQUIRE(report.result.has_value());
  CHECK(report.result->body.size() == 65535);
  CHECK(bench.lab().count("r1", "accepts") == 1);
}

CONTRACT_TEST("an answer coded in a way not asked for is bad HTTP") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  bench.lab().command("name coded.example header content-encoding: gzip");
  const ExchangeReport report = bench.ask("www.coded.example");
  CHECK(kind_of(report) == FailureKind::BadHttp);
  CHECK(report.result.error().header_seen);
  CHECK(bench.ask("www.example").result.has_value());
  CHECK(bench.lab().count("r1", "accepts") == 1);
}

}  // namespace dohmux::contract
