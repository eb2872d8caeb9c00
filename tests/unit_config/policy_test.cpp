// The keys about names and clients: routes, records, special_names, rebinding, privacy, limits.
#include <catch2/catch_test_macros.hpp>

#include "load.h"

using namespace dohmux;  // NOLINT(google-build-using-namespace)
using dohmux::test::bad;
using dohmux::test::good;
using dohmux::test::with;

namespace {

using Strings = std::vector<std::string>;

struct Row {
  std::string line;   // the first line of a file that is good otherwise
  std::string error;  // the only error
};

void check_rows(const std::vector<Row>& table) {
  for (const Row& row : table) {
    CAPTURE(row.line);
    CHECK(bad(with(row.line)) == Strings{row.error});
  }
}

Endpoint endpoint(const char* text) {
  return *Endpoint::parse(text);
}

constexpr const char* kLabels = "give labels of letters, digits, - and _ with dots between, each label at most 63 characters";

}  // namespace

TEST_CASE("good: routes") {
  const Config config = good(R"(
upstreams: [https://192.0.2.1/d, {name: b, url: https://192.0.2.2/d}]
groups: [{name: default, upstreams: 192.0.2.1}, {name: other, upstreams: b}]
routes:
  - {match: [Corp.Example., 10.in-addr.arpa, 0/25.2.0.192.in-addr.arpa], forward: [10.0.0.2, "10.0.0.3:5353", "fd00::2", "[fd00::3]:54"]}
  - {match: _tcp.example.net, group: other}
  - {match: ., group: default}
)")
                            .config;
  REQUIRE(config.routes.size() == 3);
  CHECK(config.routes[0] ==
        RouteConfig{{"corp.example", "10.in-addr.arpa", "0/25.2.0.192.in-addr.arpa"},
                    {endpoint("10.0.0.2:53"), endpoint("10.0.0.3:5353"), endpoint("[fd00::2]:53"), endpoint("[fd00::3]:54")},
                    {}});
  CHECK(config.routes[1] == RouteConfig{{"_tcp.example.net"}, {}, "other"});
  CHECK(config.routes[2].match == Strings{"."});
  CHECK(good(with("routes: []")).config.routes.empty());
}

TEST_CASE("good: without groups a route may name the one that there is") {
  CHECK(good(with("routes: [{match: a, group: default}]")).config.routes[0].group == "default");
}

TEST_CASE("good: records") {
  const Config config = good(with("records: {Router.LAN: [192.168.1.1, \"fd00::1\"], nas: 192.168.1.2}")).config;
  REQUIRE(config.records.size() == 2);
  CHECK(config.records[0] == RecordConfig{"router.lan", {*IpAddress::parse("192.168.1.1"), *IpAddress::parse("fd00::1")}});
  CHECK(config.records[1].name == "nas");
}

TEST_CASE("good: special_names, rebinding, privacy") {
  const Config defaults = good(with("")).config;
  CHECK(defaults.special_names == SpecialNamesConfig{true, {}});
  CHECK(defaults.rebinding == RebindingConfig{RebindingMode::Auto, {}});
  CHECK(defaults.privacy == PrivacyConfig{true, EcsMode::Strip});
  const Config config = good(with("special_names: {enabled: false, except: [Test, 10.in-addr.arpa]}\n"
                                  "rebinding: {mode: on, except: nip.example}\n"
                                  "privacy: {padding: false, ecs: pass}"))
                            .config;
  CHECK(config.special_names == SpecialNamesConfig{false, {"test", "10.in-addr.arpa"}});
  CHECK(config.rebinding == RebindingConfig{RebindingMode::On, {"nip.example"}});
  CHECK(config.privacy == PrivacyConfig{false, EcsMode::Pass});
  CHECK(good(with("rebinding: {mode: off}")).config.rebinding.mode == RebindingMode::Off);
  CHECK(good(with("rebinding: {mode: auto, except: []}")).config.rebinding == RebindingConfig{});
}

TEST_CASE("good: limits") {
  const LimitsConfig limits = good(with("limits: {queries: 1, queries_per_client: 2, queries_per_second_per_client: 3, tcp_clients: 4, "
                                        "tcp_clients_per_address: 5}"))
                                  .config.limits;
  CHECK(limits == LimitsConfig{1, 2, 3, 4, 5});
  CHECK(good(with("limits: {queries_per_second_per_client: 0}")).config.limits == LimitsConfig{});
}

TEST_CASE("good: sections with nothing but comments below them have their defaults") {
  const Config config = good(with("privacy:\nrecords:\nspecial_names:\nrebinding:")).config;
  CHECK(config.records.empty());
  CHECK(config.privacy == PrivacyConfig{});
}

TEST_CASE("bad: routes") {
  const std::string example = "a map, such as {match: [corp.example], forward: [10.0.0.2]} or {match: [example.net], group: b}";
  const std::string address =
      "is not a numeric address; give one such as 10.0.0.2, 10.0.0.2:5353 or \"[fd00::2]:5353\" (the port is 53 if left out)";
  check_rows({
      {"routes: x", "f:1:9: routes: is a single value; give a list, such as [{match: [corp.example], forward: [10.0.0.2]}]"},
      {"routes: [x]", "f:1:10: routes[0]: is a single value; give " + example},
      {"routes: [{forward: 10.0.0.2}]", "f:1:10: routes[0].match: is missing; give the names that it is for, such as [corp.example]"},
      {"routes: [{match: [], forward: 10.0.0.2}]", "f:1:18: routes[0].match: is empty; give at least one name, such as corp.example"},
      {"routes: [{match: a}]", "f:1:10: routes[0]: leads nowhere; give forward: [ADDRESS, …] (plain DNS) or group: NAME"},
      {"routes: [{match: a, forward: 10.0.0.2, group: default}]", "f:1:10: routes[0]: has both forward and group; keep one of the two"},
      {"routes: [{match: a, forward: []}]", "f:1:30: routes[0].forward: is empty; give at least one address of a plain DNS server"},
      {"routes: [{match: a, forward: dns.corp}]", "f:1:30: routes[0].forward: \"dns.corp\" " + address},
      {"routes: [{match: a, forward: \"10.0.0.2:0\"}]", "f:1:30: routes[0].forward: \"10.0.0.2:0\" " + address},
      {"routes: [{match: a, forward: [10.0.0.2, \"10.0.0.2:53\"]}]",
       "f:1:41: routes[0].forward[1]: \"10.0.0.2:53\" is given twice; keep one"},
      {"routes: [{match: a, forward: 0.0.0.0}]", "f:1:30: routes[0].forward: \"0.0.0.0\" is no address of a server; give the server's own"},
      {"routes: [{match: a, group: defualt}]",
       "f:1:28: routes[0].group: \"defualt\" is no group of this file; use the name of one (did you mean \"default\"?)"},
      {"routes: [{match: [a, A.], group: default}]",
       "f:1:22: routes[0].match[1]: \"A.\" has a route already (line 1); keep one of the two"},
      {"routes: [{match: a, group: default}, {match: [b, a], forward: 10.0.0.2}]",
       "f:1:50: routes[1].match[1]: \"a\" has a route already (line 1); keep one of the two"},
      {"routes: [{mach: a, match: a, group: default}]",
       "f:1:11: routes[0].mach: unknown key; correct or remove it (did you mean \"match\"?)"},
  });
}

TEST_CASE("bad: domain names") {
  const auto line = [](const std::string& name) { return "routes: [{match: \"" + name + "\", group: default}]"; };
  const std::string at = "f:1:18: routes[0].match: ";
  check_rows({
      {line("a b"), at + "\"a b\" is not a domain name; " + kLabels},
      {line("a..b"), at + "\"a..b\" is not a domain name; " + kLabels},
      {line(".."), at + "\"..\" begins with \".\"; a name covers all names below it, so leave that out"},
      {line("*.corp.example"), at + "\"*.corp.example\" begins with \"*.\"; a name covers all names below it, so leave that out"},
      {line(".corp.example"), at + "\".corp.example\" begins with \".\"; a name covers all names below it, so leave that out"},
      {line("bücher.example"), at + "\"bücher.example\" is not ASCII; give the form that is on the wire (xn--…)"},
      {line("10.0.0.0/8"),
       at + "\"10.0.0.0/8\" is an address; give a name, such as corp.example, or a reverse zone, such as 10.in-addr.arpa"},
      {line("10.0.0.1"), at + "\"10.0.0.1\" is an address; give a name, such as corp.example, or a reverse zone, such as 10.in-addr.arpa"},
      {line(std::string(64, 'a')), at + "\"" + std::string(60, 'a') + "…\" is not a domain name; " + kLabels},
      {line(std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(62, 'd')),
       at + "\"" + std::string(60, 'a') + "…\" is too long; a name has at most 253 characters"},
  });
  CHECK(good(with(line(std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(61, 'd'))))
            .config.routes.size() == 1);
}

TEST_CASE("bad: a route to ourselves would loop") {
  const std::string loop = " is where this daemon listens: each query would come back for ever; give another server, or its other port";
  check_rows({
      {"routes: [{match: a, forward: \"127.0.0.1:5053\"}]", "f:1:30: routes[0].forward: \"127.0.0.1:5053\"" + loop},
      {"routes: [{match: a, forward: [10.0.0.2, \"[::1]:5053\"]}]", "f:1:41: routes[0].forward[1]: \"[::1]:5053\"" + loop},
      {"routes: [{match: a, forward: 127.0.0.9}]\naccess: {allow: private}\nlisten: \":53\"",
       "f:1:30: routes[0].forward: \"127.0.0.9\"" + loop},
  });
  CHECK(good(with("routes: [{match: a, forward: \"127.0.0.1:53\"}]")).config.routes.size() == 1);
  CHECK(good(with("routes: [{match: a, forward: \"127.0.0.1:5054\"}]\nlisten: 127.0.0.1:0")).config.routes.size() == 1);
}

TEST_CASE("bad: records") {
  check_rows({
      {"records: [a]", "f:1:10: records: is a list; give a map, such as {key: value}"},
      {"records: {a b: 10.0.0.1}", std::string("f:1:11: records.\"a b\": this key is not a domain name; ") + kLabels},
      {"records: {10.0.0.1: 10.0.0.1}",
       "f:1:11: records.\"10.0.0.1\": this key is an address; give a name, such as corp.example, or a reverse zone, such as "
       "10.in-addr.arpa"},
      {"records: {\".\": 10.0.0.1}", "f:1:11: records.\".\": this key is the root; give a name"},
      {"records: {a: 10.0.0.1, A.: 10.0.0.2}",
       "f:1:28: records.\"A.\": this name was given above already (case does not matter); keep one of the two"},
      {"records: {a: 10.0.0.1, a: 10.0.0.2}", "f:1:24: records.a: this key was given above already; keep one of the two"},
      {"records: {a: []}", "f:1:14: records.a: is empty; give at least one address, or remove the key"},
      {"records: {a: b.example}",
       "f:1:14: records.a: \"b.example\" is not a numeric address; give one such as 192.0.2.1 or 2001:db8::1, without port and brackets"},
  });
}

TEST_CASE("bad: special_names, rebinding, privacy") {
  check_rows({
      {"special_names: {enabled: yes}", "f:1:26: special_names.enabled: \"yes\" is not known here; use one of true, false"},
      {"special_names: {except: [a..b]}", std::string("f:1:26: special_names.except[0]: \"a..b\" is not a domain name; ") + kLabels},
      {"special_names: {except: [test, TEST]}", "f:1:32: special_names.except[1]: \"TEST\" is named twice; keep one"},
      {"special_names: {excpet: test}", "f:1:17: special_names.excpet: unknown key; correct or remove it (did you mean \"except\"?)"},
      {"rebinding: {mode: yes}", "f:1:19: rebinding.mode: \"yes\" is not known here; use one of auto, on, off"},
      {"rebinding: {except: [\"*.a\"]}",
       "f:1:22: rebinding.except[0]: \"*.a\" begins with \"*.\"; a name covers all names below it, so leave that out"},
      {"rebinding: on", "f:1:12: rebinding: is a single value; give a map, such as {key: value}"},
      {"privacy: {padding: 128}", "f:1:20: privacy.padding: \"128\" is not known here; use one of true, false"},
      {"privacy: {ecs: send}", "f:1:16: privacy.ecs: \"send\" is not known here; use one of strip, pass"},
      {"privacy: {edns: x}", "f:1:11: privacy.edns: unknown key; remove it, or use one of padding, ecs"},
  });
}

TEST_CASE("bad: limits") {
  check_rows({
      {"limits: {queries_per_client: 0}",
       "f:1:30: limits.queries_per_client: \"0\" is out of range; give a whole number from 1 to 1000000"},
      {"limits: {queries_per_second_per_client: -1}",
       "f:1:41: limits.queries_per_second_per_client: \"-1\" is not a whole number; give a whole number from 0 to 1000000"},
      {"limits: {tcp_clients: 70000}", "f:1:23: limits.tcp_clients: \"70000\" is out of range; give a whole number from 1 to 65535"},
      {"limits: {tcp_clients_per_address: x}",
       "f:1:35: limits.tcp_clients_per_address: \"x\" is not a whole number; give a whole number from 1 to 65535"},
  });
}

TEST_CASE("names and servers from the environment are used, but never printed") {
  const test::Variable variable("DOHMUX_TEST_WORD", "se cret");
  for (const char* line :
       {"routes: [{match: \"${DOHMUX_TEST_WORD}\", group: default}]", "routes: [{match: a, forward: \"${DOHMUX_TEST_WORD}\"}]",
        "routes: [{match: a, group: \"${DOHMUX_TEST_WORD}\"}]", "rebinding: {except: \"${DOHMUX_TEST_WORD}\"}"}) {
    const auto errors = bad(with(line));
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].find("cret") == std::string::npos);
    CHECK(errors[0].find("${DOHMUX_TEST_WORD}") != std::string::npos);
  }
}

TEST_CASE("advice: a group that only a route names is in use") {
  const auto loaded = good(R"(
upstreams: [https://192.0.2.1/d, {name: b, url: https://192.0.2.2/d}]
groups: [{name: default, upstreams: 192.0.2.1}, {name: other, upstreams: b}]
routes: [{match: example.net, group: other}]
)");
  CHECK(loaded.warnings.empty());
}
