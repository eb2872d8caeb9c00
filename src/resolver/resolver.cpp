// The life of a query, top to bottom: parse, admit, decide, ask | the only wait | settle, reply.
// Must not know lanes, proxies, transports or listeners: an Exchanger below, ReplySinks above.
#include "resolver/resolver.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "dns/edns.h"
#include "dns/query.h"
#include "dns/rebinding.h"
#include "dns/reply.h"
#include "dns/ttl.h"
#include "resolver/error_reply.h"
#include "resolver/query_log.h"

namespace dohmux {
namespace {

/// Left over at the end of `timeouts.query` for the reply to leave in time.
constexpr Duration kReplyMargin = std::chrono::milliseconds(40);

constexpr Duration kOldAnswer = std::chrono::milliseconds(1900);
constexpr std::size_t kMayWaitLong = 32;

std::uint16_t rcode_of(ByteView reply) {
  return reply.size() >= dns::kHeaderSize ? reply[3] & 0x0f : 2;
}
bool has_tc(ByteView reply) {
  return reply.size() >= dns::kHeaderSize && (reply[2] & 0x02) != 0;
}

dns::Carrier carrier(const Client& client) {
  return client.protocol == Protocol::Udp ? dns::Carrier::Udp : dns::Carrier::Tcp;
}

}  // namespace

/// A query that was sent on. Erasing it from the table cancels its exchange.
struct Resolver::Waiting {
  Client client;
  dns::Query query;
  Forward forward;
  TimePoint began;
  std::unique_ptr<Call> exchange;
};

/// What a client gets in the end.
struct Resolver::Settled {
  Bytes reply;
  stats::Source source = stats::Source::Error;
  std::string error;  // why it is not the answer; empty if it is
};

Resolver::Resolver(Scheduler& scheduler, std::vector<Target> targets, stats::Metrics& metrics, ResolverSettings settings)
    : scheduler_(scheduler),
      targets_(std::move(targets)),
      metrics_(metrics),
      settings_(std::move(settings)),
      policy_(settings_.policy),
      clients_(settings_.clients) {
  for (const std::string& text : settings_.rebinding.except) {
    if (const auto name = dns::name_from_text(text)) {
      private_names_.add(*name, {});
    }
  }
}

Resolver::~Resolver() = default;

void Resolver::submit(const Client& client, ByteView message) {
  metrics_.request(client.protocol == Protocol::Udp ? stats::Proto::Udp : stats::Proto::Tcp);
  auto parsed = dns::parse_query(message);
  if (!parsed && parsed.error().silent) {
    drop(client, stats::Dropped::NotAQuery);
    return;
  }
  const dns::Query& query = parsed ? *parsed : parsed.error().query;
  if (!may_ask(client, query) || !pass(clients_.arrive(client, scheduler_.now()), client, query)) {
    return;
  }
  if (!parsed) {
    const auto code = parsed.error().ede;
    reply_error(client, query, parsed.error().rcode,
                code ? std::optional(dns::Ede{.code = static_cast<dns::EdeCode>(*code), .text = {}}) : std::nullopt);
    return;
  }
  if (is_malformed(query)) {
    reply_error(client, query, dns::Rcode::FormErr, std::nullopt);
    return;
  }
  Decision decision = policy_.decide(query, dns::reply_limit(query, carrier(client)));
  if (auto* reply = std::get_if<Bytes>(&decision)) {
    reply_local(client, query, std::move(*reply));
  } else if (admit(client, query)) {
    ask(client, *std::move(parsed), std::get<Forward>(decision));
  }
}

/// access.allow: others get REFUSED, EDE 18.
bool Resolver::may_ask(const Client& client, const dns::Query& query) {
  const auto holds = [&client](const Prefix& prefix) { return prefix.contains(client.peer.address); };
  if (std::ranges::any_of(settings_.allow, holds)) {
    return true;
  }
  reply_error(client, query, dns::Rcode::Refused, dns::Ede{.code = dns::EdeCode::Prohibited, .text = {}});
  return false;
}

/// The bounds on all that waits, and on what this client waits for. Beyond the first UDP is silent and TCP gets SERVFAIL.
bool Resolver::admit(const Client& client, const dns::Query& query) {
  if (waiting_.size() < settings_.max_in_flight) {
    return pass(clients_.wait(client), client, query);
  }
  if (client.protocol == Protocol::Udp) {
    drop(client, stats::Dropped::Shed);
  } else {
    reply_error(client, query, dns::Rcode::ServFail, dns::Ede{.code = dns::EdeCode::Other, .text = "too many queries under way"});
  }
  return false;
}

/// False for a query too many: over UDP every second one gets TC=1, the others nothing, so that answers to forged queries are
/// few and small; over TCP the client is real and gets SERVFAIL.
bool Resolver::pass(Excess excess, const Client& client, const dns::Query& query) {
  if (excess == Excess::None) {
    return true;
  }
  if (client.protocol == Protocol::Tcp) {
    reply_error(client, query, dns::Rcode::ServFail, dns::Ede{.code = dns::EdeCode::Other, .text = "too many queries of this client"});
  } else if (excess == Excess::Slip) {
    send(client, truncated_reply(query), stats::Source::Local, scheduler_.now());
  } else {
    drop(client, stats::Dropped::RateLimited);
  }
  return false;
}

/// RFC 7871 §7.1.2 demands FORMERR of those who use the option; whoever strips it need not look into it.
bool Resolver::is_malformed(const dns::Query& query) const {
  return settings_.privacy.ecs == EcsMode::Pass && query.edns && !query.edns->client_subnet.empty() &&
         !dns::valid_client_subnet(query.edns->client_subnet);
}

void Resolver::ask(const Client& client, dns::Query query, Forward forward) {
  const TimePoint now = scheduler_.now();
  const std::uint64_t id = next_id_++;
  const Target& target = targets_[forward.target];
  auto owned = std::make_unique<Waiting>(
      Waiting{.client = client, .query = std::move(query), .forward = forward, .began = now, .exchange = nullptr});
  Waiting& waiting = *owned;
  waiting_.emplace(id, std::move(owned));
  metrics_.in_flight(waiting_.size());
  // In clear text padding hides nothing (RFC 7830 §6).
  const bool padded = settings_.privacy.padding && target.kind == TargetKind::Group;
  waiting.exchange = target.exchanger->exchange(
      waiting.query,
      dns::upstream_query(waiting.query, padded ? dns::Padding::Block128 : dns::Padding::None,
                          settings_.privacy.ecs == EcsMode::Pass ? dns::ClientSubnet::Pass : dns::ClientSubnet::Strip),
      now + settings_.query_timeout - kReplyMargin, [this, id](Result result) { finish(id, std::move(result)); });
}

/// The only way out of the wait: `result` is an answer that passed every check, or the reason why there is none.
void Resolver::finish(std::uint64_t id, Result result) {
  const auto node = waiting_.extract(id);  // keeps query and client alive to the end of this function
  const Waiting& waiting = *node.mapped();
  metrics_.in_flight(waiting_.size());
  Settled settled = settle(waiting, result);
  tell_keepalive(waiting.client, waiting.query, settled.reply);
  if (settings_.log.queries) {
    log::write_raw(query_log_line({.client = waiting.client,
                                   .query = waiting.query,
                                   .trail = result ? result->trail : result.error().trail,
                                   .rcode = rcode_of(settled.reply),
                                   .source = stats::word(settled.source),
                                   .error = settled.error,
                                   .took = scheduler_.now() - waiting.began}));
  }
  if (is_too_late(waiting)) {
    drop(waiting.client, stats::Dropped::Late);
  } else {
    send(waiting.client, settled.reply, settled.source, waiting.began);
  }
  clients_.settle(waiting.client);
  if (idle_ && waiting_.empty()) {
    idle_timer_ = scheduler_.after(Duration::zero(), std::exchange(idle_, {}));
  }
}

/// Answer, refusal of a rebinding answer, or SERVFAIL.
Resolver::Settled Resolver::settle(const Waiting& waiting, const Result& result) const {
  if (!result) {
    return {
        .reply = servfail(waiting.query, result.error(), waiting.client), .source = stats::Source::Error, .error = result.error().stage};
  }
  if (is_rebinding(waiting, result->message)) {
    return {.reply = dns::error_reply(waiting.query, dns::Rcode::Refused,
                                      dns::Ede{.code = dns::EdeCode::Blocked, .text = "rebinding: private address for a public name"}),
            .source = stats::Source::Local,
            .error = "rebinding"};
  }
  const dns::Query& query = waiting.query;
  const std::size_t limit = dns::reply_limit(query, carrier(waiting.client));
  Bytes reply = dns::client_reply(query, result->message, limit);
  if (result->age.count() > 0) {
    dns::age_ttls(reply, result->age);  // an HTTP cache had it for so long (RFC 8484 §5.1)
  }
  if (settings_.privacy.ecs == EcsMode::Pass && query.edns) {  // RFC 7871 §7.2.2
    if (const ByteView subnet = dns::answered_client_subnet(result->message, query.edns->client_subnet); !subnet.empty()) {
      dns::append_option(reply, {.code = dns::kOptionClientSubnet, .data = subnet}, limit);
    }
  }
  const bool plain = targets_[waiting.forward.target].kind == TargetKind::PlainDns;
  return {.reply = std::move(reply), .source = plain ? stats::Source::Forward : stats::Source::Upstream, .error = {}};
}

/// Routes are exempt: their names are the operator's own.
bool Resolver::is_rebinding(const Waiting& waiting, ByteView answer) const {
  return settings_.rebinding.on && waiting.forward.by == Chosen::Default && dns::holds_private_address(answer) &&
         !private_names_.find_longest(waiting.query.name());
}

/// Queries with a forged source can be gathered here for seconds and then answered in one pulse (the DNSBomb attack). So
/// whoever lets more than a few wait over UDP gets no old answers; a real client has asked again by then.
bool Resolver::is_too_late(const Waiting& waiting) const {
  return waiting.client.protocol == Protocol::Udp && scheduler_.now() - waiting.began > kOldAnswer &&
         clients_.waiting(waiting.client) > kMayWaitLong;
}

/// A connection's idle time begins anew with each reply, so all of it is left (RFC 7828 §3.3.2); over UDP the option means nothing.
void Resolver::tell_keepalive(const Client& client, const dns::Query& query, Bytes& reply) const {
  if (client.protocol == Protocol::Tcp && query.edns && query.edns->keepalive) {
    dns::add_keepalive(reply, std::chrono::duration_cast<std::chrono::milliseconds>(settings_.tcp_idle));
  }
}

void Resolver::reply_error(const Client& client, const dns::Query& query, dns::Rcode rcode, std::optional<dns::Ede> ede) {
  Bytes reply = dns::error_reply(query, rcode, ede);
  tell_keepalive(client, query, reply);
  send(client, reply, stats::Source::Local, scheduler_.now());
}

void Resolver::reply_local(const Client& client, const dns::Query& query, Bytes reply) {
  tell_keepalive(client, query, reply);
  if (settings_.log.queries) {
    log::write_raw(query_log_line({.client = client,
                                   .query = query,
                                   .trail = {},
                                   .rcode = rcode_of(reply),
                                   .source = stats::word(stats::Source::Local),
                                   .error = {},
                                   .took = {}}));
  }
  send(client, reply, stats::Source::Local, scheduler_.now());
}

void Resolver::send(const Client& client, ByteView reply, stats::Source source, TimePoint began) {
  metrics_.response(rcode_of(reply), source, scheduler_.now() - began);
  if (has_tc(reply)) {
    metrics_.truncated();
  }
  client.via->reply(client, reply);
}

void Resolver::drop(const Client& client, stats::Dropped reason) {
  metrics_.dropped(reason);
  client.via->no_reply(client);
}

void Resolver::when_idle(Task task) {
  idle_ = std::move(task);
  if (waiting_.empty()) {
    idle_timer_ = scheduler_.after(Duration::zero(), std::exchange(idle_, {}));
  }
}

void Resolver::abandon_all() {
  std::vector<std::uint64_t> ids;
  ids.reserve(waiting_.size());
  for (const auto& [id, waiting] : waiting_) {
    ids.push_back(id);
  }
  for (const std::uint64_t id : ids) {
    finish(id, std::unexpected(upstream::ExchangeError{.cause = upstream::Cause::ShuttingDown, .stage = "shutting down", .trail = {}}));
  }
}

}  // namespace dohmux
