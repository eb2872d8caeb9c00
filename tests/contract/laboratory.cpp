// The laboratory, made as new before each test case.
// It must not know transports.
#include "contract/laboratory.h"

#include <catch2/catch_test_macros.hpp>

namespace dohmux::contract {

Laboratory::Laboratory() : lab_({.resolvers = 3, .proxies = 3, .rtt = "0ms", .commands = {}}) {
  INFO(lab_.error());
  REQUIRE(lab_.ready());
}

Laboratory& Laboratory::fresh() {
  static Laboratory lab;
  lab.command("clear");
  lab.command("resolver * drop-all");
  for (const std::string proxy : {"p1", "p2", "p3"}) {
    lab.command("proxy " + proxy + (lab.count(proxy, "up") == 0 ? " restart" : " cont"));
  }
  lab.command("stats reset");
  return lab;
}

void Laboratory::command(const std::string& line) {
  INFO(line);
  REQUIRE(lab_.command(line) == "ok");
}

long Laboratory::count(const std::string& party, const std::string& counter) {
  const long value = lab_.count(party, counter);
  INFO(party << " " << counter);
  REQUIRE(value >= 0);
  return value;
}

}  // namespace dohmux::contract
