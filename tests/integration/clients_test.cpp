// Clients at the door: who may ask, from which address a reply comes, and how TCP connections are used (RFC 7766).
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint8_t kRefused = 5;
constexpr std::uint16_t kProhibited = 18;  // RFC 8914 §4.19
const std::string kLoopback = "listen: [\"127.0.0.1:0\"]";

}  // namespace

TEST_CASE("an address that is not allowed gets REFUSED with EDE 18, and nothing is asked for it") {
  House house({.resolvers = 1, .proxies = 1}, {.upstream_keys = "warm: false", .extra = "access: {allow: [10.0.0.0/8, 127.0.0.9]}\n"});
  REQUIRE(house.daemon.ready());
  for (const Protocol protocol : {Protocol::Udp, Protocol::Tcp}) {
    const Reply reply = ask(house.daemon.udp_port(), protocol, {.name = "www.x.example"});
    REQUIRE(reply.came);
    CHECK(reply.rcode == kRefused);
    CHECK(reply.ede == kProhibited);
    CHECK(reply.answers == 0);
    const Reply plain = ask(house.daemon.udp_port(), protocol, {.name = "www.x.example", .edns = Edns::None});
    CHECK(plain.rcode == kRefused);
    CHECK_FALSE(plain.has_opt);
  }
  CHECK(house.lab.count("r1", "requests") == 0);
  const Addressed allowed = send_datagram({.from = "127.0.0.9", .port = house.daemon.udp_port()}, make_query({.name = "www.x.example"}, 7));
  CHECK(allowed.reply.rcode == 0);
  CHECK(allowed.reply.answers == 1);
}

TEST_CASE("a listener on all addresses replies from the address that was asked") {
  Lab lab({.resolvers = 1, .proxies = 1});
  const std::string config =
      replaced(lab.config({.extra = "access: {allow: [127.0.0.0/8, 10.0.0.0/8]}\n"}), kLoopback, "listen: [\"0.0.0.0:0\"]");
  Daemon daemon({.config = config});
  REQUIRE(daemon.ready());
  for (const char* to : {"127.0.0.1", "127.0.0.2", "127.1.2.3"}) {
    for (const char* from : {"127.0.0.1", "127.0.0.7"}) {
      const Addressed result = send_datagram({.from = from, .to = to, .port = daemon.udp_port()}, make_query({.name = "www.x.example"}, 7));
      INFO(from << " asks " << to << ", reply from " << result.from);
      CHECK(result.reply.answers == 1);
      CHECK(result.from == to);
    }
  }
  CHECK(daemon.stop() == 0);
}

TEST_CASE("TCP: 100 queries in one segment, 100 answers") {
  House house({.resolvers = 2, .proxies = 1, .rtt = "5ms"});
  REQUIRE(house.daemon.ready());
  TcpClient client(house.daemon.tcp_port());
  REQUIRE(client.connected());
  std::string segment;
  for (std::uint16_t id = 0; id < 100; ++id) {
    segment += framed({.name = fmt::format("n{}.x.example", id)}, id);
  }
  REQUIRE(client.send(segment));
  std::set<std::uint16_t> answered;
  for (int i = 0; i < 100; ++i) {
    const Reply reply = client.receive();
    REQUIRE(reply.came);
    CHECK(reply.answers == 1);
    answered.insert(reply.id);
  }
  CHECK(answered.size() == 100);
}

TEST_CASE("TCP: a query that comes octet by octet is answered, and so is one behind it") {
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  TcpClient client(house.daemon.tcp_port());
  for (const char octet : framed({.name = "slowly.x.example"}, 1)) {
    REQUIRE(client.send(std::string(1, octet)));
    std::this_thread::sleep_for(2ms);
  }
  CHECK(client.receive().id == 1);
  const std::string both = framed({.name = "second.x.example"}, 2) + framed({.name = "third.x.example"}, 3);
  REQUIRE(client.send(both.substr(0, both.size() - 5)));
  CHECK(client.receive().id == 2);
  REQUIRE(client.send(both.substr(both.size() - 5)));
  CHECK(client.receive().id == 3);
}

TEST_CASE("TCP: a quick answer overtakes a slow one on the same connection") {
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(1, 1).with_answer() == 1);  // until its first answer a connection upstream gets one request only
  TcpClient client(house.daemon.tcp_port());
  REQUIRE(client.send(framed({.name = "d800.x.example"}, 1) + framed({.name = "quick.x.example"}, 2)));
  CHECK(client.receive().id == 2);
  CHECK(client.receive().id == 1);
}

TEST_CASE("TCP: an idle connection is closed after timeouts.tcp_idle, one with a query under way is not") {
  House house({.resolvers = 1, .proxies = 1}, {.extra = "timeouts: {tcp_idle: 500ms}\n"});
  REQUIRE(house.daemon.ready());
  TcpClient unused(house.daemon.tcp_port());
  TcpClient waiting(house.daemon.tcp_port());
  REQUIRE(waiting.send(framed({.name = "d1500.x.example"}, 1)));
  CHECK(unused.closed_within(5s));
  CHECK(waiting.receive().id == 1);
  CHECK(waiting.closed_within(5s));
}

TEST_CASE("TCP: a client that has said all (FIN) still gets its answers, then the connection ends") {
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(1, 1).with_answer() == 1);
  TcpClient client(house.daemon.tcp_port());
  REQUIRE(client.send(framed({.name = "d300.x.example"}, 1) + framed({.name = "d100.x.example"}, 2)));
  client.finish();
  CHECK(client.receive().id == 2);
  CHECK(client.receive().id == 1);
  CHECK(client.closed_within(5s));
}
