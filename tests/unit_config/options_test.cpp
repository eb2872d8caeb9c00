// The way without a file: the same rules, words of the command line in the remedies.
#include <catch2/catch_test_macros.hpp>

#include "load.h"

using namespace dohmux;  // NOLINT(google-build-using-namespace)

namespace {

using Strings = std::vector<std::string>;

Strings errors_of(const CommandLineConfig& words) {
  const auto loaded = config_from_options(words);
  REQUIRE_FALSE(loaded.has_value());
  Strings lines;
  for (const ConfigError& error : loaded.error()) {
    lines.push_back(error.to_string());
  }
  return lines;
}

}  // namespace

TEST_CASE("upstreams, addresses, proxies and listeners from words") {
  const auto loaded =
      config_from_options({{"https://dns.example/q", "https://192.0.2.9/q"}, {"192.0.2.1", "192.0.2.2"}, {}, {"127.0.0.1:0"}});
  REQUIRE(loaded.has_value());
  const Config& config = loaded->config;
  CHECK(config.upstreams[0].origin.exits == Strings{"direct"});
  CHECK(config.upstreams[0].origin.addresses == std::vector<IpAddress>{*IpAddress::parse("192.0.2.1")});
  CHECK(config.upstreams[1].name == "192.0.2.9");
  CHECK(config.groups[0].upstreams == Strings{"dns.example", "192.0.2.9"});
  CHECK(config.listen == std::vector<ListenConfig>{{*Endpoint::parse("127.0.0.1:0"), true}});

  const auto proxied = config_from_options({{"https://dns.example/q"}, {}, {"http://10.0.0.1:1", "http://10.0.0.2:2"}, {}});
  REQUIRE(proxied.has_value());
  CHECK(proxied->config.upstreams[0].origin.exits == Strings{"proxy1", "proxy2"});
  CHECK(proxied->config.listen.size() == 2);
  CHECK_FALSE(proxied->config.listen[0].required);
}

TEST_CASE("two paths of one host get two names") {
  const auto loaded = config_from_options({{"https://192.0.2.1/a", "https://192.0.2.1/b"}, {}, {}, {}});
  REQUIRE(loaded.has_value());
  CHECK(loaded->config.upstreams[0].name == "192.0.2.1");
  CHECK(loaded->config.upstreams[1].name == "192.0.2.1-2");
}

TEST_CASE("what is wrong on the command line") {
  CHECK(errors_of({}) == Strings{"--upstream: is missing; give --upstream https://HOST/dns-query"});
  CHECK(errors_of({{"https://dns.example/q"}, {}, {}, {}}) ==
        Strings{"--upstream: \"dns.example\" is reached directly, but would have to be looked up, which this version cannot do; give "
                "--address ADDRESS, or "
                "--proxy http://HOST:PORT"});
  CHECK(errors_of({{"https://a/q", "https://b/q"}, {"192.0.2.1"}, {}, {}}).front() ==
        "--address: 1 for 2 upstreams; give one for each --upstream in the same order, or none");
  CHECK(errors_of({{"https://a/q"}, {"a"}, {}, {}}) ==
        Strings{"--address: \"a\" is not a numeric address; give one such as 192.0.2.1 or 2001:db8::1"});
  CHECK(errors_of({{"https://a/q"}, {}, {"http://p.example:1"}, {}}) ==
        Strings{
            "--proxy: the proxy's host \"p.example\" would have to be looked up, which this version cannot do; give its numeric address"});
  CHECK(errors_of({{"https://a/q"}, {}, {"http://u:hunter2@10.0.0.1:1"}, {}}) ==
        Strings{"--proxy: \"http://…@10.0.0.1:1\": credentials in a proxy's URL are not accepted; move them to auth: {scheme: basic, "
                "username: …, "
                "password_file: …}"});
  CHECK(errors_of({{"https://192.0.2.1/q"}, {}, {}, {":53"}}) ==
        Strings{"--listen: \":53\" is reachable from other machines, but access.allow lets only loopback ask; listen on 127.0.0.1 or "
                "[::1], or use a file "
                "with access: {allow: [loopback, private]}"});
  CHECK(errors_of({{"https://192.0.2.1/q"}, {}, {}, {"x"}}).size() == 1);
}

TEST_CASE("words of the command line are not expanded") {
  CHECK(errors_of({{"${HOME}"}, {}, {}, {}}).front().find("${HOME}") != std::string::npos);
}
