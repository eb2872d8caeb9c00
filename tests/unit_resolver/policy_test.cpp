// Who answers a name: records, then routes, then special names, then the default group.
#include "resolver/policy.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "dns/ttl.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

IpAddress ip(const char* text) {
  return *IpAddress::parse(text);
}

PolicySettings settings() {
  return {.records = {{"router.lan", {ip("192.168.1.1"), ip("fd00::1")}}, {"db.corp.example", {ip("192.168.1.1")}}},
          .routes = {{.match = {"corp.example", "10.in-addr.arpa"}, .target = 1},
                     {.match = {"us.corp.example"}, .target = 2},
                     {.match = {"home.arpa"}, .target = 3}},
          .special_names = {}};
}

/// "local RCODE/answers", "route N" or "default".
std::string decided(const Policy& policy, const std::string& name, std::uint16_t type = 1) {
  const Decision decision = policy.decide(*dns::parse_query(query(name, type).build()), 1232);
  if (const auto* forward = std::get_if<Forward>(&decision)) {
    return forward->by == Chosen::Route ? "route " + std::to_string(forward->target) : "default";
  }
  const Bytes& reply = std::get<Bytes>(decision);
  return "local " + std::to_string(reply[3] & 15) + "/" + std::to_string(reply[7]);
}

}  // namespace

TEST_CASE("policy: without settings everything but special names goes to the default group") {
  const Policy policy({});
  CHECK(decided(policy, "www.example.org") == "default");
  CHECK(decided(policy, ".", 2) == "default");
  CHECK(decided(policy, "intranet") == "default");
  CHECK(decided(policy, "a.test") == "local 3/0");
  CHECK(decided(policy, "localhost") == "local 0/1");
  CHECK(decided(policy, "_dns.resolver.arpa", 64) == "local 0/0");
}

TEST_CASE("policy: records have the name with all its types, and nothing below it") {
  const Policy policy(settings());
  CHECK(decided(policy, "Router.LAN") == "local 0/1");
  CHECK(decided(policy, "router.lan", 28) == "local 0/1");
  CHECK(decided(policy, "router.lan", 255) == "local 0/2");
  CHECK(decided(policy, "router.lan", 65) == "local 0/0");
  CHECK(decided(policy, "db.corp.example", 28) == "local 0/0");
  CHECK(decided(policy, "a.router.lan") == "default");
  CHECK(decided(policy, "lan") == "default");
}

TEST_CASE("policy: records win over routes and special names") {
  const Policy policy({.records = {{"printer.local", {ip("192.0.2.9")}}, {"db.corp.example", {ip("192.0.2.8")}}},
                       .routes = {{.match = {"corp.example"}, .target = 1}},
                       .special_names = {}});
  CHECK(decided(policy, "db.corp.example") == "local 0/1");
  CHECK(decided(policy, "printer.local") == "local 0/1");
  CHECK(decided(policy, "x.local") == "local 3/0");
}

TEST_CASE("policy: the addresses of records have a PTR each, several names several") {
  const Policy policy(settings());
  CHECK(decided(policy, "1.1.168.192.in-addr.arpa", 12) == "local 0/2");
  CHECK(decided(policy, "1.1.168.192.in-addr.arpa", 1) == "local 0/0");
  CHECK(decided(policy, "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa", 12) == "local 0/1");
  CHECK(decided(policy, "2.1.168.192.in-addr.arpa", 12) == "local 3/0");
}

TEST_CASE("policy: the longest suffix of all routes wins") {
  const Policy policy(settings());
  CHECK(decided(policy, "corp.example") == "route 1");
  CHECK(decided(policy, "a.b.CORP.example", 65) == "route 1");
  CHECK(decided(policy, "us.corp.example") == "route 2");
  CHECK(decided(policy, "a.us.corp.example") == "route 2");
  CHECK(decided(policy, "xcorp.example") == "default");
}

TEST_CASE("policy: a route covers special names") {
  const Policy policy(settings());
  CHECK(decided(policy, "1.2.3.10.in-addr.arpa", 12) == "route 1");
  CHECK(decided(policy, "a.home.arpa") == "route 3");
  CHECK(decided(policy, "1.168.192.in-addr.arpa", 12) == "local 3/0");
  const Policy all_reverse({.records = {}, .routes = {{.match = {"in-addr.arpa"}, .target = 1}}, .special_names = {}});
  CHECK(decided(all_reverse, "1.2.3.10.in-addr.arpa", 12) == "route 1");
}

TEST_CASE("policy: a route for the root is only another default") {
  const Policy policy({.records = {}, .routes = {{.match = {"."}, .target = 1}}, .special_names = {}});
  CHECK(decided(policy, "www.example.org") == "route 1");
  CHECK(decided(policy, ".", 2) == "route 1");
  CHECK(decided(policy, "localhost") == "local 0/1");
  CHECK(decided(policy, "_dns.resolver.arpa", 64) == "local 0/0");
}

TEST_CASE("policy: excepted names are asked for, with what is below them, also zones of which they are parents") {
  const Policy policy({.records = {}, .routes = {}, .special_names = {.enabled = true, .except = {"test", "lab.local", "in-addr.arpa"}}});
  CHECK(decided(policy, "a.TEST") == "default");
  CHECK(decided(policy, "lab.local") == "default");
  CHECK(decided(policy, "x.lab.local") == "default");
  CHECK(decided(policy, "other.local") == "local 3/0");
  CHECK(decided(policy, "1.0.0.127.in-addr.arpa", 12) == "default");
  CHECK(decided(policy, "d.f.ip6.arpa", 12) == "local 3/0");
}

TEST_CASE("policy: special names can be switched off as a whole") {
  const Policy policy({.records = {}, .routes = {}, .special_names = {.enabled = false, .except = {}}});
  CHECK(decided(policy, "localhost") == "default");
  CHECK(decided(policy, "a.test") == "default");
}

TEST_CASE("policy: a special zone's DS goes to the parent") {
  const Policy policy({});
  CHECK(decided(policy, "home.arpa", 43) == "default");
  CHECK(decided(policy, "a.home.arpa", 43) == "local 3/0");
}

TEST_CASE("policy: negative answers keep, and belong to the zone") {
  const Policy policy(settings());
  const auto reply = [&](const char* name, std::uint16_t type) {
    return std::get<Bytes>(policy.decide(*dns::parse_query(query(name, type).build()), 1232));
  };
  CHECK(dns::negative_ttl(reply("a.test", 1)) == std::chrono::seconds(10800));
  CHECK(dns::negative_ttl(reply("router.lan", 16)) == std::chrono::seconds(300));
}

TEST_CASE("policy: names that are none are left out") {
  const Policy policy({.records = {{"a..b", {ip("192.0.2.1")}}}, .routes = {{.match = {"x..y"}, .target = 4}}, .special_names = {}});
  CHECK(decided(policy, "a.b") == "default");
}
