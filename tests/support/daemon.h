// A dohmux of one's own: started with a configuration, stopped with the object.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/process.h"

namespace dohmux::test {

struct DaemonOptions {
  std::string config;                  // text of the file; empty: none is written and no -c is given
  std::vector<std::string> arguments;  // behind `run [-c FILE]`
  std::map<std::string, std::string> environment;
  std::vector<std::string> wrapper;  // a program to run it under, with its arguments ("strace", "-f", …)
};

class Daemon {
 public:
  explicit Daemon(const DaemonOptions& options);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  /// Kills it if it still runs; removes its file.
  ~Daemon();

  /// It has said where it listens, on UDP and on TCP.
  [[nodiscard]] bool ready() const { return udp_ != 0 && tcp_ != 0; }
  [[nodiscard]] std::uint16_t udp_port() const { return udp_; }
  [[nodiscard]] std::uint16_t tcp_port() const { return tcp_; }
  /// Of the first web listener, if the daemon told one.
  [[nodiscard]] std::uint16_t web_port() const { return web_; }

  /// SIGTERM, then its exit code; nothing if it does not end in time.
  [[nodiscard]] std::optional<int> stop(std::chrono::milliseconds limit = std::chrono::seconds(15));
  [[nodiscard]] Process& process() { return process_; }
  /// All that it has printed.
  [[nodiscard]] std::string printed() const { return process_.output() + process_.errors(); }
  [[nodiscard]] const std::string& config_file() const { return file_; }

 private:
  [[nodiscard]] std::uint16_t port_from_line(const std::string& protocol);

  std::string file_;
  Process process_;
  std::uint16_t udp_ = 0;
  std::uint16_t tcp_ = 0;
  std::uint16_t web_ = 0;
};

/// The path of the program under test.
[[nodiscard]] std::string daemon_program();
/// Writes `text` to a new temporary file and returns its path.
[[nodiscard]] std::string temporary_file(const std::string& text);

}  // namespace dohmux::test
