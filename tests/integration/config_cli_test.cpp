// The command line of the real binary: words, exit codes and what is printed (contract.md §2 and §4).
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

using Words = std::vector<std::string>;

Outcome dohmux_with(const Words& words, const std::map<std::string, std::string>& environment = {}) {
  return run({daemon_program(), words, environment});
}

const std::string kGood = "proxies: [{name: p1, url: \"http://127.0.0.1:1\"}]\nupstreams: [https://dns.example/dns-query]\n";

/// A program to run another under: with namespaces of its own, after `commands`. Nothing if that cannot be had here.
std::optional<Words> apart(const std::string& space, const std::string& commands) {
  require_tool("unshare");
  Words words = {space};
  if (::geteuid() != 0) {
    words.emplace_back("--map-root-user");
  }
  words.insert(words.end(), {"sh", "-c", commands + R"( && exec "$0" "$@")"});
  Words trial = words;
  trial.emplace_back("true");
  if (run({"unshare", trial, {}}).status != 0) {
    return std::nullopt;
  }
  words.insert(words.begin(), "unshare");
  return words;
}

}  // namespace

TEST_CASE("check: a good file is exit 0 and one line; the shipped example is good") {
  const Scratch scratch;
  for (const std::string& file : {scratch.write("good.yaml", kGood), std::string(DOHMUX_SOURCE_DIR) + "/config/dohmux.yaml"}) {
    const Outcome outcome = dohmux_with({"check", "-c", file});
    INFO(outcome.output << outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.starts_with(file + ": good"));
  }
  const Outcome by_variable = dohmux_with({"check"}, {{"DOHMUX_CONFIG", scratch.path("good.yaml")}});
  CHECK(by_variable.status == 0);
}

TEST_CASE("check: every mistake of a bad file is reported at its place, exit 2") {
  const Scratch scratch;
  const std::string file = scratch.write("bad.yaml",
                                         "listen: [\"127.0.0.1:notaport\"]\n"
                                         "proxies:\n"
                                         "  - {name: a, url: \"ftp://10.0.0.11:3128\"}\n"
                                         "upstream: []\n"
                                         "upstreams:\n"
                                         "  - {name: x, url: \"https://dns.example/dns-query\", via: [b]}\n"
                                         "timeouts: {query: soon}\n"
                                         "cash: {size: 1MiB}\n");
  const Outcome outcome = dohmux_with({"check", "-c", file});
  INFO(outcome.errors);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  const auto lines = lines_of(outcome.errors);
  for (const int line : {1, 3, 4, 6, 7, 8}) {
    CHECK_FALSE(lines_with(outcome.errors, fmt::format("{}:{}:", file, line)).empty());
  }
  const std::regex form(R"(^.*\.yaml:\d+:\d+: [\w.\[\]"-]+: .+$)");
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(std::regex_match(line, form));
  }
  CHECK(outcome.errors.find("did you mean \"upstreams\"?") != std::string::npos);
  const Outcome run_of_it = dohmux_with({"run", "-c", file});
  CHECK(run_of_it.status == 2);
  CHECK(run_of_it.errors == outcome.errors);
}

TEST_CASE("check: a YAML syntax error stands alone, with its place") {
  const Scratch scratch;
  const std::string file = scratch.write("bad.yaml", "listen: [\"127.0.0.1:53\"\nupstreams: {\n");
  const Outcome outcome = dohmux_with({"check", "-c", file});
  INFO(outcome.errors);
  CHECK(outcome.status == 2);
  CHECK(lines_of(outcome.errors).size() == 1);
  CHECK(std::regex_search(outcome.errors, std::regex(R"(bad\.yaml:\d+:\d+: )")));
}

TEST_CASE("a missing file is exit 2, with an example that is itself a good file") {
  const Scratch scratch;
  const std::string missing = scratch.path("none.yaml");
  for (const char* word : {"run", "check"}) {
    const Outcome outcome = dohmux_with({word, "-c", missing});
    INFO(outcome.errors);
    CHECK(outcome.status == 2);
    CHECK(outcome.errors.find(missing) != std::string::npos);
    std::string example;
    for (const std::string& line : lines_of(outcome.errors)) {
      example += line.starts_with("  ") ? line.substr(2) + "\n" : "";
    }
    INFO(example);
    CHECK(occurrences(example, "\n") >= 3);
    const Outcome of_example = dohmux_with({"check", "-c", scratch.write("example.yaml", example)});
    INFO(of_example.errors);
    CHECK(of_example.status == 0);
  }
}

TEST_CASE("run without a file answers, through a proxy or directly") {
  House house({.resolvers = 1, .proxies = 1});
  Words words = {"--upstream", fmt::format("https://r1.lab.example:{}/dns-query", house.lab.port("r1")), "--listen", "127.0.0.1:0"};
  std::string way;
  SECTION("through a proxy") {
    words.insert(words.end(), {"--proxy", fmt::format("http://127.0.0.1:{}", house.lab.port("p1"))});
    way = "via_p1";
  }
  SECTION("directly") {
    words.insert(words.end(), {"--address", "127.0.0.1"});
    way = "direct";
  }
  // Without a file only the system's certificates count, so the lab's authority has to be one of them for this daemon.
  const auto wrapper = apart("--mount", fmt::format("mount --bind '{}' /etc/ssl/certs/ca-certificates.crt", house.lab.ca_file()));
  if (!wrapper) {
    SKIP("no mount namespace of our own can be had here");
  }
  CHECK(house.daemon.stop() == 0);
  house.lab.command("stats reset");
  Daemon daemon({.arguments = words, .wrapper = *wrapper});
  REQUIRE(daemon.ready());
  const BatchResult result = run_batch({.port = daemon.udp_port(), .queries = 20, .in_flight = 5});
  INFO(daemon.printed());
  CHECK(result.with_answer() == 20);
  CHECK(house.lab.count("r1", way) == 1);
  CHECK(house.lab.count("r1", "accepts") == 1);
  CHECK(daemon.stop() == 0);
}

TEST_CASE("dohmux --version names the libraries") {
  for (const char* word : {"--version", "-V"}) {
    const Outcome outcome = dohmux_with({word});
    INFO(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(std::regex_search(outcome.output, std::regex(R"(^dohmux \d+\.\d+\.\d+\n)")));
    for (const char* library : {"libcurl", "nghttp2", "OpenSSL", "libuv"}) {
      INFO(library);
      CHECK(std::regex_search(outcome.output, std::regex(std::string(library) + R"( \d+\.\d+)")));
    }
  }
}

TEST_CASE("--help is exit 0; unknown words are exit 2 and point to it") {
  CHECK(dohmux_with({"--help"}).status == 0);
  CHECK(dohmux_with({"--help"}).output.find("check") != std::string::npos);
  for (const Words& words : {Words{"fly"}, Words{"run", "--wings"}, Words{"check", "extra"}, Words{"run", "-c"},
                             Words{"check", "--upstream", "https://dns.example/dns-query"}, Words{"run", "--proxy", "http://127.0.0.1:1"},
                             Words{"run", "-c", "x.yaml", "--listen", "127.0.0.1:0"}}) {
    const Outcome outcome = dohmux_with(words);
    INFO(words.front() << ' ' << words.back() << '\n' << outcome.errors);
    CHECK(outcome.status == 2);
    CHECK_FALSE(outcome.errors.empty());
    CHECK(outcome.output.empty());
  }
}

TEST_CASE("a port that is in use: exit 1, naming the address and who has it") {
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  const std::string address = fmt::format("127.0.0.1:{}", house.daemon.udp_port());
  const Outcome second =
      dohmux_with({"run", "--upstream", "https://dns.example/dns-query", "--proxy", "http://127.0.0.1:1", "--listen", address});
  INFO(second.errors);
  CHECK(second.status == 1);
  CHECK(second.errors.find("cannot listen on " + address) != std::string::npos);
  CHECK(second.errors.find(std::to_string(house.daemon.process().pid())) != std::string::npos);
}

TEST_CASE("a listener off loopback without access is a mistake of configuration") {
  const Scratch scratch;
  for (const char* listen : {"0.0.0.0:0", "[::]:0", ":0"}) {
    const std::string file = scratch.write("open.yaml", fmt::format("listen: [\"{}\"]\n{}", listen, kGood));
    const Outcome outcome = dohmux_with({"run", "-c", file});
    INFO(outcome.errors);
    CHECK(outcome.status == 2);
    CHECK(outcome.errors.find(file + ":1:") != std::string::npos);
    CHECK(outcome.errors.find("access") != std::string::npos);
    CHECK(dohmux_with({"run", "--upstream", "https://dns.example/dns-query", "--proxy", "http://127.0.0.1:1", "--listen", listen}).status ==
          2);
  }
}

TEST_CASE("transport: native is refused with a reason, not taken for curl") {
  const Scratch scratch;
  const Outcome outcome = dohmux_with({"check", "-c", scratch.write("native.yaml", kGood + "transport: native\n")});
  INFO(outcome.errors);
  CHECK(outcome.status == 2);
  CHECK(outcome.errors.find("native") != std::string::npos);
  CHECK(outcome.errors.find("curl") != std::string::npos);
}

TEST_CASE("a name that would have to be looked up is exit 2, with the key that gives its address") {
  const Scratch scratch;
  const std::string file = scratch.write(
      "names.yaml", "proxies: [{name: p1, url: \"http://proxy.corp.example:3128\"}]\nupstreams: [https://dns.example/dns-query]\n");
  const Outcome outcome = dohmux_with({"run", "-c", file});
  INFO(outcome.errors);
  CHECK(outcome.status == 2);
  CHECK(outcome.errors.find("bootstrap") != std::string::npos);
}

TEST_CASE("the default listeners: a family that the host lacks is skipped with one warning") {
  const auto wrapper = apart("--net", "ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6");
  if (!wrapper) {
    SKIP("no network namespace of our own can be had here");
  }
  Daemon daemon({.config = kGood, .wrapper = *wrapper});
  INFO(daemon.printed());
  REQUIRE(daemon.ready());
  CHECK(daemon.udp_port() == 5053);
  const auto warnings = lines_with(daemon.printed(), "[::1]:5053");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings.front().find("warning") != std::string::npos);
  CHECK(daemon.stop() == 0);
}

TEST_CASE("a listener that was asked for must be there: without its family it is exit 1") {
  const auto wrapper = apart("--net", "ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6");
  if (!wrapper) {
    SKIP("no network namespace of our own can be had here");
  }
  Daemon daemon({.config = "listen: [\"127.0.0.1:5053\", \"[::1]:5053\"]\n" + kGood, .wrapper = *wrapper});
  CHECK(daemon.process().wait(10s) == 1);
  INFO(daemon.printed());
  CHECK(lines_with(daemon.printed(), "cannot listen on [::1]:5053").size() == 1);
}
