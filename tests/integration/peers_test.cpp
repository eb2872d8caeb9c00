// Programs that others wrote: dig and kdig ask, dnsperf floods, tinyproxy carries. What they print is what their users see.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

using Words = std::vector<std::string>;

/// dig and kdig take the same words, apart from how they are told not to ask again.
Outcome query_with(const std::string& program, std::uint16_t port, const Words& words) {
  Words all = {"@127.0.0.1", "-p", std::to_string(port), program == "dig" ? "+tries=1" : "+retry=0",
               program == "dig" ? "+time=8" : "+timeout=8"};
  all.insert(all.end(), words.begin(), words.end());
  return run({program, all, {{"HOME", "/nonexistent"}}});
}

bool is_answered(const Outcome& outcome) {
  return outcome.status == 0 && outcome.output.find("status: NOERROR") != std::string::npos &&
         outcome.output.find("ANSWER: 1") != std::string::npos;
}

/// A tinyproxy with a configuration of its own, which leads to a proxy of the lab: that one knows the names.
class TinyProxy {
 public:
  explicit TinyProxy(House& house) {
    std::string rules = fmt::format("Upstream http 127.0.0.1:{}\n", house.lab.port("p1"));
    for (const auto& [name, row] : house.lab.stats()) {
      rules += name.starts_with('r') ? fmt::format("ConnectPort {}\n", row.at("port")) : "";
    }
    for (int attempt = 0; attempt < 5 && !process_; ++attempt) {
      port_ = free_port();
      const std::string file = scratch_.write("tinyproxy.conf", fmt::format("Port {}\nListen 127.0.0.1\nAllow 127.0.0.1\nTimeout 600\n"
                                                                            "MaxClients 100\nLogLevel Connect\n{}",
                                                                            port_, rules));
      process_.emplace(Process::Command{"tinyproxy", {"-d", "-c", file}, {}});
      await();
    }
  }
  [[nodiscard]] bool ready() const { return process_.has_value(); }
  /// `config`, in which this program has the place of the lab's first proxy.
  [[nodiscard]] std::string instead_of_p1(Lab& lab, const std::string& config) const {
    return replaced(config, fmt::format("http://127.0.0.1:{}\"", lab.port("p1")), fmt::format("http://127.0.0.1:{}\"", port_));
  }
  void end() { process_->signal(SIGKILL); }
  [[nodiscard]] std::string printed() const { return process_ ? process_->output() + process_->errors() : std::string(); }

 private:
  void await() {
    for (int i = 0; i < 500 && process_->running(); ++i) {
      if (TcpClient(port_).connected()) {
        return;
      }
      ::usleep(10000);
    }
    process_.reset();
  }

  Scratch scratch_;
  std::uint16_t port_ = 0;
  std::optional<Process> process_;
};

}  // namespace

TEST_CASE("dig and kdig over UDP and TCP: types that everybody knows, and one that nobody knows") {
  const std::string program = GENERATE("dig", "kdig");
  require_tool(program);
  House house({.resolvers = 2, .proxies = 1});
  REQUIRE(house.daemon.ready());
  for (const char* protocol : {"+notcp", "+tcp"}) {
    for (const char* type : {"A", "AAAA", "TXT", "HTTPS", "TYPE65280"}) {
      const Outcome outcome = query_with(program, house.daemon.udp_port(), {protocol, "www.peer.example", type});
      INFO(program << ' ' << protocol << ' ' << type << '\n' << outcome.output << outcome.errors);
      CHECK(is_answered(outcome));
    }
  }
  CHECK(house.lab.total('r', "requests") == 10);
}

TEST_CASE("dig and kdig with DNSSEC records wanted, and without EDNS at all") {
  const std::string program = GENERATE("dig", "kdig");
  require_tool(program);
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  for (const char* protocol : {"+notcp", "+tcp"}) {
    const Outcome dnssec = query_with(program, house.daemon.udp_port(), {protocol, "+dnssec", "www.peer.example"});
    INFO(dnssec.output);
    CHECK(is_answered(dnssec));
    CHECK(dnssec.output.find(program == "dig" ? "flags: do" : "flags: do;") != std::string::npos);
    const Outcome plain = query_with(program, house.daemon.udp_port(), {protocol, "+noedns", "www.peer.example"});
    INFO(plain.output);
    CHECK(is_answered(plain));
    CHECK(plain.output.find("EDNS") == std::string::npos);
  }
}

TEST_CASE("dig and kdig keep a TCP connection open for several names") {
  const std::string program = GENERATE("dig", "kdig");
  require_tool(program);
  House house({.resolvers = 1, .proxies = 1}, {.extra = "log: {queries: true}\n"});
  REQUIRE(house.daemon.ready());
  const Words names = {"one.peer.example", "two.peer.example", "three.peer.example", "four.peer.example"};
  Words words = {"+tcp", "+keepopen"};
  words.insert(words.end(), names.begin(), names.end());
  const Outcome outcome = query_with(program, house.daemon.udp_port(), words);
  INFO(outcome.output << outcome.errors);
  CHECK(outcome.status == 0);
  CHECK(occurrences(outcome.output, "status: NOERROR") == names.size());
  std::set<std::string> clients;
  for (const std::string& line : lines_with(house.daemon.printed(), R"("event":"query")")) {
    const auto fields = flat_json(line);
    REQUIRE(fields);
    CHECK(fields->at("proto") == "tcp");
    clients.insert(fields->at("client"));
  }
  CHECK(clients.size() == 1);
}

TEST_CASE("dig learns from a truncated answer to come again over TCP") {
  require_tool("dig");
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  const Outcome outcome = query_with("dig", house.daemon.udp_port(), {"size3000.peer.example", "TXT"});
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("Truncated, retrying in TCP mode") != std::string::npos);
  CHECK(outcome.output.find("status: NOERROR") != std::string::npos);
  CHECK(house.lab.count("r1", "requests") == 2);
}

TEST_CASE("dig prints why there is no answer") {
  require_tool("dig");
  House house({.resolvers = 1, .proxies = 1, .commands = {"proxy * refuse"}}, {.upstream_keys = "warm: false"});
  REQUIRE(house.daemon.ready());
  const Outcome outcome = query_with("dig", house.daemon.udp_port(), {"www.peer.example"});
  INFO(outcome.output);
  CHECK(outcome.output.find("status: SERVFAIL") != std::string::npos);
  CHECK(outcome.output.find("EDE: 22 (No Reachable Authority)") != std::string::npos);
}

TEST_CASE("tinyproxy as the CONNECT proxy: it is asked by name, and one connection carries everything") {
  require_tool("tinyproxy");
  House house({.resolvers = 1, .proxies = 1}, {.upstream_keys = "warm: false"});
  TinyProxy tiny(house);
  REQUIRE(tiny.ready());
  Daemon daemon({.config = tiny.instead_of_p1(house.lab, house.lab.config({}))});
  REQUIRE(daemon.ready());
  const BatchResult result = run_batch({.port = daemon.udp_port(), .queries = 300, .in_flight = 50});
  INFO(daemon.printed() << tiny.printed());
  CHECK(result.with_answer() == 300);
  CHECK(house.lab.count("p1", "connects") == 1);
  CHECK(house.lab.count("p1", "unknown") == 0);
  CHECK(house.lab.count("r1", "accepts") == 1);
  CHECK(house.lab.count("r1", "direct") == 0);
  CHECK(tiny.printed().find(fmt::format("CONNECT r1.lab.example:{}", house.lab.port("r1"))) != std::string::npos);
  CHECK(daemon.stop() == 0);
}

TEST_CASE("tinyproxy ends under load: every query is answered through the other proxy") {
  require_tool("tinyproxy");
  House house({.resolvers = 4, .proxies = 2, .rtt = "20ms"}, {.upstream_keys = "warm: false"});
  TinyProxy tiny(house);
  REQUIRE(tiny.ready());
  Daemon daemon({.config = tiny.instead_of_p1(house.lab, house.lab.config({}))});
  REQUIRE(daemon.ready());
  bool ended = false;
  const BatchResult result =
      run_batch({.port = daemon.udp_port(), .queries = 600, .in_flight = 50, .on_finished = [&](std::size_t finished) {
                   if (!ended && finished >= 200) {
                     ended = true;
                     tiny.end();
                   }
                 }});
  INFO(daemon.printed());
  CHECK(result.with_answer() == 600);
  CHECK(house.lab.count("p1", "connects") == 2);  // each proxy was the home of two hosts
  CHECK(house.lab.count("p2", "connects") == 4);
  CHECK(house.lab.total('r', "direct") == 0);
  CHECK(daemon.stop() == 0);
}

TEST_CASE("dnsperf: 1,000 queries, none lost, all NOERROR") {
  require_tool("dnsperf");
  const std::string mode = GENERATE("udp", "tcp");
  House house({.resolvers = 12, .proxies = 3, .rtt = "10ms"});
  REQUIRE(house.wait_for_connections(12));
  const Scratch scratch;
  std::string names;
  for (int i = 0; i < 1000; ++i) {
    names += fmt::format("n{}.perf.example {}\n", i, i % 3 == 0 ? "AAAA" : "A");
  }
  const Outcome outcome = run({"dnsperf",
                               {"-s", "127.0.0.1", "-p", std::to_string(house.daemon.udp_port()), "-m", mode, "-d",
                                scratch.write("names", names), "-n", "1", "-c", "4", "-q", "50", "-t", "8"},
                               {}},
                              60s);
  INFO(outcome.output << outcome.errors);
  CHECK(outcome.status == 0);
  CHECK(lines_with(outcome.output, "Queries completed:").front().find("1000 (100.00%)") != std::string::npos);
  CHECK(lines_with(outcome.output, "Queries lost:").front().find("0 (0.00%)") != std::string::npos);
  CHECK(lines_with(outcome.output, "Response codes:").front().find("NOERROR 1000 (100.00%)") != std::string::npos);
  CHECK(house.lab.total('r', "accepts") == 12);
}
