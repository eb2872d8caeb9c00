// Names that are answered here, and the limits of clients, at the real daemon: nothing of them reaches a resolver.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::string_view_literals;

namespace {

constexpr std::uint8_t kNxDomain = 3;
constexpr std::uint16_t kSynthesized = 29;
constexpr std::uint16_t kAaaa = 28;
constexpr std::uint16_t kPtr = 12;
constexpr std::uint16_t kSvcb = 64;
constexpr std::uint16_t kResInfo = 261;

const LabOptions kSmall{.resolvers = 1, .proxies = 1};

}  // namespace

TEST_CASE("special names never leave the daemon, over UDP and over TCP") {
  House house(kSmall, {.upstream_keys = "warm: false"});
  REQUIRE(house.daemon.ready());
  struct Row {
    Question question;
    std::uint8_t rcode;
    std::size_t answers;
  };
  const Row rows[] = {{{.name = "localhost"}, 0, 1},
                      {{.name = "a.LOCALHOST", .type = kAaaa}, 0, 1},
                      {{.name = "localhost", .type = kSvcb}, 0, 0},
                      {{.name = "invalid"}, kNxDomain, 0},
                      {{.name = "www.test"}, kNxDomain, 0},
                      {{.name = "facebook.onion"}, kNxDomain, 0},
                      {{.name = "printer.local"}, kNxDomain, 0},
                      {{.name = "a.home.arpa"}, kNxDomain, 0},
                      {{.name = "_dns.resolver.arpa", .type = kSvcb}, 0, 0},
                      {{.name = "resolver.arpa", .type = kResInfo}, 0, 0},
                      {{.name = "1.0.0.127.in-addr.arpa", .type = kPtr}, 0, 1},
                      {{.name = "1.1.168.192.in-addr.arpa", .type = kPtr}, kNxDomain, 0},
                      {{.name = "1.20.172.in-addr.arpa", .type = kPtr}, kNxDomain, 0}};
  for (const Protocol protocol : {Protocol::Udp, Protocol::Tcp}) {
    for (const Row& row : rows) {
      INFO(row.question.name);
      const Reply reply = ask(house.daemon.udp_port(), protocol, row.question);
      REQUIRE(reply.came);
      CHECK(reply.rcode == row.rcode);
      CHECK(reply.answers == row.answers);
      CHECK(reply.has_opt);
      if (row.rcode == kNxDomain) {
        CHECK(reply.ede == kSynthesized);
      }
    }
  }
  CHECK(house.lab.count("r1", "requests") == 0);
  CHECK(house.lab.count("p1", "accepts") <= 0);
  CHECK(house.metric("dohmux_dns_responses_total{rcode=\"NXDOMAIN\",source=\"local\"}") == 14);
}

TEST_CASE("an excepted name is asked for, records are answered here") {
  House house(kSmall, {.extra = "special_names: {except: [test]}\nrecords: {router.lan: [192.168.7.1, \"fd00::7\"]}\n"});
  REQUIRE(house.daemon.ready());
  CHECK(ask(house.daemon.udp_port(), Protocol::Udp, {.name = "www.test"}).answers == 1);
  CHECK(house.lab.count("r1", "requests") == 1);
  const Reply record = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "Router.lan"});
  CHECK(record.message.find("\xc0\xa8\x07\x01"sv) != std::string::npos);
  const Reply reverse = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "1.7.168.192.in-addr.arpa", .type = kPtr});
  CHECK(reverse.message.find("\x06router\x03lan\x00"sv) != std::string::npos);
  CHECK(ask(house.daemon.udp_port(), Protocol::Udp, {.name = "router.lan", .type = kSvcb}).answers == 0);
  CHECK(house.lab.count("r1", "requests") == 1);
}

TEST_CASE("a route to a group asks that group's resolvers only, and needs them") {
  Lab lab({.resolvers = 2, .proxies = 1});
  const std::string config = replaced(lab.config({.extra = "routes: [{match: example.net, group: other}]\n"}), "groups:\n",
                                      "groups:\n  - {name: other, upstreams: [r2]}\n");
  Daemon daemon({.config = replaced(config, "upstreams: [r1, r2]", "upstreams: [r1]")});
  REQUIRE(daemon.ready());
  for (int i = 0; i < 5; ++i) {
    CHECK(ask(daemon.udp_port(), Protocol::Udp, {.name = fmt::format("n{}.example.net", i)}).answers == 1);
  }
  CHECK(lab.count("r2", "requests") == 5);
  CHECK(ask(daemon.udp_port(), Protocol::Udp, {.name = "www.example.org"}).answers == 1);
  CHECK(lab.count("r1", "requests") == 1);
  CHECK(lab.count("r2", "requests") == 5);
  CHECK(daemon.stop() == 0);
}

TEST_CASE("limits per client do not touch loopback") {
  House house(kSmall, {.extra = "limits: {queries_per_client: 1, queries_per_second_per_client: 1, tcp_clients: 64}\n"});
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(100, 50).with_answer() == 100);
  CHECK(house.metric("dohmux_dns_dropped_total") == 0);
}
