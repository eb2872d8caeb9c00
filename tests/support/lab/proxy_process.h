// A proxy as the lab's main process holds it: port, process id, command channel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "support/lab/counters.h"
#include "support/lab/faults.h"
#include "support/lab/log.h"
#include "support/lab/net.h"
#include "support/lab/proxy_server.h"

namespace lab {

class ProxyProcess {
 public:
  /// `setup` without port and counters; these come from here. What it points to outlives this.
  ProxyProcess(ProxySetup setup, ReservedPort port);
  ProxyProcess(const ProxyProcess&) = delete;
  ProxyProcess& operator=(const ProxyProcess&) = delete;
  /// Kills the process.
  ~ProxyProcess();

  [[nodiscard]] Result<void> start();
  /// kill, stop, cont and restart are done here; everything else by the process. Words that it needs run first make it run.
  [[nodiscard]] Result<void> apply(const Words& words);
  /// The child `pid` has ended.
  void on_exit(pid_t pid);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint16_t port() const { return port_.port; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool up() const { return pid_ > 0 && !stopped_; }
  [[nodiscard]] ProxyCounters& counters() { return *counters_; }
  [[nodiscard]] const ProxyCounters& counters() const { return *counters_; }

 private:
  struct Unmap {
    void operator()(ProxyCounters* counters) const;
  };

  [[noreturn]] void run_child(UniqueFd listener, UniqueFd channel) const;
  void kill();
  void resume();
  [[nodiscard]] Result<void> tell(const Words& words);

  ProxySetup setup_;
  std::string name_;
  ReservedPort port_;
  std::unique_ptr<ProxyCounters, Unmap> counters_;
  UniqueFd channel_;
  pid_t pid_ = 0;
  bool stopped_ = false;
};

}  // namespace lab
