// Admission, answers, failures and the drain, as a client sees them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "fakes/fake_exchanger.h"
#include "fakes/fake_scheduler.h"
#include "resolver/resolver.h"

using namespace dohmux;
using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

Bytes query(std::uint16_t id, bool with_opt = true) {
  Bytes message = {static_cast<std::uint8_t>(id >> 8U), static_cast<std::uint8_t>(id), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  const std::uint8_t question[] = {3, 'w', 'W', 'w', 4, 'e', 'x', 'a', 'm', 0, 0, 1, 0, 1};
  message.insert(message.end(), std::begin(question), std::end(question));
  if (with_opt) {
    message[11] = 1;
    const std::uint8_t opt[] = {0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0};
    message.insert(message.end(), std::begin(opt), std::end(opt));
  }
  return message;
}

Bytes answer_for(const Bytes& asked) {
  Bytes answer(asked.begin(), asked.begin() + 26);
  answer[2] = 0x81;
  answer[3] = 0x80;
  std::fill(answer.begin() + 6, answer.begin() + 12, std::uint8_t{0});
  return answer;
}

std::uint16_t id_of(const Bytes& reply) {
  return static_cast<std::uint16_t>((reply[0] << 8U) | reply[1]);
}
int rcode_of(const Bytes& reply) {
  return reply[3] & 15;
}

/// The EDE code in a reply whose OPT is its last record and holds an EDE first; -1 without.
int ede_of(const Bytes& reply) {
  for (std::size_t i = 12; i + 5 < reply.size(); ++i) {
    if (reply[i] == 0 && reply[i + 1] == 15 && reply[i + 2] == 0) {
      return (reply[i + 4] << 8U) | reply[i + 5];
    }
  }
  return -1;
}

struct House {
  explicit House(std::size_t limit = 100)
      : resolver(scheduler, {{.exchanger = &exchanger}}, metrics,
                 {.allow = {*Prefix::parse("127.0.0.0/8")}, .query_timeout = 4500ms, .max_in_flight = limit, .log = {}}) {
    client.via = &sink;
    client.peer = *Endpoint::parse("127.0.0.1:4000");
  }
  void answer_first(std::expected<upstream::Answer, upstream::ExchangeError> result) {
    auto done = std::move(exchanger.asked.front().done);
    done(std::move(result));
  }

  FakeScheduler scheduler;
  FakeExchanger exchanger;
  RecordingSink sink;
  stats::Metrics metrics{{"r1"}, {"p1"}};
  Resolver resolver;
  Client client;
};

}  // namespace

TEST_CASE("an answer comes back with the client's id and letter case; upstream saw id 0") {
  House house;
  house.resolver.submit(house.client, query(0x1234));
  REQUIRE(house.exchanger.asked.size() == 1);
  const Bytes asked = house.exchanger.asked.front().message;
  CHECK(id_of(asked) == 0);
  house.answer_first(upstream::Answer{.message = answer_for(asked)});
  REQUIRE(house.sink.replies.size() == 1);
  const Bytes& reply = house.sink.replies[0];
  CHECK(id_of(reply) == 0x1234);
  CHECK(std::equal(reply.begin() + 12, reply.begin() + 26, query(1).begin() + 12));
  CHECK(house.resolver.in_flight() == 0);
}

TEST_CASE("the exchange ends before timeouts.query does") {
  House house;
  house.resolver.submit(house.client, query(1));
  CHECK(house.exchanger.asked.front().deadline < house.scheduler.now() + 4500ms);
  CHECK(house.exchanger.asked.front().deadline > house.scheduler.now() + 4300ms);
}

TEST_CASE("each cause of failure becomes SERVFAIL with its EDE code, only for clients with an OPT") {
  const std::pair<upstream::Cause, int> rows[] = {{upstream::Cause::NoReachableExit, 22},
                                                  {upstream::Cause::NetworkError, 23},
                                                  {upstream::Cause::BadAnswer, 23},
                                                  {upstream::Cause::Overload, 0},
                                                  {upstream::Cause::ShuttingDown, 14}};
  for (const auto& [cause, code] : rows) {
    House house;
    house.resolver.submit(house.client, query(7));
    house.answer_first(std::unexpected(upstream::ExchangeError{.cause = cause, .stage = "proxy: connection refused"}));
    REQUIRE(house.sink.replies.size() == 1);
    CHECK(rcode_of(house.sink.replies[0]) == 2);
    CHECK(ede_of(house.sink.replies[0]) == code);

    House plain;
    plain.resolver.submit(plain.client, query(7, false));
    plain.answer_first(std::unexpected(upstream::ExchangeError{.cause = cause, .stage = "x"}));
    CHECK(rcode_of(plain.sink.replies[0]) == 2);
    CHECK(plain.sink.replies[0].size() == 26);
  }
}

TEST_CASE("the EDE text names the exit to loopback clients only") {
  const auto text_for = [](const char* peer) {
    House house;
    house.client.peer = *Endpoint::parse(peer);
    Resolver open(house.scheduler, {{.exchanger = &house.exchanger}}, house.metrics,
                  {.allow = {*Prefix::parse("0.0.0.0/0")}, .query_timeout = 1s, .max_in_flight = 10, .log = {}});
    open.submit(house.client, query(7));
    house.answer_first(std::unexpected(
        upstream::ExchangeError{.cause = upstream::Cause::NoReachableExit, .stage = "tunnel: http 503", .trail = {.exit = "fra1"}}));
    return std::string(house.sink.replies[0].begin(), house.sink.replies[0].end());
  };
  CHECK(text_for("127.0.0.1:999").find("fra1: tunnel: http 503") != std::string::npos);
  CHECK(text_for("192.0.2.1:999").find("fra1") == std::string::npos);
  CHECK(text_for("192.0.2.1:999").find("tunnel: http 503") != std::string::npos);
}

TEST_CASE("a client outside access.allow is refused with EDE 18 and nothing is asked") {
  House house;
  house.client.peer = *Endpoint::parse("192.0.2.1:999");
  house.resolver.submit(house.client, query(9));
  CHECK(house.exchanger.asked.empty());
  REQUIRE(house.sink.replies.size() == 1);
  CHECK(rcode_of(house.sink.replies[0]) == 5);
  CHECK(ede_of(house.sink.replies[0]) == 18);
}

TEST_CASE("beyond limits.queries UDP is silent and counted, TCP gets SERVFAIL") {
  House house(3);
  for (std::uint16_t id = 1; id <= 5; ++id) {
    house.resolver.submit(house.client, query(id));
  }
  CHECK(house.exchanger.asked.size() == 3);
  CHECK(house.sink.silent == 2);
  house.client.protocol = Protocol::Tcp;
  house.resolver.submit(house.client, query(6));
  REQUIRE(house.sink.replies.size() == 1);
  CHECK(rcode_of(house.sink.replies[0]) == 2);
  CHECK(house.metrics.render("t").find("dohmux_dns_dropped_total{reason=\"shed\"} 2") != std::string::npos);
}

TEST_CASE("a response sent as a query is met with silence") {
  House house;
  Bytes message = query(1);
  message[2] |= 0x80;
  house.resolver.submit(house.client, message);
  CHECK(house.sink.silent == 1);
  CHECK(house.sink.replies.empty());
}

TEST_CASE("drain: idle is told once the last query is answered; abandoned queries get SERVFAIL") {
  House house;
  bool idle = false;
  house.resolver.submit(house.client, query(1));
  house.resolver.submit(house.client, query(2));
  house.resolver.when_idle([&idle] { idle = true; });
  house.answer_first(upstream::Answer{.message = answer_for(house.exchanger.asked.front().message)});
  house.scheduler.advance(1s);
  CHECK_FALSE(idle);
  house.resolver.abandon_all();
  house.scheduler.advance(1s);
  CHECK(idle);
  REQUIRE(house.sink.replies.size() == 2);
  CHECK(rcode_of(house.sink.replies[1]) == 2);
  CHECK(ede_of(house.sink.replies[1]) == 14);
  CHECK(std::ranges::all_of(house.exchanger.asked, &FakeExchanger::Asked::cancelled));
}

TEST_CASE("accepted queries are the sum of their outcomes") {
  House house(2);
  for (std::uint16_t id = 1; id <= 4; ++id) {
    house.resolver.submit(house.client, query(id));
  }
  house.resolver.submit(house.client, Bytes{1, 2, 3});
  house.resolver.abandon_all();
  const std::string text = house.metrics.render("t");
  CHECK(text.find("dohmux_dns_requests_total{proto=\"udp\"} 5") != std::string::npos);
  CHECK(text.find("reason=\"not_a_query\"} 1") != std::string::npos);
  CHECK(text.find("reason=\"shed\"} 2") != std::string::npos);
  CHECK(text.find("rcode=\"SERVFAIL\",source=\"error\"} 2") != std::string::npos);
}
