// THE LIFE OF A QUERY: submit() until it waits for an upstream, finish() from then on (docs/life-of-a-query.md).
#pragma once

#include <dohmux/config.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/scheduler.h"
#include "dns/reply.h"
#include "resolver/client.h"
#include "resolver/client_limits.h"
#include "resolver/name_map.h"
#include "resolver/policy.h"
#include "stats/metrics.h"
#include "upstream/exchanger.h"

namespace dohmux {

enum class TargetKind : std::uint8_t { Group, PlainDns };

/// Somebody who can be asked. The first of all targets is the default group.
struct Target {
  upstream::Exchanger* exchanger = nullptr;  // outlives the resolver
  TargetKind kind = TargetKind::Group;
};

struct RebindingSettings {
  bool on = false;
  std::vector<std::string> except;  // names that may have private addresses, and all below them
};

struct ResolverSettings {
  std::vector<Prefix> allow;
  Duration query_timeout{};
  std::size_t max_in_flight = 0;
  LogConfig log;
  PolicySettings policy = {};
  PrivacyConfig privacy = {};
  RebindingSettings rebinding = {};
  ClientLimitsSettings clients = {};
  Duration tcp_idle{};  // what edns-tcp-keepalive tells
};

class Resolver final : public QuerySink {
 public:
  Resolver(Scheduler& scheduler, std::vector<Target> targets, stats::Metrics& metrics, ResolverSettings settings);
  ~Resolver() override;

  void submit(const Client& client, ByteView message) override;

  [[nodiscard]] std::size_t in_flight() const { return waiting_.size(); }
  /// Called (once, never inline here) when nothing waits any more.
  void when_idle(Task task);
  /// The drain is over: who still waits gets SERVFAIL now.
  void abandon_all();

 private:
  struct Waiting;
  using Result = std::expected<upstream::Answer, upstream::ExchangeError>;

  struct Settled;

  [[nodiscard]] bool may_ask(const Client& client, const dns::Query& query);
  [[nodiscard]] bool admit(const Client& client, const dns::Query& query);
  [[nodiscard]] bool pass(Excess excess, const Client& client, const dns::Query& query);
  [[nodiscard]] bool is_malformed(const dns::Query& query) const;
  void ask(const Client& client, dns::Query query, Forward forward);
  void finish(std::uint64_t id, Result result);
  [[nodiscard]] Settled settle(const Waiting& waiting, const Result& result) const;
  [[nodiscard]] bool is_rebinding(const Waiting& waiting, ByteView answer) const;
  [[nodiscard]] bool is_too_late(const Waiting& waiting) const;

  void tell_keepalive(const Client& client, const dns::Query& query, Bytes& reply) const;
  void reply_error(const Client& client, const dns::Query& query, dns::Rcode rcode, std::optional<dns::Ede> ede);
  void reply_local(const Client& client, const dns::Query& query, Bytes reply);
  void send(const Client& client, ByteView reply, stats::Source source, TimePoint began);
  void drop(const Client& client, stats::Dropped reason);

  Scheduler& scheduler_;
  std::vector<Target> targets_;
  stats::Metrics& metrics_;
  ResolverSettings settings_;
  Policy policy_;
  NameMap<std::monostate> private_names_;  // rebinding.except
  ClientLimits clients_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, std::unique_ptr<Waiting>> waiting_;
  Task idle_;
  std::unique_ptr<Timer> idle_timer_;
};

}  // namespace dohmux
