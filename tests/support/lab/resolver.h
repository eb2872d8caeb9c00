// One DoH resolver of the lab: its listener, its connections, its faults, its counters.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/lab/ca.h"
#include "support/lab/counters.h"
#include "support/lab/faults.h"
#include "support/lab/log.h"
#include "support/lab/loop.h"
#include "support/lab/net.h"

namespace lab {

class Connection;

/// What all resolvers of a lab share. Outlives them.
struct Surroundings {
  Loop& loop;
  Log& log;
  const CertificateAuthority& authority;
  NameFaults& names;
  Millis rtt{0};
  std::size_t proxies = 0;
};

using ConnectionId = std::uint64_t;

class Resolver final : public Pollable {
 public:
  /// `index` from 1: its name is r<index>.
  Resolver(Surroundings& around, std::size_t index, ReservedPort port);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver() override;

  [[nodiscard]] Result<void> start();
  /// Sets a fault, or does what words such as "goaway-all" say.
  [[nodiscard]] Result<void> apply(const Words& words);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] std::uint16_t port() const { return port_.port; }
  [[nodiscard]] ResolverCounters& counters() { return counters_; }
  [[nodiscard]] const ResolverCounters& counters() const { return counters_; }

  // For its connections.
  [[nodiscard]] Surroundings& around() { return around_; }
  [[nodiscard]] ResolverFaults& faults() { return faults_; }
  [[nodiscard]] SSL_CTX* context();
  [[nodiscard]] std::uint32_t stream_limit() const;
  [[nodiscard]] Millis rtt() const { return faults_.rtt.value_or(around_.rtt); }
  [[nodiscard]] Connection* find(ConnectionId id);
  /// The connection is closed; it is deleted when the events at hand are done.
  void forget(ConnectionId id);

  void on_ready(std::uint32_t events) override;

 private:
  void accept_one(UniqueFd fd, const sockaddr_in& peer);
  [[nodiscard]] Result<void> update_listener();
  template <class Action>
  void each_connection(Action action);

  Surroundings& around_;
  std::string name_;
  std::string host_;
  ReservedPort port_;
  UniqueFd listener_;
  ResolverFaults faults_;
  ResolverCounters counters_;
  std::map<std::pair<CertKind, AlpnOffer>, ContextPtr> contexts_;
  std::map<ConnectionId, std::unique_ptr<Connection>> connections_;
  ConnectionId next_connection_ = 1;
};

}  // namespace lab
