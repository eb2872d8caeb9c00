// Every key of the file: what its good values become.
#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "load.h"

using namespace dohmux;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;
using test::good;
using test::with;

namespace {
Endpoint endpoint(const char* text) {
  return *Endpoint::parse(text);
}
IpAddress address(const char* text) {
  return *IpAddress::parse(text);
}
using Strings = std::vector<std::string>;
}  // namespace

TEST_CASE("the shortest file has all the defaults") {
  const Config config = good("upstreams: https://192.0.2.1/dns-query").config;
  CHECK(config.listen == std::vector<ListenConfig>{{endpoint("127.0.0.1:5053"), false}, {endpoint("[::1]:5053"), false}});
  CHECK(config.allow == std::vector<Prefix>{*Prefix::parse("127.0.0.0/8"), *Prefix::parse("::1/128")});
  CHECK(config.proxies.empty());
  REQUIRE(config.upstreams.size() == 1);
  const UpstreamConfig& upstream = config.upstreams[0];
  CHECK(upstream.name == "192.0.2.1");
  CHECK(upstream.port == 443);
  CHECK(upstream.path == "/dns-query");
  CHECK(upstream.method == HttpMethod::Post);
  CHECK(upstream.warm);
  CHECK(upstream.origin == OriginSettings{{"direct"}, {address("192.0.2.1")}, {"system"}, 4, 100, 16});
  CHECK(config.groups == std::vector<GroupConfig>{{"default", {"192.0.2.1"}, Strategy::Failover}});
  CHECK(config.timeouts == TimeoutsConfig{4500ms, 2000ms, 10000ms, 1000ms, 10000ms, 3000ms});
  CHECK(config.limits.queries == 16384);
  CHECK(config.log == LogConfig{LogLevel::Info, LogFormat::Text, false});
  CHECK(config.web_listen == std::vector<ListenConfig>{{endpoint("127.0.0.1:9153"), false}});
  CHECK_FALSE(config.instance_id.empty());
}

TEST_CASE("timeouts that were not written yield to one that was") {
  CHECK(good(with("timeouts: {query: 900ms}")).config.timeouts.attempt == 400ms);
  CHECK(good(with("timeouts: {query: 3s}")).config.timeouts.attempt == 2000ms);
  CHECK(good(with("timeouts: {dial: 800ms}")).config.timeouts.exit_race == 400ms);
}

TEST_CASE("listen") {
  const auto listen = [](const std::string& value) { return good(with("access: {allow: private}\nlisten: " + value)).config.listen; };
  CHECK(listen("127.0.0.1:53") == std::vector<ListenConfig>{{endpoint("127.0.0.1:53"), true}});
  CHECK(listen("[\"[::1]:0\", 192.0.2.1:0]") == std::vector<ListenConfig>{{endpoint("[::1]:0"), true}, {endpoint("192.0.2.1:0"), true}});
  const std::vector<ListenConfig> both{{endpoint("0.0.0.0:53"), true}, {endpoint("[::]:53"), false}};
  CHECK(listen("\":53\"") == both);
  CHECK(listen("53") == both);
  CHECK(listen("[127.0.0.1:0, 127.0.0.1:0]").size() == 2);
}

TEST_CASE("access.allow") {
  const auto allow = [](const std::string& value) { return good(with("access: {allow: " + value + "}")).config.allow; };
  CHECK(allow("loopback").size() == 2);
  CHECK(allow("private").size() == 6);
  CHECK(allow("[10.1.0.0/16, 2001:db8::1]") == std::vector<Prefix>{*Prefix::parse("10.1.0.0/16"), *Prefix::parse("2001:db8::1/128")});
  CHECK(good(with("access:")).config.allow.size() == 2);
}

TEST_CASE("proxies, their names in bootstrap.hosts and their credentials") {
  const test::Variable password("DOHMUX_TEST_PASSWORD", "s3cret");
  const Config config = good(R"(
proxy_defaults: {auth: {scheme: basic, username: 'CORP\svc', password_env: DOHMUX_TEST_PASSWORD}}
proxies:
  - {name: a, url: "http://10.0.0.1:3128"}
  - {name: b, url: "http://Proxy.corp:8080/", auth: {username: u, password: p}}
  - {name: c, url: "http://[2001:db8::1]:1", auth: {scheme: none}}
bootstrap: {hosts: {PROXY.corp: [10.0.0.2, "2001:db8::2"]}}
upstreams: https://dns.example/dns-query
)")
                            .config;
  REQUIRE(config.proxies.size() == 3);
  CHECK(config.proxies[0] == ProxyConfig{"a", "10.0.0.1", 3128, {address("10.0.0.1")}, {AuthScheme::Basic, "CORP\\svc", "s3cret"}});
  CHECK(config.proxies[1].addresses == std::vector<IpAddress>{address("10.0.0.2"), address("2001:db8::2")});
  CHECK(config.proxies[1].auth == ProxyAuth{AuthScheme::Basic, "u", "p"});
  CHECK(config.proxies[2].auth == ProxyAuth{});
  CHECK(config.upstreams[0].origin.exits == Strings{"a", "b", "c"});
  CHECK(config.upstreams[0].origin.addresses.empty());
}

TEST_CASE("upstreams and upstream_defaults") {
  const Config config = good(R"(
proxies: [{name: a, url: "http://10.0.0.1:3128"}, {name: b, url: "http://10.0.0.2:3128"}]
bootstrap: {hosts: {two.example: 192.0.2.2}}
upstream_defaults: {via: b, method: get, warm: false, max_connections: 2, max_streams: 50, max_http1_connections: 8}
upstreams:
  - {name: one, url: "https://one.example:8443/q{?dns}", addresses: [192.0.2.1, "2001:db8::1"], via: [a, direct], method: post}
  - {url: https://Two.example/dns-query, via: direct, warm: true, max_connections: 1, max_streams: 1, max_http1_connections: 1}
  - https://three.example/
)")
                            .config;
  REQUIRE(config.upstreams.size() == 3);
  const UpstreamConfig& one = config.upstreams[0];
  CHECK((one.name == "one" && one.host == "one.example" && one.port == 8443 && one.path == "/q"));
  CHECK((one.method == HttpMethod::Post && !one.warm));
  CHECK(one.origin == OriginSettings{{"a", "direct"}, {address("192.0.2.1"), address("2001:db8::1")}, {"system"}, 2, 50, 8});
  const UpstreamConfig& two = config.upstreams[1];
  CHECK((two.name == "two.example" && two.warm && two.method == HttpMethod::Get));
  CHECK(two.origin == OriginSettings{{"direct"}, {address("192.0.2.2")}, {"system"}, 1, 1, 1});
  CHECK(config.upstreams[2].origin == OriginSettings{{"b"}, {}, {"system"}, 2, 50, 8});
}

TEST_CASE("tls.ca takes system and PEM files, relative to the configuration's folder") {
  const test::Folder folder;
  (void)folder.write("root.pem", "-----BEGIN CERTIFICATE-----\n");
  const auto loaded = load_config(folder.write("d.yaml", "upstreams: [{url: https://192.0.2.1/d, tls: {ca: [system, root.pem]}}]"));
  REQUIRE(loaded.has_value());
  CHECK(loaded->config.upstreams[0].origin.ca == Strings{"system", folder.path() + "/root.pem"});
}

TEST_CASE("groups") {
  const Config config = good(R"(
upstreams: [{name: a, url: https://192.0.2.1/d}, {name: b, url: https://192.0.2.2/d}]
groups: [{name: default, upstreams: [b, a], strategy: round_robin}, {name: other, upstreams: a}]
)")
                            .config;
  CHECK(config.groups == std::vector<GroupConfig>{{"default", {"b", "a"}, Strategy::RoundRobin}, {"other", {"a"}, Strategy::Failover}});
}

TEST_CASE("timeouts, limits, log, web, transport") {
  const Config config = good(with("timeouts: {query: 8s, attempt: 1s500ms, dial: 1m, exit_race: 250ms, tcp_idle: 2m, drain: 0s}\n"
                                  "limits: {queries: 10}\nlog: {level: warn, format: json, queries: true}\n"
                                  "web: {listen: [127.0.0.1:9153, \"[::1]:0\"]}\ntransport: curl"))
                            .config;
  CHECK(config.timeouts == TimeoutsConfig{8000ms, 1500ms, 60000ms, 250ms, 120000ms, 0ms});
  CHECK(config.limits.queries == 10);
  CHECK(config.log == LogConfig{LogLevel::Warning, LogFormat::Json, true});
  CHECK(config.web_listen == std::vector<ListenConfig>{{endpoint("127.0.0.1:9153"), true}, {endpoint("[::1]:0"), true}});
  CHECK(config.transport == TransportKind::Curl);
  for (const auto& [word, level] :
       {std::pair{"error", LogLevel::Error}, std::pair{"warning", LogLevel::Warning}, std::pair{"info", LogLevel::Info},
        std::pair{"debug", LogLevel::Debug}, std::pair{"trace", LogLevel::Trace}}) {
    CHECK(good(with(std::string("log: {level: ") + word + "}")).config.log.level == level);
  }
}

TEST_CASE("sections with nothing but comments below them have their defaults") {
  const Config config = good(with("timeouts:\nlimits:\nlog:\nweb:\nupstream_defaults:\nbootstrap:\nproxy_defaults:")).config;
  CHECK(config.timeouts == TimeoutsConfig{});
}

TEST_CASE("upstreams of one origin may share it when their settings are equal, in any order") {
  const Config config = good(R"(
proxies: [{name: a, url: "http://10.0.0.1:1"}, {name: b, url: "http://10.0.0.2:1"}]
upstreams:
  - {name: x, url: https://h.example/one, via: [a, b]}
  - {name: y, url: "https://H.example:443/two", via: [b, a], method: get}
)")
                            .config;
  CHECK(config.upstreams[0].origin == config.upstreams[1].origin);
}

TEST_CASE("the example file is complete and has the defaults") {
  const auto loaded = load_config(DOHMUX_EXAMPLE_FILE);
  if (!loaded) {
    FAIL(loaded.error().front().to_string());
  }
  const Config& example = loaded->config;
  Config defaults = good("upstreams: https://192.0.2.1/dns-query").config;
  CHECK(example.allow == defaults.allow);
  CHECK(example.timeouts == defaults.timeouts);
  CHECK(example.limits == defaults.limits);
  CHECK(example.routes == defaults.routes);
  CHECK(example.records == defaults.records);
  CHECK(example.privacy == defaults.privacy);
  CHECK(example.special_names == defaults.special_names);
  CHECK(example.rebinding == defaults.rebinding);
  CHECK(example.log == defaults.log);
  CHECK(example.web_listen.size() == 1);
  CHECK(example.web_listen[0].endpoint == defaults.web_listen[0].endpoint);
  REQUIRE(example.listen.size() == defaults.listen.size());
  CHECK(example.listen[0].endpoint == defaults.listen[0].endpoint);
  CHECK(example.listen[1].endpoint == defaults.listen[1].endpoint);
  REQUIRE(example.upstreams.size() == 2);
  CHECK(example.upstreams[1].origin == OriginSettings{{"fra1", "fra2"}, {}, {"system"}, 4, 100, 16});
  CHECK(example.upstreams[1].method == HttpMethod::Post);
  CHECK(loaded->warnings.empty());
}
