// dohmux-demo: shows the daemon at work on one machine, in less than a minute, and fails if anything it claims does not hold.
// Must not know the acts; it only puts them in order.
#include <curl/curl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "story.h"

namespace {

constexpr unsigned kLimitSeconds = 60;

void too_long(int /*signal*/) {
  constexpr std::string_view kText = "dohmux-demo: did not end within 60 s\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(1);  // lab and daemon die with their parent
}

}  // namespace

int main(int argc, char** argv) {
  dohmux::demo::StoryOptions options;
  bool bench = false;
  CLI::App app("Shows dohmux at work: a laboratory on loopback, a burst, a killed proxy, and the naive way beside it.", "dohmux-demo");
  app.add_flag("--bench", bench, "measurements only, no faults");
  app.add_option("--queries", options.queries, "queries a burst")->capture_default_str()->check(CLI::Range(50, 60000));
  app.add_option("--in-flight", options.in_flight, "queries that wait at a time")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--resolvers", options.resolvers, "resolvers")->capture_default_str()->check(CLI::Range(1, 100));
  app.add_option("--proxies", options.proxies, "proxies")->capture_default_str()->check(CLI::Range(2, 50));
  app.add_option("--rtt", options.rtt, "round trip to a resolver")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGALRM, too_long);
  ::alarm(bench ? 0 : kLimitSeconds);
  curl_global_init(CURL_GLOBAL_DEFAULT);

  dohmux::demo::Story story(options);
  if (!story.ready()) {
    return 1;
  }
  story.cold_burst();
  story.warm_burst(dohmux::test::Protocol::Udp);
  if (bench) {
    story.warm_burst(dohmux::test::Protocol::Tcp);
  } else {
    story.kill_under_load();
    story.dig();
  }
  story.naive_way();
  return story.conclude() ? 0 : 1;
}
