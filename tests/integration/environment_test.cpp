// Only the configuration decides the way: no environment variable, no file of the system's resolver (contract.md §3).
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <thread>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

using Variables = std::map<std::string, std::string>;

Variables hostile(std::uint16_t decoy, const std::string& key_log) {
  const std::string url = fmt::format("http://127.0.0.1:{}", decoy);
  return {{"NO_PROXY", "*"},
          {"no_proxy", "*"},
          {"HTTPS_PROXY", url},
          {"https_proxy", url},
          {"HTTP_PROXY", url},
          {"http_proxy", url},
          {"ALL_PROXY", url},
          {"all_proxy", url},
          {"SSLKEYLOGFILE", key_log},
          {"SSL_CERT_FILE", "/nonexistent"},
          {"SSL_CERT_DIR", "/nonexistent"},
          {"CURL_CA_BUNDLE", "/nonexistent"}};
}

/// Runs a daemon of `lab` in an environment that would lead others astray.
void check_way(Lab& lab, const LabConfig& wishes, const std::string& expected_way) {
  const Scratch scratch;
  const Variables variables = hostile(lab.port("decoy"), scratch.path("keys.log"));
  Daemon daemon({.config = lab.config(wishes), .environment = variables});
  REQUIRE(daemon.ready());
  CHECK(run_batch({.port = daemon.udp_port(), .queries = 100, .in_flight = 20}).with_answer() == 100);
  for (const char* way : {"direct", "via_p1", "via_p2"}) {
    const long count = lab.total('r', way);
    INFO(way << ' ' << count);
    CHECK((count > 0) == (expected_way.find(way) != std::string::npos));
  }
  CHECK(lab.count("decoy", "accepts") == 0);
  CHECK_FALSE(std::filesystem::exists(scratch.path("keys.log")));
  const auto said = lines_with(daemon.printed(), "environment variables are ignored");
  REQUIRE(said.size() == 1);
  for (const auto& [name, value] : variables) {
    INFO(name);
    CHECK(said.front().find(name) != std::string::npos);
    CHECK(occurrences(daemon.printed(), name) == occurrences(said.front(), name));
  }
  CHECK(daemon.stop() == 0);
}

std::set<int> ports_in(const std::string& calls, const std::string& call) {
  std::set<int> ports;
  const std::regex form(call + R"(\(.*sin6?_port=htons\((\d+)\))");
  for (const std::string& line : lines_with(calls, call + "(")) {
    std::smatch found;
    if (std::regex_search(line, found, form)) {
      ports.insert(std::stoi(found[1]));
    }
  }
  return ports;
}

/// The tracer ends a moment after the daemon.
std::string finished_trace(const std::string& file) {
  for (int i = 0; i < 200 && content_of(file).find("+++ exited") == std::string::npos; ++i) {
    std::this_thread::sleep_for(50ms);
  }
  return content_of(file);
}

}  // namespace

TEST_CASE("with proxies configured, the environment neither sends queries past them nor to another one") {
  Lab lab({.resolvers = 4, .proxies = 2});
  check_way(lab, {}, "via_p1 via_p2");
}

TEST_CASE("without proxies the way is direct, whatever the environment names") {
  Lab lab({.resolvers = 2, .proxies = 0});
  check_way(lab, {}, "direct");
}

TEST_CASE("an environment without such variables is not talked about") {
  Variables none = hostile(1, "x");
  for (auto& [name, value] : none) {
    value.clear();
  }
  House house({.resolvers = 1, .proxies = 1}, {}, {.environment = none});
  REQUIRE(house.daemon.ready());
  CHECK(house.daemon.printed().find("environment variables") == std::string::npos);
}

TEST_CASE("nothing is ever looked up by the system's resolver: no port 53, none of its files") {
  require_tool("strace");
  const Scratch scratch;
  const std::string trace = scratch.path("trace");
  // -D: the daemon stays our child, strace becomes its grandchild; LeakSanitizer cannot run under a tracer.
  House house({.resolvers = 4, .proxies = 2}, {},
              {.environment = {{"ASAN_OPTIONS", "detect_leaks=0"}},
               .wrapper = {"strace", "-D", "-f", "-s", "200", "-e", "trace=network,open,openat,openat2,execve", "-o", trace}});
  if (!house.daemon.ready() && house.daemon.printed().find("ptrace") != std::string::npos) {
    SKIP("this system forbids tracing");
  }
  REQUIRE(house.daemon.ready());
  CHECK(house.ask_many(100, 20).with_answer() == 100);
  CHECK(house.ask_many(20, 5, Protocol::Tcp).with_answer() == 20);
  house.lab.command("proxy p1 kill");  // a move looks nothing up, either
  CHECK(house.ask_many(50, 10).with_answer() == 50);
  CHECK(house.daemon.stop() == 0);

  const std::string calls = finished_trace(trace);
  INFO(calls.substr(0, 4000));
  REQUIRE(calls.find("execve(") != std::string::npos);
  const std::set<int> connected = ports_in(calls, "connect");
  CHECK(connected == std::set<int>{house.lab.port("p1"), house.lab.port("p2")});
  CHECK_FALSE(ports_in(calls, "sendto").contains(53));
  CHECK_FALSE(ports_in(calls, "sendmsg").contains(53));
  CHECK(lines_with(calls, "htons(53)").empty());
  CHECK(lines_with(calls, "AF_UNIX, sun_path").empty());
  for (const char* file : {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "libnss_"}) {
    INFO(file);
    CHECK(lines_with(calls, file).empty());
  }
}
