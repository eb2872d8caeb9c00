// A lab and a daemon that uses it, and what tests ask of the two.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "support/daemon.h"
#include "support/dns_client.h"
#include "support/lab.h"

namespace dohmux::test {

/// Sanitizer builds get more time where a deadline of the contract is asserted.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSlack = 4;
inline constexpr bool kSanitized = true;
#else
inline constexpr int kSlack = 1;
inline constexpr bool kSanitized = false;
#endif

class House {
 public:
  explicit House(const LabOptions& lab_options = {}, const LabConfig& wishes = {}, const DaemonOptions& daemon_options = {});

  Lab lab;
  Daemon daemon;

  [[nodiscard]] BatchResult ask_many(std::size_t queries, std::size_t in_flight, Protocol protocol = Protocol::Udp);
  [[nodiscard]] std::string metrics();
  /// The sum of all series whose line begins with `start`.
  [[nodiscard]] long metric(const std::string& start);
  [[nodiscard]] std::string exit_of(const std::string& upstream);
  /// Waits until `party`.`key` of the lab is at least `wanted`.
  bool wait_for(const std::string& party, const std::string& key, long wanted);
  /// Waits until the lab has this many connections at its resolvers.
  bool wait_for_connections(long wanted);

 private:
  [[nodiscard]] DaemonOptions with_config(const DaemonOptions& options, const LabConfig& wishes);
};

/// The body of http://127.0.0.1:port/path; empty if it cannot be had.
[[nodiscard]] std::string http_get(std::uint16_t port, const std::string& path);

/// A number from /proc/PID/status ("VmRSS", kB) over one process, and the sum over all its threads.
[[nodiscard]] long proc_status(pid_t pid, const std::string& key);
[[nodiscard]] long voluntary_switches(pid_t pid);
[[nodiscard]] long open_descriptors(pid_t pid);

}  // namespace dohmux::test
