// Split DNS: a covered name goes to the plain servers of its route and to nobody else; the others never go there.
#include <csignal>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "house.h"
#include "support/plain_dns.h"

using namespace dohmux::test;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

/// One route to `servers`, in the order given.
std::string route(const std::string& match, const std::vector<std::string>& servers) {
  std::string list;
  for (const std::string& server : servers) {
    list += (list.empty() ? "\"" : ", \"") + server + "\"";
  }
  return "  - {match: [" + match + "], forward: [" + list + "]}\n";
}

House house_with(const std::string& routes, const std::string& extra = "") {
  return House({.resolvers = 2, .proxies = 2}, {.extra = "routes:\n" + routes + extra});
}

/// Does anything that a resolver or proxy of the lab has logged name it?
bool lab_saw(const House& house, std::string_view name) {
  const std::vector<std::string> log = house.lab.log();
  return std::ranges::any_of(log, [name](const std::string& line) { return line.find(name) != std::string::npos; });
}

std::string hex(std::string_view octets) {
  std::string text;
  for (const char c : octets) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4U];
    text += kDigits[static_cast<unsigned char>(c) & 15U];
  }
  return text;
}

}  // namespace

TEST_CASE("a covered name goes to the plain server only, an uncovered one never does") {
  const Protocol protocol = GENERATE(Protocol::Udp, Protocol::Tcp);
  const PlainDns corp(PlainMode::Normal, {10, 0, 0, 5});
  House house = house_with(route("corp.example", {corp.endpoint()}));
  REQUIRE(house.daemon.ready());
  const std::uint16_t port = protocol == Protocol::Udp ? house.daemon.udp_port() : house.daemon.tcp_port();
  for (const char* name : {"corp.example", "www.corp.example", "a.b.c.CORP.Example"}) {
    INFO(name);
    const Reply reply = ask(port, protocol, {.name = name});
    REQUIRE(reply.came);
    CHECK(reply.rcode == 0);
    CHECK(reply.answers == 1);
    CHECK(reply.message.find("\x0a\x00\x00\x05"sv) != std::string::npos);
    CHECK(corp.count(name) == 1);
  }
  CHECK(house.lab.total('r', "requests") == 0);
  for (const char* name : {"notcorp.example", "example", "www.example", "corp.example.org", "xcorp.example"}) {
    INFO(name);
    CHECK(ask(port, protocol, {.name = name}).answers == 1);
    CHECK(corp.count(name) == 0);
    CHECK(lab_saw(house, name));  // so that the log would tell
  }
  CHECK(corp.count() == 3);
  CHECK(house.lab.total('r', "requests") == 5);
  CHECK_FALSE(lab_saw(house, "www.corp.example"));
  CHECK(house.daemon.stop() == 0);
}

TEST_CASE("whatever becomes of the plain servers, a covered name reaches nobody else") {
  const auto mode = GENERATE(PlainMode::Silent, PlainMode::ServFail, PlainMode::Refused, PlainMode::Malformed, PlainMode::WrongId,
                             PlainMode::TruncatedNoTcp, PlainMode::TruncatedSilent);
  const PlainDns first(mode);
  const PlainDns second(mode);
  House house = house_with(route("corp.example", {first.endpoint(), second.endpoint()}), "timeouts: {query: 1s, attempt: 300ms}\n");
  REQUIRE(house.daemon.ready());
  for (int i = 0; i < 3; ++i) {
    const std::string name = "secret" + std::to_string(i) + ".corp.example";
    const Reply reply = ask(house.daemon.udp_port(), Protocol::Udp, {.name = name});
    REQUIRE(reply.came);
    CHECK(reply.rcode == (mode == PlainMode::Refused ? 5 : 2));
    CHECK(reply.answers == 0);
    CHECK(reply.latency < 2s * kSlack);  // timeouts.query and a busy machine
  }
  CHECK(first.count() + second.count() > 0);
  CHECK(house.lab.total('r', "requests") == 0);
  CHECK_FALSE(lab_saw(house, "secret"));
  CHECK(ask(house.daemon.udp_port(), Protocol::Udp, {.name = "public.example"}).answers == 1);
}

TEST_CASE("nobody listens at the route's address: SERVFAIL with EDE at once, and nobody else is asked") {
  std::string nobody;
  {
    const PlainDns gone;
    nobody = gone.endpoint();
  }
  House house = house_with(route("corp.example", {nobody}));
  REQUIRE(house.daemon.ready());
  const Reply reply = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "secret.corp.example"});
  REQUIRE(reply.came);
  CHECK(reply.rcode == 2);
  CHECK(reply.ede == 23);
  CHECK(reply.ede_text.find(nobody + ": forward: refused") != std::string::npos);
  CHECK(reply.latency < 500ms * kSlack);
  CHECK(house.lab.total('r', "requests") == 0);
  CHECK_FALSE(lab_saw(house, "secret"));
}

TEST_CASE("covered and uncovered names together, all octets of the lab's side captured: not one covered name in them") {
  const PlainDns corp(PlainMode::Normal, {10, 0, 0, 5});
  House house = house_with(route("corp.example", {corp.endpoint()}));
  REQUIRE(house.daemon.ready());
  const BatchResult result = run_batch({.port = house.daemon.udp_port(), .queries = 600, .in_flight = 50, .name = [](std::size_t i) {
                                          return "q" + std::to_string(i) + (i % 2 == 0 ? ".hidden.corp.example" : ".public.example");
                                        }});
  CHECK(result.with_answer() == 600);
  CHECK(corp.count() == 300);
  CHECK(house.lab.total('r', "requests") == 300);
  CHECK_FALSE(lab_saw(house, "hidden"));
  CHECK_FALSE(lab_saw(house, hex("hidden")));
  CHECK(lab_saw(house, "q1.public.example"));
  for (const PlainDns::Asked& one : corp.asked()) {
    REQUIRE(one.name.ends_with(".hidden.corp.example"));
  }
}

TEST_CASE("the longest suffix wins, and a route to a group leads out of a wider one") {
  const PlainDns wide(PlainMode::Normal, {10, 0, 0, 1});
  const PlainDns narrow(PlainMode::Normal, {10, 0, 0, 2});
  House house = house_with(route("corp.example", {wide.endpoint()}) + route("lab.corp.example", {narrow.endpoint()}) +
                           "  - {match: [cloud.corp.example], group: default}\n");
  REQUIRE(house.daemon.ready());
  const std::uint16_t port = house.daemon.udp_port();
  for (const char* name : {"www.corp.example", "lab.corp.example", "x.lab.corp.example", "y.cloud.corp.example", "xlab.corp.example"}) {
    CHECK(ask(port, Protocol::Udp, {.name = name}).answers == 1);
  }
  CHECK(wide.count() == 2);
  CHECK(wide.count("www.corp.example") == 1);
  CHECK(wide.count("xlab.corp.example") == 1);
  CHECK(narrow.count() == 2);
  CHECK(house.lab.total('r', "requests") == 1);
  CHECK(lab_saw(house, "y.cloud.corp.example"));
}

TEST_CASE("what the plain server sees: no padding, an id of its own, ports that change; a reply with the client's id") {
  const PlainDns corp;
  House house = house_with(route("corp.example", {corp.endpoint()}));
  REQUIRE(house.daemon.ready());
  const BatchResult result = run_batch({.port = house.daemon.udp_port(), .queries = 50, .in_flight = 10, .name = [](std::size_t i) {
                                          return "q" + std::to_string(i) + ".corp.example";
                                        }});
  CHECK(result.with_answer() == 50);
  CHECK(result.strange == 0);
  std::vector<std::uint16_t> ports;
  for (const PlainDns::Asked& one : corp.asked()) {
    ports.push_back(one.source_port);
    const std::size_t bare = 12 + one.name.size() + 2 + 4 + 11;
    CHECK(one.message.size() == bare);  // header, question, an OPT without options (RFC 7830 §6)
  }
  std::ranges::sort(ports);
  ports.erase(std::ranges::unique(ports).begin(), ports.end());
  CHECK(ports.size() >= 45);
}

TEST_CASE("an answer that a datagram cannot hold comes by TCP from the plain server, and whole to a TCP client") {
  const PlainDns corp(PlainMode::Truncated);
  House house = house_with(route("corp.example", {corp.endpoint()}));
  REQUIRE(house.daemon.ready());
  const Reply tcp = ask(house.daemon.tcp_port(), Protocol::Tcp, {.name = "big.corp.example"});
  CHECK(tcp.answers == 120);
  CHECK_FALSE(tcp.truncated);
  const Reply udp = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "big.corp.example"});
  CHECK(udp.truncated);
  CHECK(udp.message.size() <= 1232);
  CHECK_FALSE(lab_saw(house, "big.corp.example"));
}

TEST_CASE("a private address is no rebinding when a route gave it, and reverse zones can be routed") {
  const PlainDns corp(PlainMode::Normal, {10, 0, 0, 5});
  House house = house_with(route("corp.example, 10.in-addr.arpa", {corp.endpoint()}), "rebinding: {mode: on}\n");
  REQUIRE(house.daemon.ready());
  const Reply reply = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "www.corp.example"});
  CHECK(reply.rcode == 0);
  CHECK(reply.answers == 1);
  const Reply reverse = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "5.0.0.10.in-addr.arpa", .type = 12});
  CHECK(reverse.rcode == 0);
  CHECK(corp.count("5.0.0.10.in-addr.arpa") == 1);
}

TEST_CASE("300 queries at once to a slow plain server: all answered, no descriptor left behind") {
  PlainDns corp(PlainMode::Held);
  House house = house_with(route("corp.example", {corp.endpoint()}), "timeouts: {query: 30s}\nlimits: {queries: 1000}\n");
  REQUIRE(house.wait_for_connections(2));
  const long before = open_descriptors(house.daemon.process().pid());
  bool released = false;
  const BatchResult result = run_batch({.port = house.daemon.udp_port(), .queries = 300, .in_flight = 100, .name = [&](std::size_t i) {
                                          if (i == 99 && !released) {
                                            released = true;
                                            corp.mode(PlainMode::Normal);
                                          }
                                          return "q" + std::to_string(i) + ".corp.example";
                                        }});
  CHECK(result.with_answer() == 300);
  CHECK(open_descriptors(house.daemon.process().pid()) <= before);
  CHECK(house.daemon.stop() == 0);
}

TEST_CASE("SIGTERM with a covered query under way: answered within the drain, exit 0") {
  const PlainDns silent(PlainMode::Silent);
  House house = house_with(route("corp.example", {silent.endpoint()}), "timeouts: {query: 30s, drain: 500ms}\n");
  REQUIRE(house.daemon.ready());
  std::thread stopper([&] {
    [[maybe_unused]] const bool asked = silent.wait_for(1);
    house.daemon.process().signal(SIGTERM);
  });
  const Reply reply = ask(house.daemon.udp_port(), Protocol::Udp, {.name = "www.corp.example"});
  stopper.join();
  CHECK(reply.came);
  CHECK(reply.rcode == 2);
  CHECK(house.daemon.process().wait(5000ms) == 0);
}
