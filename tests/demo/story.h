// The demo itself: one lab, one daemon, five acts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "observed.h"
#include "report.h"
#include "support/daemon.h"
#include "support/dns_client.h"
#include "support/lab.h"

namespace dohmux::demo {

struct StoryOptions {
  int resolvers = 12;
  int proxies = 3;
  std::string rtt = "25ms";
  std::size_t queries = 630;
  std::size_t in_flight = 50;
};

class Story {
 public:
  explicit Story(const StoryOptions& options);

  /// Lab and daemon run.
  [[nodiscard]] bool ready();
  void cold_burst();
  void warm_burst(test::Protocol protocol);
  void kill_under_load();
  void dig();
  void naive_way();
  /// Compares, and says what held. True if everything did.
  [[nodiscard]] bool conclude();

 private:
  [[nodiscard]] test::BatchResult ask(const std::string& suffix, test::Protocol protocol);
  void measured(const std::string& way, const test::BatchResult& batch);
  [[nodiscard]] std::string busiest_proxy();
  void check_kill(const std::string& proxy, const std::map<std::string, std::string>& before, const test::BatchResult& batch);
  void act(const std::string& title);

  StoryOptions options_;
  test::Lab lab_;
  test::Daemon daemon_;
  Observer observer_;
  Checks checks_;
  std::vector<Measured> rows_;
  int acts_ = 0;
};

}  // namespace dohmux::demo
