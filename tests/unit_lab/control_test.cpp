// The lab as a program: command line, files, control socket, end.
#include <fcntl.h>
#include <signal.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>

#include "fetch.h"
#include "support/daemon.h"

namespace dohmux::test {

TEST_CASE("commands are answered, wrong ones with a reason") {
  Lab lab({.resolvers = 1, .proxies = 1, .rtt = "0ms", .commands = {}});
  REQUIRE(lab.ready());
  CHECK(lab.command("") == "ok");
  CHECK(lab.command("# nothing") == "ok");
  for (const std::string line :
       {"bogus", "resolver", "resolver r1", "resolver r7 ok", "resolver r1 bogus", "resolver r1 delay", "resolver r1 rst",
        "resolver r1 cert odd", "proxy p1 bogus", "proxy p1 status x", "name x", "name x bogus", "stats x", "at x ok"}) {
    INFO(line);
    CHECK(lab.command(line).starts_with("error: "));
  }
  CHECK(lab.command("resolver * refuse") == "ok");
  CHECK(lab.command("clear") == "ok");
  CHECK(lab.ask("pids").size() == 2);
  const std::string json = lab.ask("stats json").front();
  CHECK(json.starts_with("{\"r1\":{\"port\":"));
  CHECK(json.find("\"decoy\":{") != std::string::npos);
}

TEST_CASE("counters start again on request") {
  Lab lab({.resolvers = 1, .proxies = 1, .rtt = "0ms", .commands = {}});
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
  CHECK(lab.total('r', "queries") == 1);
  CHECK(lab.command("stats reset") == "ok");
  CHECK(lab.total('r', "queries") == 0);
  CHECK(lab.total('p', "connects") == 0);
  CHECK(lab.count("r1", "open") == 1);  // still is
}

TEST_CASE("every event is in the log") {
  Lab lab({.resolvers = 1, .proxies = 1, .rtt = "0ms", .commands = {}});
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "some.name.example").code == CURLE_OK);
  std::string all;
  for (const std::string& line : lab.log()) {
    CHECK(line.starts_with("{\"ts\":"));
    CHECK(line.ends_with("}"));
    all += line + "\n";
  }
  for (const std::string piece : {R"("who":"p1","event":"connect")", R"("event":"accept","conn":1,"exit":"p1")", R"("event":"handshake")",
                                  R"("alpn":"h2")", R"("name":"some.name.example","type":"A")"}) {
    INFO(piece);
    CHECK(all.find(piece) != std::string::npos);
  }
}

TEST_CASE("the written configuration names every party") {
  Lab lab({.resolvers = 2, .proxies = 2, .rtt = "0ms", .commands = {}});
  REQUIRE(lab.ready());
  std::ifstream file(lab.config_file());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const std::string party : {"r1", "r2", "p1", "p2"}) {
    CHECK(text.find("name: " + party) != std::string::npos);
    CHECK(text.find(std::to_string(lab.port(party))) != std::string::npos);
  }
  CHECK(lab.config({}).find("strategy: round_robin") != std::string::npos);
  const std::string other = lab.config(
      {.upstreams = {"r2"}, .proxies = {"p1"}, .upstream_keys = "warm: false", .strategy = "failover", .extra = "timeouts: {query: 1s}"});
  CHECK(other.find("name: r1") == std::string::npos);
  CHECK(other.find("warm: false") != std::string::npos);
  CHECK(other.find("timeouts: {query: 1s}\n") != std::string::npos);
}

TEST_CASE("a script runs at start; its faults are told with their line") {
  const std::string good = temporary_file("# comment\nresolver r1 status 500\nat 10ms resolver r1 ok\n");
  const std::string bad = temporary_file("resolver r1 delay 5\nresolver r1 bogus\n");
  Process lab({DOHMUX_LAB, {"--resolvers", "1", "--proxies", "0", "--script", good}, {}});
  CHECK(lab.wait_for_line("ready ", std::chrono::seconds(10)).has_value());
  lab.signal(SIGTERM);
  CHECK(lab.wait(std::chrono::seconds(5)) == 0);
  const Outcome wrong = run({DOHMUX_LAB, {"--resolvers", "1", "--proxies", "0", "--script", bad}, {}});
  CHECK(wrong.status == 1);
  CHECK(wrong.errors.find(bad + ":2: ") != std::string::npos);
  CHECK(run({DOHMUX_LAB, {"--rtt", "soon"}, {}}).status == 2);
  CHECK(run({DOHMUX_LAB, {"--odd"}, {}}).status == 2);
  CHECK(run({DOHMUX_LAB, {"--help"}, {}}).output.find("freeze-all") != std::string::npos);
  std::filesystem::remove(good);
  std::filesystem::remove(bad);
}

TEST_CASE("it ends on a signal and takes proxies and files with it") {
  std::string dir;
  long proxy = 0;
  {
    Lab lab({.resolvers = 1, .proxies = 1, .rtt = "0ms", .commands = {}});
    REQUIRE(lab.ready());
    dir = lab.dir();
    proxy = lab.count("p1", "pid");
    CHECK(std::filesystem::exists(dir + "/ca.pem"));
    CHECK(::kill(static_cast<pid_t>(proxy), 0) == 0);
    lab.process().signal(SIGTERM);
    CHECK(lab.process().wait(std::chrono::seconds(5)) == 0);
  }
  CHECK_FALSE(std::filesystem::exists(dir));
  CHECK(::kill(static_cast<pid_t>(proxy), 0) != 0);
}

}  // namespace dohmux::test
