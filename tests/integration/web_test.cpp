// The web listener of the real binary, and whether its numbers add up.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

std::string body_of(const std::string& response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? std::string("no head") : response.substr(end + 4);
}

long outcomes(House& house) {
  return house.metric("dohmux_dns_responses_total{") + house.metric("dohmux_dns_dropped_total{");
}

/// Some of everything that can come of a query.
void ask_a_mixture(House& house) {
  const std::uint16_t port = house.daemon.udp_port();
  house.lab.command("name bad.example wrong-id");
  house.lab.command("name fails.example servfail");
  house.lab.command("name big.example big 4000");
  (void)house.ask_many(100, 20);
  (void)house.ask_many(100, 20, Protocol::Tcp);
  for (const char* name : {"a.bad.example", "b.fails.example", "c.big.example", "nx.x.example", "nodata.x.example"}) {
    CHECK(ask(port, Protocol::Udp, {.name = name}).came);
    CHECK(ask(port, Protocol::Tcp, {.name = name, .edns = Edns::None}).came);
  }
  std::string query = make_query({.name = "odd.x.example"}, 9);
  query[2] = static_cast<char>(query[2] | 0x80);  // QR=1: a response is not answered
  CHECK_FALSE(send_datagram({.port = port}, query, 200ms).reply.came);
  query[2] = 0x28;  // opcode 5
  CHECK(send_datagram({.port = port}, query).reply.rcode == 4);
  CHECK_FALSE(send_datagram({.port = port}, "short", 200ms).reply.came);
  CHECK(send_datagram({.port = port}, make_query({.name = "cut.x.example"}, 9).substr(0, 20)).reply.rcode == 1);
  CHECK(send_datagram({.from = "127.9.9.9", .port = port}, make_query({.name = "www.x.example"}, 9)).reply.rcode == 5);
}

}  // namespace

TEST_CASE("web: /metrics and /healthz by GET and HEAD; other paths are 404, other methods 405") {
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  const std::uint16_t port = house.daemon.web_port();
  for (const char* path : {"/metrics", "/healthz"}) {
    const std::string get = http(port, "GET", path);
    const std::string head = http(port, "HEAD", path);
    CHECK(get.starts_with("HTTP/1.1 200"));
    CHECK_FALSE(body_of(get).empty());
    CHECK(head.starts_with("HTTP/1.1 200"));
    CHECK(body_of(head).empty());
    CHECK(http(port, "POST", path).starts_with("HTTP/1.1 405"));
    CHECK(http(port, "POST", path).find("Allow: GET, HEAD") != std::string::npos);
  }
  CHECK(http(port, "GET", "/metrics").find("text/plain; version=0.0.4") != std::string::npos);
  for (const char* path : {"/", "/none", "/metrics/x"}) {
    CHECK(http(port, "GET", path).starts_with("HTTP/1.1 404"));
  }
  CHECK(run_batch({.port = house.daemon.udp_port(), .queries = 5}).with_answer() == 5);
}

TEST_CASE("accepted queries are the sum of their outcomes, whatever these were") {
  House house({.resolvers = 2, .proxies = 2}, {.extra = "access: {allow: [127.0.0.1]}\n"});
  REQUIRE(house.daemon.ready());
  ask_a_mixture(house);
  CHECK(house.metric("dohmux_dns_inflight") == 0);
  INFO(house.metrics());
  CHECK(house.metric("dohmux_dns_requests_total{") == outcomes(house));
  CHECK(house.metric("dohmux_dns_requests_total{proto=\"tcp\"") == 105);
  CHECK(house.metric("dohmux_dns_responses_total{rcode=\"REFUSED\"") == 1);
  CHECK(house.metric("dohmux_dns_responses_total{rcode=\"NXDOMAIN\"") == 2);
  CHECK(house.metric("dohmux_dns_responses_total{rcode=\"NOTIMP\"") == 1);
  CHECK(house.metric("dohmux_dns_responses_total{rcode=\"FORMERR\"") == 1);
  CHECK(house.metric("dohmux_dns_dropped_total{reason=\"not_a_query\"") == 2);
  CHECK(house.metric("dohmux_dns_truncated_total") == 1);
}

TEST_CASE("a flood above limits.queries: UDP is shed and counted, TCP gets SERVFAIL, the sum still holds") {
  House house({.resolvers = 1, .proxies = 1, .commands = {"resolver r1 delay 1500"}}, {.extra = "limits: {queries: 20}\n"});
  REQUIRE(house.wait_for_connections(1));
  const BatchResult udp = run_batch({.port = house.daemon.udp_port(), .queries = 50, .in_flight = 50, .timeout = 4000ms});
  CHECK(udp.with_answer() == 20);
  CHECK(udp.answered() == 20);
  CHECK(house.metric("dohmux_dns_dropped_total{reason=\"shed\"") == 30);
  const BatchResult tcp = house.ask_many(50, 50, Protocol::Tcp);
  CHECK(tcp.with_answer() == 20);
  CHECK(tcp.with_rcode(2) == 30);
  CHECK(house.metric("dohmux_dns_requests_total{") == outcomes(house));
}
