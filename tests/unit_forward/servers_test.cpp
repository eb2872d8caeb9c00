// Several servers: their order, who is asked next and when, and what is remembered of those in trouble.
#include "forward/servers.h"

#include <catch2/catch_test_macros.hpp>

#include "asking.h"

using namespace dohmux;
using namespace dohmux::test;
using namespace std::chrono_literals;
using Order = std::vector<std::size_t>;

namespace {

const TimePoint kStart = TimePoint{} + 1h;

forward::Servers three() {
  return forward::Servers({*Endpoint::parse("10.0.0.1:53"), *Endpoint::parse("10.0.0.2:53"), *Endpoint::parse("10.0.0.3:53")});
}

/// A port of loopback where nobody listens.
Endpoint nobody() {
  const PlainDns gone;
  return *Endpoint::parse(gone.endpoint());
}

}  // namespace

TEST_CASE("servers: the order of the list, those in trouble last") {
  forward::Servers servers = three();
  CHECK(servers.order(kStart) == Order{0, 1, 2});
  servers.failed(0, kStart);
  CHECK(servers.order(kStart) == Order{1, 2, 0});
  servers.failed(1, kStart);
  CHECK(servers.order(kStart) == Order{2, 0, 1});
  servers.failed(2, kStart);
  CHECK(servers.order(kStart) == Order{0, 1, 2});
  servers.works(0);
  CHECK(servers.order(kStart) == Order{0, 1, 2});
}

TEST_CASE("servers: when the back-off is over one query probes, the others do not wait") {
  forward::Servers servers = three();
  servers.failed(0, kStart);
  CHECK(servers.order(kStart + 999ms) == Order{1, 2, 0});
  CHECK(servers.order(kStart + 1s) == Order{0, 1, 2});
  CHECK(servers.order(kStart + 1s) == Order{1, 2, 0});
  servers.works(0);
  CHECK(servers.order(kStart + 1s) == Order{0, 1, 2});
  CHECK(servers.order(kStart + 1s) == Order{0, 1, 2});
}

TEST_CASE("servers: a thousand queries that met one dead server are one failure") {
  forward::Servers servers = three();
  for (int i = 0; i < 1000; ++i) {
    servers.failed(0, kStart);
  }
  CHECK(servers.order(kStart + 1s) == Order{0, 1, 2});
}

TEST_CASE("servers: the back-off has an end, however long the trouble") {
  forward::Servers servers = three();
  TimePoint now = kStart;
  for (int i = 0; i < 100; ++i) {
    servers.failed(0, now);
    now += 31s;
    CHECK(servers.order(now) == Order{0, 1, 2});
    now += 31s;
  }
}

TEST_CASE("a silent server: the next one gets its share of the time") {
  const PlainDns silent(PlainMode::Silent);
  const PlainDns good(PlainMode::Normal, {10, 0, 0, 2});
  Asking asking({&silent, &good});
  const Question& question = asking.asked("www.corp.example", 1s);
  REQUIRE(question.answered());
  CHECK(question.address() == Octets{10, 0, 0, 2});
  CHECK((*question.outcome)->trail.sendings == 2);
  CHECK(silent.count() == 1);
  CHECK(good.count() == 1);
}

TEST_CASE("a server that was silent is asked last for a while") {
  const PlainDns silent(PlainMode::Silent);
  const PlainDns good;
  Asking asking({&silent, &good}, {.attempt = 100ms});
  REQUIRE(asking.asked().answered());
  for (int i = 0; i < 20; ++i) {
    asking.ask();
  }
  REQUIRE(asking.all_over());
  CHECK(silent.count() == 1);
  CHECK(good.count() == 21);
}

TEST_CASE("with several servers none gets more than `attempt`, the last one all that is left") {
  const PlainDns silent(PlainMode::Silent);
  PlainDns held(PlainMode::Held);
  Asking asking({&silent, &held}, {.attempt = 50ms});
  const Question& question = asking.ask("www.corp.example", 20s);
  REQUIRE(pump_until(asking.loop, [&] { return held.count() == 1; }));
  pump_for(asking.loop, 200ms);
  CHECK_FALSE(question.outcome.has_value());
  held.mode(PlainMode::Normal);
  REQUIRE(asking.all_over());
  CHECK(question.answered());
}

TEST_CASE("all silent: each asked once, an error by the deadline that names the last") {
  const PlainDns first(PlainMode::Silent);
  const PlainDns second(PlainMode::Silent);
  const PlainDns third(PlainMode::Silent);
  Asking asking({&first, &second, &third});
  const TimePoint began = asking.loop.now();
  const Question& question = asking.asked("www.corp.example", 600ms);
  CHECK(question.stage() == "forward: timeout");
  CHECK(question.outcome->error().trail.sendings == 3);
  CHECK(asking.loop.now() - began >= 600ms);
  CHECK(first.count() == 1);
  CHECK(second.count() == 1);
  CHECK(third.count() == 1);
}

TEST_CASE("nobody listens: refused at once, and the next server is asked") {
  const PlainDns good;
  event::Loop loop;
  forward::PlainForwarder forwarder(loop, {nobody(), *Endpoint::parse(good.endpoint())}, {}, Random(1));
  const dns::Query query = *dns::parse_query(test::query("www.corp.example").build());
  std::optional<Outcome> outcome;
  const auto call = forwarder.exchange(query, dns::upstream_query(query, dns::Padding::None), loop.now() + 60s,
                                       [&](Outcome got) { outcome = std::move(got); });
  REQUIRE(pump_until(loop, [&] { return outcome.has_value(); }));
  REQUIRE(outcome->has_value());
  CHECK((*outcome)->trail.sendings == 2);
}

TEST_CASE("nobody listens anywhere: an error at once") {
  event::Loop loop;
  const Endpoint where = nobody();
  forward::PlainForwarder forwarder(loop, {where}, {}, Random(1));
  const dns::Query query = *dns::parse_query(test::query("www.corp.example").build());
  std::optional<Outcome> outcome;
  const auto call = forwarder.exchange(query, dns::upstream_query(query, dns::Padding::None), loop.now() + 60s,
                                       [&](Outcome got) { outcome = std::move(got); });
  REQUIRE(pump_until(loop, [&] { return outcome.has_value(); }));
  REQUIRE_FALSE(outcome->has_value());
  CHECK(outcome->error().stage == "forward: refused");
  CHECK(outcome->error().cause == upstream::Cause::NetworkError);
}

TEST_CASE("a server with an IPv6 address") {
  const UniqueFd socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress any = to_sockaddr({.address = *IpAddress::parse("::1"), .port = 0});
  if (!socket || ::bind(socket.get(), any.get(), any.length) != 0) {
    SKIP("no ::1 here");
  }
  const Endpoint where = local_endpoint(socket.get());
  event::Loop loop;
  forward::PlainForwarder forwarder(loop, {where}, {}, Random(1));
  const dns::Query query = *dns::parse_query(test::query("www.corp.example").build());
  std::optional<Outcome> outcome;
  const auto call = forwarder.exchange(query, dns::upstream_query(query, dns::Padding::None), loop.now() + 60s,
                                       [&](Outcome got) { outcome = std::move(got); });
  Octets buffer(512);
  SocketAddress from;
  from.length = sizeof from.storage;
  REQUIRE(pump_until(loop, [&] {
    return ::recvfrom(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from.storage), &from.length) >
           0;
  }));
  const Octets answer = response("www.corp.example").id(static_cast<std::uint16_t>((buffer[0] << 8U) | buffer[1])).build();
  REQUIRE(::sendto(socket.get(), answer.data(), answer.size(), 0, from.get(), from.length) > 0);
  REQUIRE(pump_until(loop, [&] { return outcome.has_value(); }));
  REQUIRE(outcome->has_value());
  CHECK((*outcome)->trail.host == where.to_string());
}

TEST_CASE("a server that cannot be reached at all is passed over without a sending") {
  const PlainDns good;
  event::Loop loop;
  // Without SO_BROADCAST connect() fails at once with EACCES.
  const Endpoint impossible = *Endpoint::parse("255.255.255.255:53");
  const dns::Query query = *dns::parse_query(test::query("www.corp.example").build());
  std::optional<Outcome> outcome;
  {
    forward::PlainForwarder forwarder(loop, {impossible, *Endpoint::parse(good.endpoint())}, {}, Random(1));
    const auto call = forwarder.exchange(query, dns::upstream_query(query, dns::Padding::None), loop.now() + 60s,
                                         [&](Outcome got) { outcome = std::move(got); });
    REQUIRE(pump_until(loop, [&] { return outcome.has_value(); }));
    REQUIRE(outcome->has_value());
    CHECK((*outcome)->trail.sendings == 1);
  }
  outcome.reset();
  forward::PlainForwarder forwarder(loop, {impossible}, {}, Random(1));
  const auto call = forwarder.exchange(query, dns::upstream_query(query, dns::Padding::None), loop.now() + 60s,
                                       [&](Outcome got) { outcome = std::move(got); });
  CHECK_FALSE(outcome.has_value());
  REQUIRE(pump_until(loop, [&] { return outcome.has_value(); }));
  REQUIRE_FALSE(outcome->has_value());
  CHECK(outcome->error().cause == upstream::Cause::NoReachableExit);
  CHECK(outcome->error().trail.sendings == 0);
}
