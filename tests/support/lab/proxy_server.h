// A CONNECT proxy: everything that runs in a proxy's own process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/lab/counters.h"
#include "support/lab/log.h"
#include "support/lab/loop.h"
#include "support/lab/net.h"
#include "support/lab/proxy_faults.h"

namespace lab {

class Tunnel;
using TunnelId = std::uint64_t;

/// Where a resolver is found: its own name resolution.
struct Destination {
  std::string name;  // "r1"
  std::uint16_t port;
};
using Destinations = std::map<std::string, Destination>;  // by "r1.lab.example:4711"

struct ProxySetup {
  std::size_t index = 1;  // from 1; also the last octet of its source address 127.0.1.x
  std::uint16_t port = 0;
  const Destinations* destinations = nullptr;
  ProxyCounters* counters = nullptr;
  const Log* log = nullptr;
};

class ProxyServer final : public Pollable {
 public:
  /// Commands arrive on `channel` (SOCK_SEQPACKET); each is answered with "ok" or an error text. Its end ends the process.
  ProxyServer(ProxySetup setup, UniqueFd listener, UniqueFd channel);
  ProxyServer(const ProxyServer&) = delete;
  ProxyServer& operator=(const ProxyServer&) = delete;
  ~ProxyServer() override;

  void run() { loop_.run(); }

  // For its tunnels.
  [[nodiscard]] Loop& loop() { return loop_; }
  [[nodiscard]] ProxyFaults& faults() { return faults_; }
  [[nodiscard]] const ProxySetup& setup() const { return setup_; }
  [[nodiscard]] ProxyCounters& counters() { return *setup_.counters; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Tunnel* find(TunnelId id);
  void forget(TunnelId id);

  void on_ready(std::uint32_t events) override;

 private:
  class Channel;

  [[nodiscard]] std::string execute(const Words& words);
  [[nodiscard]] std::string update_listener();

  Loop loop_;
  ProxySetup setup_;
  std::string name_;
  UniqueFd listener_;
  ProxyFaults faults_;
  std::unique_ptr<Channel> channel_;
  std::map<TunnelId, std::unique_ptr<Tunnel>> tunnels_;
  TunnelId next_tunnel_ = 1;
};

}  // namespace lab
