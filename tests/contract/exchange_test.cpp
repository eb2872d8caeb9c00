// Exchanges that succeed: by each way and method, one and many, on one connection.
#include "contract/transports.h"

namespace dohmux::contract {

CONTRACT_TEST("a dial opens one connection and sends nothing") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  CHECK(bench.lane().connected() == 0);
  CHECK_FALSE(bench.lane().ready());
  const DialInfo info = bench.connect();
  CHECK(info.http2);
  CHECK(info.connection != 0);
  CHECK_FALSE(info.certificate_issuer.empty());
  CHECK(bench.lane().connected() == 1);
  CHECK(bench.lane().opened() == 1);
  CHECK(bench.lane().ready());
  CHECK(bench.lab().count("r1", "accepts") == 1);
  CHECK(bench.lab().count("r1", "requests") == 0);
  CHECK(bench.lab().count("p1", "connects") == 1);
}

CONTRACT_TEST("a request uses the dialled connection") {
  Bench bench(TestType::kMake);
  const bool direct = GENERATE(false, true);
  bench.open(direct ? bench.spec() : bench.spec_via("p1"));
  const DialInfo info = bench.connect();
  const ExchangeReport report = bench.ask("www.example");
  REQUIRE(report.result.has_value());
  CHECK(report.result->status == 200);
  CHECK(report.result->content_type == "application/dns-message");
  CHECK(report.result->body.size() > 12);
  CHECK(report.use.connection == info.connection);
  CHECK(report.use.sent);
  CHECK_FALSE(report.use.reused);
  CHECK(report.http2);
  CHECK(bench.ask("www.example").use.reused);
  CHECK(bench.lab().count("r1", "accepts") == 1);
  CHECK(bench.lab().count("r1", "queries") == 2);
  CHECK(bench.lab().count("r1", direct ? "direct" : "via_p1") == 1);
}

CONTRACT_TEST("200 requests, 50 in flight, share one connection") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 rtt 10ms");
  bench.open_via("p1");
  const BurstResult result = bench.burst(200, 50);
  CHECK(result.ok == 200);
  CHECK(result.per_connection.size() == 1);
  CHECK(bench.lab().count("r1", "accepts") == 1);
  CHECK(bench.lab().count("r1", "requests") == 200);
  CHECK(bench.lab().count("p1", "connects") == 1);
}

CONTRACT_TEST("GET asks the same") {
  Bench bench(TestType::kMake);
  const std::string path = GENERATE("/dns-query", "/dns-query?key=a%2fb");
  bench.open_via("p1");
  bench.connect();
  for (const std::string name : {"a.example", "ab.example", "abc.example"}) {  // each length of base64's last group
    std::optional<ExchangeReport> result;
    auto request = bench.request(name);
    request.method = HttpMethod::Get;
    request.path = path;
    const auto call = bench.lane().send(std::move(request), [&](ExchangeReport report) { result = std::move(report); });
    bench.run_until([&] { return result.has_value(); });
    REQUIRE(result->result.has_value());
    CHECK(result->result->status == 200);
    CHECK(result->result->body.size() > 12);
  }
  CHECK(bench.lab().count("r1", "queries") == 3);
  CHECK(bench.lab().count("r1", "accepts") == 1);
  CHECK(bench.ask("post.example").result.has_value());  // a recycled handle changes its method
}

CONTRACT_TEST("status, type and cache fields are reported as they are") {
  Bench bench(TestType::kMake);
  bench.lab().command("name limited.example retry-after 17");
  bench.lab().command("name aged.example age 41");
  bench.lab().command("name cached.example header cache-control: max-age=99, no-store");
  bench.lab().command("name typed.example type text/html; charset=x");
  bench.lab().command("name moved.example status 302 location: https://r2.lab.example/");
  bench.open_via("p1");
  bench.connect();
  const auto reply = [&](const std::string& name) {
    ExchangeReport report = bench.ask(name);
    REQUIRE(report.result.has_value());
    return std::move(*report.result);
  };
  const auto limited = reply("limited.example");
  CHECK(limited.status == 429);
  CHECK(limited.retry_after == 17s);
  CHECK(reply("aged.example").age == 41s);
  const auto cached = reply("cached.example");
  CHECK(cached.max_age == 99s);
  CHECK(cached.no_store);
  CHECK(reply("typed.example").content_type == "text/html; charset=x");
  CHECK(reply("moved.example").status == 302);  // not followed
  const auto plain = reply("plain.example");    // a recycled handle forgets
  CHECK(plain.status == 200);
  CHECK(plain.age == 0s);
  CHECK_FALSE(plain.retry_after.has_value());
  CHECK_FALSE(plain.no_store);
  CHECK(bench.lab().count("r2", "accepts") == 0);
}

CONTRACT_TEST("answers come as they are ready, not in order") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  std::vector<int> order;
  const auto slow = bench.lane().send(bench.request("d300.example"), [&](const ExchangeReport&) { order.push_back(1); });
  const auto fast = bench.lane().send(bench.request("fast.example"), [&](const ExchangeReport&) { order.push_back(2); });
  bench.run_until([&] { return order.size() == 2; });
  CHECK(order == std::vector{2, 1});
}

CONTRACT_TEST("the times of the stages add up") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 rtt 20ms");
  bench.open_via("p1");
  const DialInfo info = bench.connect();
  CHECK(info.times.proxy_connect > 0ms);
  CHECK(info.times.tunnel >= info.times.proxy_connect);
  CHECK(info.times.tls >= info.times.tunnel);
  CHECK(info.times.total + 2ms >= info.times.tls);
  const ExchangeReport report = bench.ask("www.example");
  CHECK(report.times.first_byte >= 15ms);
  CHECK(report.times.total >= report.times.first_byte);
}

}  // namespace dohmux::contract
