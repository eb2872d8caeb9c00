// A dohmux-lab of one's own: started by the constructor, gone with the object.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.h"

namespace dohmux::test {

struct LabOptions {
  int resolvers = 12;
  int proxies = 3;
  std::string rtt = "0ms";
  std::vector<std::string> commands;  // run at once
};

/// What a daemon's configuration for a lab shall look like. Pieces of YAML are put in as they are.
struct LabConfig {
  std::vector<std::string> upstreams;  // "r1", …; none: all
  std::vector<std::string> proxies;    // "p1", …; none: all
  std::string upstream_keys;           // in each upstream, e.g. "warm: false, via: [p1, direct]"
  std::string strategy = "round_robin";
  std::string extra;  // further top-level keys, one a line
};

using Counters = std::map<std::string, long>;
using Stats = std::map<std::string, Counters>;

class Lab {
 public:
  explicit Lab(const LabOptions& options = {});
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;
  ~Lab();

  /// Whether it runs. All else is empty if not; error() then says why.
  [[nodiscard]] bool ready() const { return control_ >= 0; }
  [[nodiscard]] std::string error() const { return process_.errors(); }

  /// The first line of the reply: "ok" or "error: …".
  std::string command(std::string_view line);
  /// All lines behind the first.
  [[nodiscard]] std::vector<std::string> ask(std::string_view line);

  [[nodiscard]] Stats stats();
  /// One counter of one party ("r1", "p2", "decoy"); -1 if there is none of that name.
  [[nodiscard]] long count(const std::string& party, const std::string& key);
  /// One counter over all parties whose name begins with `kind` ("r", "p").
  [[nodiscard]] long total(char kind, const std::string& key);
  [[nodiscard]] std::uint16_t port(const std::string& party) { return static_cast<std::uint16_t>(count(party, "port")); }

  [[nodiscard]] const std::string& dir() const { return dir_; }
  [[nodiscard]] std::string ca_file() const { return dir_ + "/ca.pem"; }
  /// The file that the lab wrote: all resolvers, all proxies, round_robin.
  [[nodiscard]] std::string config_file() const { return dir_ + "/dohmux.yaml"; }
  /// The text of one that differs.
  [[nodiscard]] std::string config(const LabConfig& wishes);
  [[nodiscard]] std::vector<std::string> log() const;
  [[nodiscard]] Process& process() { return process_; }

 private:
  [[nodiscard]] std::vector<std::string> exchange(std::string_view line) const;

  Process process_;
  std::string dir_;
  int control_ = -1;
};

}  // namespace dohmux::test
