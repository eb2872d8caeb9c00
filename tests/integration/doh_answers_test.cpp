// What HTTP says about an answer, through the whole daemon: types, statuses, Age, Retry-After (RFC 8484 §4.2, §5.1; RFC 9110).
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;

namespace {

constexpr std::uint8_t kServFail = 2;
constexpr std::uint16_t kNetworkError = 23;

Reply ask_for(House& house, const std::string& name, Protocol protocol = Protocol::Udp) {
  return ask(house.daemon.udp_port(), protocol, {.name = name});
}

}  // namespace

TEST_CASE("D2 the media type counts without its parameters and in any letter case") {
  House house(
      {.resolvers = 1,
       .proxies = 1,
       .commands = {"name upper.example type Application/DNS-Message", "name parameter.example type application/dns-message; charset=x"}});
  REQUIRE(house.daemon.ready());
  CHECK(ask_for(house, "upper.example").answers == 1);
  CHECK(ask_for(house, "parameter.example").answers == 1);
}

TEST_CASE("D3 another media type is never parsed: SERVFAIL with EDE 23") {
  House house({.resolvers = 1,
               .proxies = 1,
               .commands = {"name t0.example type text/plain", "name t1.example type application/dns-json",
                            "name t2.example type application/dns-message2", "name t3.example type"}});
  REQUIRE(house.daemon.ready());
  for (int i = 0; i < 4; ++i) {
    const Reply reply = ask_for(house, fmt::format("t{}.example", i));
    CHECK(reply.rcode == kServFail);
    CHECK(reply.ede == kNetworkError);
  }
}

TEST_CASE("D4-D9 statuses without an answer: SERVFAIL with EDE 23 that names it, one request, no redirect followed") {
  // Not 204 and 304: the lab sends a body with them, which HTTP/2 forbids.
  const std::vector<int> statuses = {205, 206, 302, 303, 307, 308, 400, 401, 403, 404, 405, 407, 413, 414, 415, 429, 500, 502, 503, 504};
  LabOptions options{.resolvers = 2, .proxies = 1};
  for (const int status : statuses) {
    const char* more = status / 100 == 3 ? " location: https://r2.lab.example/" : "";
    options.commands.push_back(fmt::format("name s{}.example status {}{}", status, status, more));
  }
  House house(options, {.upstreams = {"r1"}});
  REQUIRE(house.daemon.ready());
  long asked = 0;
  for (const int status : statuses) {
    INFO(status);
    const Reply reply = ask_for(house, fmt::format("s{}.example", status));
    CHECK(reply.rcode == kServFail);
    CHECK(reply.ede == kNetworkError);
    CHECK(reply.ede_text.find(std::to_string(status)) != std::string::npos);
    CHECK(house.lab.count("r1", "requests") == ++asked);
  }
  CHECK(house.lab.count("r2", "accepts") == 0);
  CHECK(ask_for(house, "good.example").answers == 1);
}

TEST_CASE("D8 who says Retry-After is left alone for that time while another upstream can be asked") {
  House house({.resolvers = 2, .proxies = 1, .commands = {"resolver r1 retry-after 60"}}, {.strategy = "failover"});
  REQUIRE(house.daemon.ready());
  for (int i = 0; i < 5; ++i) {
    CHECK(ask_for(house, fmt::format("n{}.example", i)).answers == 1);
  }
  CHECK(house.lab.count("r1", "requests") == 1);
  CHECK(house.lab.count("r2", "requests") == 5);
}

TEST_CASE("D10 an answer that an HTTP cache kept for 41 s has that much less to live") {
  House house({.resolvers = 1, .proxies = 1, .commands = {"name aged.example age 41"}});
  REQUIRE(house.daemon.ready());
  const std::string record = std::string("\xc0\x0c\x00\x01\x00\x01\x00\x00", 8);
  CHECK(ask_for(house, "fresh.example").message.find(record + "\x01\x2c") != std::string::npos);  // 300
  CHECK(ask_for(house, "aged.example").message.find(record + std::string("\x01\x03", 2)) != std::string::npos);
}

TEST_CASE("D14 TC=1 of the upstream is relayed, over UDP and over TCP") {
  House house({.resolvers = 1, .proxies = 1, .commands = {"name cut.example tc"}});
  REQUIRE(house.daemon.ready());
  for (const Protocol protocol : {Protocol::Udp, Protocol::Tcp}) {
    const Reply reply = ask_for(house, "cut.example", protocol);
    CHECK(reply.rcode == 0);
    CHECK(reply.truncated);
  }
}
