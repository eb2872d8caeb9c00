// Few connections for many queries: exact counts, at the origin and at the proxies (issue A, "Must hold").
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

#include "house.h"

using namespace dohmux::test;

TEST_CASE("cold burst: 630 queries, 50 in flight, 12 hosts, 3 proxies: 12 connections, 12 CONNECTs, 12 dials") {
  const std::string warm = GENERATE("false", "true");
  House house({.resolvers = 12, .proxies = 3, .rtt = "25ms"}, {.upstream_keys = "warm: " + warm});
  REQUIRE(house.daemon.ready());
  const BatchResult first = house.ask_many(630, 50);
  CHECK(first.with_answer() == 630);
  CHECK(house.lab.total('r', "accepts") == 12);
  CHECK(house.lab.total('p', "connects") == 12);
  CHECK(house.metric("dohmux_proxy_connects_total{") == 12);
  CHECK(house.lab.total('r', "requests") == 630);
  CHECK(house.lab.total('r', "direct") == 0);
  CHECK(house.lab.total('r', "id_nonzero") == 0);

  const BatchResult second = house.ask_many(1260, 50);
  CHECK(second.with_answer() == 1260);
  CHECK(house.lab.total('r', "accepts") == 12);
  CHECK(house.lab.total('p', "connects") == 12);
  CHECK(house.metric("dohmux_proxy_connects_total{") == 12);
  CHECK(house.daemon.stop() == 0);
}

TEST_CASE("12 hosts on 3 proxies: four each") {
  House house({.resolvers = 12, .proxies = 3});
  REQUIRE(house.wait_for_connections(12));
  for (const char* proxy : {"p1", "p2", "p3"}) {
    CHECK(house.lab.count(proxy, "connects") == 4);
  }
}

TEST_CASE("200 queries, 50 in flight, to one cold host: one connection") {
  House house({.resolvers = 1, .proxies = 1, .rtt = "25ms"}, {.upstream_keys = "warm: false"});
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(200, 50).with_answer() == 200);
  CHECK(house.lab.count("r1", "accepts") == 1);
  CHECK(house.lab.count("p1", "connects") == 1);
}

TEST_CASE("a stream limit of 10 with 50 in flight: at most 4 connections, no failure, at most 2 sendings each") {
  const std::string warm = GENERATE("false", "true");
  const std::string rtt = GENERATE("0ms", "25ms");
  House house({.resolvers = 1, .proxies = 1, .rtt = rtt, .commands = {"resolver r1 max-streams 10"}}, {.upstream_keys = "warm: " + warm});
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(400, 50).with_answer() == 400);
  CHECK(house.lab.count("r1", "accepts") <= 4);
  CHECK(house.lab.count("r1", "requests") <= 2 * 400);
  CHECK(house.metric("dohmux_dns_responses_total{rcode=\"SERVFAIL\"") == 0);
}

TEST_CASE("a resolver that refuses every stream sees at most two requests per query") {
  House house({.resolvers = 1, .proxies = 1, .commands = {"resolver r1 rst REFUSED_STREAM"}});
  REQUIRE(house.daemon.ready());
  const BatchResult result = house.ask_many(100, 20);
  CHECK(result.answered() == 100);
  CHECK(result.with_rcode(2) == 100);
  CHECK(house.lab.count("r1", "requests") <= 200);
}

TEST_CASE("an HTTP/1.1-only resolver: no failure, one warning, at most 16 connections") {
  const std::string delay = GENERATE("50", "500");
  House house({.resolvers = 1, .proxies = 1, .commands = {"resolver r1 h1", "resolver r1 delay " + delay}});
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(200, 50).with_answer() == 200);
  CHECK(house.lab.count("r1", "accepts") <= 16);
  const std::string printed = house.daemon.printed();
  const std::size_t first = printed.find("HTTP/1.1 only");
  REQUIRE(first != std::string::npos);
  CHECK(printed.find("HTTP/1.1 only", first + 1) == std::string::npos);
}

TEST_CASE("the same over TCP: 630 queries on one connection, 50 in flight") {
  House house({.resolvers = 12, .proxies = 3, .rtt = "25ms"});
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(630, 50, Protocol::Tcp).with_answer() == 630);
  CHECK(house.lab.total('r', "accepts") == 12);
}
