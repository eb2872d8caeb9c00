// All parties of a lab and the commands that reach them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/lab/ca.h"
#include "support/lab/log.h"
#include "support/lab/loop.h"
#include "support/lab/proxy_process.h"
#include "support/lab/resolver.h"

namespace lab {

struct LabOptions {
  std::size_t resolvers = 12;
  std::size_t proxies = 3;
  std::uint16_t base_port = 0;  // 0: any free ports
  Millis rtt{0};
  std::string script;
  std::string dir;
  bool remove_dir = false;  // at the end
};

/// A port that nobody has business with: counts who comes all the same.
class Decoy final : public Pollable {
 public:
  Decoy(Loop& loop, Log& log) : loop_(loop), log_(log) {}
  Decoy(const Decoy&) = delete;
  Decoy& operator=(const Decoy&) = delete;
  ~Decoy() override { loop_.unwatch(listener_.get()); }

  [[nodiscard]] Result<void> start(std::uint16_t port);
  void on_ready(std::uint32_t events) override;
  [[nodiscard]] std::uint16_t port() const { return port_.port; }
  [[nodiscard]] long accepts() const { return accepts_; }
  void reset() { accepts_ = 0; }

 private:
  Loop& loop_;
  Log& log_;
  ReservedPort port_;
  UniqueFd listener_;
  long accepts_ = 0;
};

class Laboratory {
 public:
  Laboratory(LabOptions options, Loop& loop);
  Laboratory(const Laboratory&) = delete;
  Laboratory& operator=(const Laboratory&) = delete;
  ~Laboratory();

  /// Certificates, files, processes, listeners. Runs the script.
  [[nodiscard]] Result<void> start();
  /// One command; the lines of its reply, the first "ok" or "error: …".
  [[nodiscard]] std::vector<std::string> execute(std::string_view line);
  /// Some child has ended.
  void reap();

  [[nodiscard]] const LabOptions& options() const { return options_; }
  [[nodiscard]] std::string control_path() const { return options_.dir + "/control.sock"; }

 private:
  [[nodiscard]] Result<void> make_parties();
  [[nodiscard]] Result<void> write_files() const;
  [[nodiscard]] std::string daemon_config() const;
  [[nodiscard]] Result<void> run_script();
  [[nodiscard]] std::uint16_t port_number(std::size_t offset) const;

  [[nodiscard]] Result<void> command(const Words& words, std::vector<std::string>& reply);
  [[nodiscard]] Result<void> for_names(const Words& words);
  [[nodiscard]] Result<void> at_time(const Words& words);
  [[nodiscard]] Result<void> clear();
  [[nodiscard]] Result<void> stats(const Words& words, std::vector<std::string>& reply);
  [[nodiscard]] std::vector<std::pair<std::string, CounterRow>> rows() const;
  void reset_counters();

  LabOptions options_;
  Loop& loop_;
  Log log_;
  std::unique_ptr<CertificateAuthority> authority_;
  NameFaults names_;
  Destinations destinations_;
  std::unique_ptr<Surroundings> around_;
  Decoy decoy_;
  std::vector<std::unique_ptr<ProxyProcess>> proxies_;
  std::vector<std::unique_ptr<Resolver>> resolvers_;
};

}  // namespace lab
