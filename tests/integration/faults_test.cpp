// What fails on the way, and what a client sees of it (contract.md §3; issue A, "Must hold").
#include <csignal>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "house.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

/// `queries`, 50 in flight; `commands` are given to the lab once `when` of them are through.
BatchResult fault_at(House& house, const std::vector<std::string>& commands, std::size_t when, std::size_t queries) {
  bool done = false;
  return run_batch({.port = house.daemon.udp_port(), .queries = queries, .in_flight = 50, .on_finished = [&](std::size_t finished) {
                      if (!done && finished >= when) {
                        done = true;
                        for (const std::string& command : commands) {
                          house.lab.command(command);
                        }
                      }
                    }});
}

}  // namespace

TEST_CASE("a proxy killed with 50 in flight: every query answered, each sent at most twice, each of its hosts moved once") {
  House house({.resolvers = 12, .proxies = 3, .rtt = "25ms"});
  REQUIRE(house.wait_for_connections(12));
  std::map<std::string, std::string> homes;
  for (int i = 1; i <= 12; ++i) {
    homes["r" + std::to_string(i)] = house.exit_of("r" + std::to_string(i));
  }
  const BatchResult result = fault_at(house, {"proxy p2 kill"}, 200, 800);
  CHECK(result.with_answer() == 800);
  CHECK(house.lab.total('r', "requests") <= 800 + 50);
  for (const auto& [name, home] : homes) {
    CHECK(house.metric("dohmux_proxy_moves_total{upstream=\"" + name + "\"") == (home == "p2" ? 1 : 0));
    CHECK(house.exit_of(name) != "p2");
  }
  CHECK(house.lab.total('r', "direct") == 0);
}

TEST_CASE("a proxy that goes silent with 50 in flight: every query answered within timeouts.query, one dial per lane at a time") {
  House house({.resolvers = 12, .proxies = 3, .rtt = "25ms"});
  REQUIRE(house.wait_for_connections(12));
  const BatchResult result = fault_at(house, {"proxy p2 stop"}, 200, 800);
  CHECK(result.with_answer() == 800);
  CHECK(result.percentile(1.0) < 4500ms * kSlack);
  CHECK(house.lab.total('r', "requests") <= 2 * 800);
  CHECK(house.lab.total('r', "direct") == 0);
  CHECK(house.metric("dohmux_proxy_connects_total{") <= 12 + 12);  // one more dial for a moved host, none in parallel
  house.lab.command("proxy p2 cont");
}

TEST_CASE("the same with a single resolver") {
  House house({.resolvers = 1, .proxies = 3, .rtt = "25ms"});
  REQUIRE(house.wait_for_connections(1));
  const BatchResult result = fault_at(house, {"proxy " + house.exit_of("r1") + " stop"}, 200, 400);
  CHECK(result.with_answer() == 400);
  CHECK(result.percentile(1.0) < 4500ms * kSlack);
}

TEST_CASE("one resolver down behind three healthy proxies: no other host moves, no proxy is marked down") {
  House house({.resolvers = 6, .proxies = 3, .commands = {"proxy * status 503 r3"}});
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(600, 50).with_answer() == 600);
  CHECK(house.metric("dohmux_proxy_moves_total{") == house.metric("dohmux_proxy_moves_total{upstream=\"r3\""));
  for (const char* proxy : {"p1", "p2", "p3"}) {
    CHECK(house.metric("dohmux_proxy_up{proxy=\"" + std::string(proxy) + "\"}") == 1);
  }
}

TEST_CASE("A: 403, B: 502, C works: the first query is answered, through C") {
  House probe({.resolvers = 1, .proxies = 3}, {.upstream_keys = "warm: false"});
  House house({.resolvers = 1, .proxies = 3, .commands = {"proxy p1 status 403", "proxy p2 status 502"}}, {.upstream_keys = "warm: false"});
  REQUIRE(house.daemon.ready());
  const Reply reply = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "first.x.example"});
  CHECK(reply.rcode == 0);
  CHECK(reply.answers == 1);
  CHECK(house.lab.count("r1", "via_p3") == 1);
  CHECK(house.lab.count("r1", "requests") == 1);
}

TEST_CASE("all exits refuse: SERVFAIL with EDE 22 within half a second, never a direct connection") {
  House house({.resolvers = 3, .proxies = 3, .commands = {"proxy * refuse"}}, {.upstream_keys = "warm: false"});
  REQUIRE(house.daemon.ready());
  for (int i = 0; i < 5; ++i) {
    const Reply reply = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "n" + std::to_string(i) + ".x.example"});
    REQUIRE(reply.came);
    CHECK(reply.rcode == 2);
    CHECK(reply.ede == 22);
    CHECK(reply.latency < 500ms * kSlack);
  }
  CHECK(house.lab.total('r', "accepts") == 0);
}

TEST_CASE("some exits silent: answered by timeouts.query; once they are known to be down within half a second") {
  House house({.resolvers = 1, .proxies = 3, .commands = {"proxy p1 refuse", "proxy p2 stall", "proxy p3 stall"}},
              {.upstream_keys = "warm: false"});
  REQUIRE(house.daemon.ready());
  const Reply first = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "first.x.example"});
  REQUIRE(first.came);
  CHECK(first.rcode == 2);
  CHECK(first.latency <= 4500ms * kSlack);
  const Reply second = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "second.x.example"});
  REQUIRE(second.came);
  CHECK(second.rcode == 2);
  CHECK(second.latency < 500ms * kSlack);
  CHECK(house.lab.total('r', "accepts") == 0);
}

TEST_CASE("an exit comes back: queries are answered again without a restart") {
  House house({.resolvers = 2, .proxies = 2, .commands = {"proxy * refuse"}}, {.upstream_keys = "warm: false"});
  REQUIRE(house.daemon.ready());
  CHECK(ask(house.daemon.udp_port(), Protocol::Udp, {.name = "down.x.example"}).rcode == 2);
  house.lab.command("proxy * ok");
  bool answered = false;
  for (int i = 0; i < 40 && !answered; ++i) {
    std::this_thread::sleep_for(100ms);
    answered = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "up" + std::to_string(i) + ".x.example"}).rcode == 0;
  }
  CHECK(answered);
}

TEST_CASE("GOAWAY in the middle of a burst: nobody sees an error, and nobody moves") {
  House house({.resolvers = 2, .proxies = 2, .rtt = "10ms"});
  REQUIRE(house.wait_for_connections(2));
  const BatchResult result = fault_at(house, {"resolver r1 goaway-all"}, 100, 300);
  CHECK(result.with_answer() == 300);
  CHECK(house.metric("dohmux_proxy_moves_total{") == 0);
}

TEST_CASE("a connection closed while idle is replaced: no error, no move") {
  House house({.resolvers = 1, .proxies = 2, .commands = {"resolver r1 idle-close 300"}});
  REQUIRE(house.wait_for_connections(1));
  for (int i = 0; i < 5; ++i) {
    CHECK(ask(house.daemon.udp_port(), Protocol::Udp, {.name = "n" + std::to_string(i) + ".x.example"}).answers == 1);
    std::this_thread::sleep_for(600ms);
  }
  CHECK(house.metric("dohmux_proxy_moves_total{") == 0);
  CHECK(house.lab.count("r1", "requests") == 5);
}

TEST_CASE("wrong answers become SERVFAIL with EDE 23 at once, and are never relayed") {
  for (const char* fault :
       {"wrong-id", "wrong-question", "qr0", "empty", "junk", "type text/html", "status 404", "status 500", "big 70000"}) {
    INFO(fault);
    House house({.resolvers = 1, .proxies = 1, .commands = {std::string("resolver r1 ") + fault}});
    REQUIRE(house.daemon.ready());
    const Reply reply = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "bad.x.example"});
    REQUIRE(reply.came);
    CHECK(reply.rcode == 2);
    CHECK(reply.ede == 23);
    CHECK(reply.answers == 0);
    CHECK(reply.latency < 500ms * kSlack);
    CHECK(house.lab.count("r1", "requests") == 1);
  }
}

TEST_CASE("a wrong certificate: SERVFAIL with EDE 23 that says so, no request is sent, no move") {
  for (const char* kind : {"expired", "wrong-name", "self-signed"}) {
    INFO(kind);
    House house({.resolvers = 1, .proxies = 2, .commands = {std::string("resolver r1 cert ") + kind}}, {.upstream_keys = "warm: false"});
    REQUIRE(house.daemon.ready());
    const Reply reply = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "bad.x.example"});
    REQUIRE(reply.came);
    CHECK(reply.rcode == 2);
    CHECK(reply.ede == 23);
    CHECK(reply.ede_text.find("tls") != std::string::npos);
    CHECK(house.lab.count("r1", "requests") == 0);
    CHECK(house.metric("dohmux_proxy_moves_total{") == 0);
  }
}

TEST_CASE("a UDP answer above the client's limit comes back truncated, over TCP whole") {
  House house({.resolvers = 1, .proxies = 1, .commands = {"resolver r1 big 4000"}});
  REQUIRE(house.daemon.ready());
  const Reply udp = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "big.x.example", .type = 16});
  CHECK(udp.truncated);
  CHECK(udp.answers == 0);
  CHECK(udp.message.size() <= 1232);
  CHECK(udp.has_opt);
  const Reply tcp = ask(house.daemon.tcp_port(), Protocol::Tcp, {.name = "big.x.example", .type = 16});
  CHECK_FALSE(tcp.truncated);
  CHECK(tcp.answers >= 1);
  CHECK(tcp.message.size() >= 3900);
}

TEST_CASE("SIGTERM with 100 queries in flight: all are answered, exit 0") {
  House house({.resolvers = 4, .proxies = 2, .commands = {"resolver * delay 800"}});
  REQUIRE(house.wait_for_connections(4));
  std::thread stopper([&house] {
    house.wait_for("r1", "requests", 20);
    house.daemon.process().signal(SIGTERM);
  });
  const BatchResult result = run_batch({.port = house.daemon.udp_port(), .queries = 100, .in_flight = 100});
  stopper.join();
  CHECK(result.with_answer() == 100);
  CHECK(house.daemon.process().wait(5000ms) == 0);
}

TEST_CASE("SIGTERM with a resolver that never answers: the drain ends at timeouts.drain, each client gets SERVFAIL") {
  House house({.resolvers = 1, .proxies = 1, .commands = {"resolver r1 hang"}},
              {.extra = "timeouts: {query: 30s, attempt: 20s, drain: 1s}\n"});
  REQUIRE(house.wait_for_connections(1));
  std::chrono::steady_clock::time_point stopped;
  std::thread stopper([&house, &stopped] {
    std::this_thread::sleep_for(500ms);
    stopped = std::chrono::steady_clock::now();
    house.daemon.process().signal(SIGTERM);
  });
  const BatchResult result = run_batch({.port = house.daemon.udp_port(), .queries = 50, .in_flight = 50});
  stopper.join();
  CHECK(result.with_rcode(2) == 50);
  CHECK(house.daemon.process().wait(3000ms * kSlack) == 0);
  CHECK(std::chrono::steady_clock::now() - stopped < 3000ms * kSlack);
}
