// Rules about names and clients in the life of a query: routes, local answers, rebinding, privacy, limits per client.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "fakes/fake_exchanger.h"
#include "fakes/fake_scheduler.h"
#include "resolver/resolver.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

ResolverSettings open_to_all() {
  ResolverSettings settings;
  settings.allow = {*Prefix::parse("0.0.0.0/0"), *Prefix::parse("::/0")};
  settings.query_timeout = 4500ms;
  settings.max_in_flight = 1000;
  return settings;
}

int rcode_of(const Bytes& reply) {
  return reply.at(3) & 15;
}
bool has_tc(const Bytes& reply) {
  return (reply.at(2) & 2) != 0;
}
bool holds(const Bytes& reply, const Octets& octets) {
  return !std::ranges::search(reply, octets).empty();
}
Octets ede_head(unsigned code) {
  return be16(code);
}

/// Three targets: the default group, another group, plain DNS.
struct House {
  explicit House(const ResolverSettings& settings = open_to_all())
      : resolver(scheduler, {{.exchanger = &group}, {.exchanger = &other}, {.exchanger = &plain, .kind = TargetKind::PlainDns}}, metrics,
                 settings) {
    client.via = &sink;
    client.peer = *Endpoint::parse("192.0.2.1:4000");
  }
  void submit(const MessageBuilder& message) { resolver.submit(client, message.build()); }
  /// Answers the oldest question of an exchanger with this.
  void answer(FakeExchanger& exchanger, const MessageBuilder& message) {
    auto done = std::move(exchanger.asked.front().done);
    done(upstream::Answer{.message = message.build()});
    exchanger.asked.pop_front();  // not before: the call that has ended now refers to it
  }
  [[nodiscard]] const Bytes& last() const { return sink.replies.back(); }
  [[nodiscard]] bool counted(const std::string& line) const { return metrics.render("t").find(line) != std::string::npos; }

  FakeScheduler scheduler;
  FakeExchanger group;
  FakeExchanger other;
  FakeExchanger plain;
  RecordingSink sink;
  stats::Metrics metrics{{"r1"}, {"p1"}};
  Resolver resolver;
  Client client;
};

ResolverSettings with_routes() {
  ResolverSettings settings = open_to_all();
  settings.policy.routes = {{.match = {"example.net"}, .target = 1}, {.match = {"corp.example", "10.in-addr.arpa"}, .target = 2}};
  settings.policy.records = {{"router.lan", {*IpAddress::parse("192.168.1.1")}}};
  settings.rebinding.on = true;
  return settings;
}

MessageBuilder private_answer(std::string_view name) {
  return response(name).answer(a(pointer(12), 300, {10, 0, 0, 1}));
}

}  // namespace

TEST_CASE("a covered name goes to its route and to nobody else") {
  House house(with_routes());
  house.submit(query("a.corp.example"));
  house.submit(query("1.2.3.10.in-addr.arpa", 12));
  CHECK(house.plain.asked.size() == 2);
  house.submit(query("www.example.net"));
  CHECK(house.other.asked.size() == 1);
  CHECK(house.group.asked.empty());
  house.submit(query("www.example.org"));
  CHECK(house.group.asked.size() == 1);
}

TEST_CASE("a route that fails is SERVFAIL: the default group is not asked instead") {
  House house(with_routes());
  house.submit(query("a.corp.example"));
  auto done = std::move(house.plain.asked.front().done);
  done(std::unexpected(upstream::ExchangeError{.cause = upstream::Cause::NoReachableExit, .stage = "forward: silent"}));
  REQUIRE(house.sink.replies.size() == 1);
  CHECK(rcode_of(house.last()) == 2);
  CHECK(house.group.asked.empty());
}

TEST_CASE("answers of plain DNS count as forward, those of groups as upstream, ours as local") {
  House house(with_routes());
  house.submit(query("a.corp.example"));
  house.answer(house.plain, response("a.corp.example"));
  house.submit(query("www.example.net"));
  house.answer(house.other, response("www.example.net"));
  house.submit(query("x.test"));
  CHECK(house.counted("rcode=\"NOERROR\",source=\"forward\"} 1"));
  CHECK(house.counted("rcode=\"NOERROR\",source=\"upstream\"} 1"));
  CHECK(house.counted("rcode=\"NXDOMAIN\",source=\"local\"} 1"));
}

TEST_CASE("records and special names are answered at once and nobody is asked") {
  House house(with_routes());
  house.submit(query("router.lan"));
  house.submit(query("1.1.168.192.in-addr.arpa", 12));
  house.submit(query("localhost", 28));
  house.submit(query("_dns.resolver.arpa", 64).additional(opt()));
  REQUIRE(house.sink.replies.size() == 4);
  CHECK(holds(house.sink.replies[0], {192, 168, 1, 1}));
  CHECK(holds(house.sink.replies[1], wire("router.lan")));
  CHECK(rcode_of(house.sink.replies[3]) == 0);
  CHECK(house.group.asked.empty());
  CHECK(house.resolver.in_flight() == 0);
}

TEST_CASE("a local answer keeps to the client's size over UDP and is whole over TCP") {
  ResolverSettings settings = open_to_all();
  settings.policy.records = {{"big.lan", {}}};
  for (std::uint8_t i = 1; i <= 60; ++i) {
    settings.policy.records[0].addresses.push_back({.family = Family::V4, .octets = {192, 0, 2, i}});
  }
  House house(settings);
  house.submit(query("big.lan"));
  CHECK(has_tc(house.last()));
  CHECK(house.last().size() <= 512);
  house.client.protocol = Protocol::Tcp;
  house.submit(query("big.lan"));
  CHECK_FALSE(has_tc(house.last()));
  CHECK(house.last()[7] == 60);
}

TEST_CASE("who may not ask gets nothing out of local answers") {
  ResolverSettings settings = with_routes();
  settings.allow = {*Prefix::parse("127.0.0.0/8")};
  House house(settings);
  house.submit(query("router.lan"));
  CHECK(rcode_of(house.last()) == 5);
}

TEST_CASE("rebinding: a private address for a public name is REFUSED with EDE 15") {
  House house(with_routes());
  house.submit(query("www.example.org").additional(opt()));
  house.answer(house.group, private_answer("www.example.org"));
  CHECK(rcode_of(house.last()) == 5);
  CHECK(holds(house.last(), ede_head(15)));
  CHECK_FALSE(holds(house.last(), {10, 0, 0, 1}));
  CHECK(house.counted("rcode=\"REFUSED\",source=\"local\"} 1"));
  house.submit(query("www.example.org"));
  house.answer(house.group, response("www.example.org").answer(a(pointer(12))));
  CHECK(rcode_of(house.last()) == 0);
}

TEST_CASE("rebinding: hints of HTTPS records count") {
  House house(with_routes());
  house.submit(query("www.example.org", 65));
  house.answer(house.group,
               response("www.example.org", 65)
                   .answer({.owner = pointer(12), .type = 65, .rdata = be16(1) + Octets{0} + be16(4) + be16(4) + Octets{192, 168, 0, 1}}));
  CHECK(rcode_of(house.last()) == 5);
}

TEST_CASE("rebinding: routes, exceptions and the switch") {
  ResolverSettings settings = with_routes();
  settings.rebinding.except = {"nip.example"};
  House house(settings);
  house.submit(query("a.corp.example"));
  house.answer(house.plain, private_answer("a.corp.example"));
  CHECK(rcode_of(house.last()) == 0);
  house.submit(query("www.example.net"));
  house.answer(house.other, private_answer("www.example.net"));
  CHECK(rcode_of(house.last()) == 0);
  house.submit(query("10-0-0-1.Nip.example"));
  house.answer(house.group, private_answer("10-0-0-1.Nip.example"));
  CHECK(rcode_of(house.last()) == 0);

  settings.rebinding.on = false;
  House off(settings);
  off.submit(query("www.example.org"));
  off.answer(off.group, private_answer("www.example.org"));
  CHECK(rcode_of(off.last()) == 0);
}

TEST_CASE("padding: on towards groups, off by the switch, never in clear text") {
  House house(with_routes());
  house.submit(query("www.example.org"));
  house.submit(query("www.example.net"));
  house.submit(query("a.corp.example"));
  CHECK(house.group.asked.front().message.size() == 128);
  CHECK(house.other.asked.front().message.size() == 128);
  CHECK(house.plain.asked.front().message.size() == 12 + 20 + 11);

  ResolverSettings bare = open_to_all();
  bare.privacy.padding = false;
  House unpadded(bare);
  unpadded.submit(query("www.example.org"));
  CHECK(unpadded.group.asked.front().message.size() == 12 + 21 + 11);
}

TEST_CASE("a client's subnet is stripped, whatever it looks like") {
  House house;
  for (const Octets& subnet : {Octets{0, 1, 24, 0, 192, 0, 2}, Octets{0, 3, 99, 7}}) {
    house.submit(query().additional(opt(1232, 0, option(8, subnet))));
    CHECK_FALSE(holds(house.group.asked.back().message, be16(8) + be16(static_cast<unsigned>(subnet.size())) + subnet));
  }
  CHECK(house.group.asked.size() == 2);
}

TEST_CASE("in pass mode a client's subnet goes on, and a malformed one is FORMERR") {
  ResolverSettings settings = open_to_all();
  settings.privacy.ecs = EcsMode::Pass;
  House house(settings);
  const Octets good = {0, 1, 24, 0, 192, 0, 2};
  house.submit(query().additional(opt(1232, 0, option(8, good))));
  CHECK(holds(house.group.asked.back().message, option(8, good)));
  for (const Octets& bad : {Octets{0, 1, 33, 0, 192, 0, 2, 1, 1}, Octets{0, 3, 0, 0}, Octets{0, 1, 20, 0, 192, 0, 255},
                            Octets{0, 1, 24, 8, 192, 0, 2}, Octets{0}}) {
    house.submit(query().additional(opt(1232, 0, option(8, bad))));
    CHECK(rcode_of(house.last()) == 1);
  }
  CHECK(house.group.asked.size() == 1);
  house.submit(query());
  CHECK(house.group.asked.size() == 2);
}

TEST_CASE("in pass mode the resolver's scope comes back, if it is about the client's subnet") {
  const Octets sent = {0, 1, 24, 0, 192, 0, 2};
  const Octets scoped = {0, 1, 24, 16, 192, 0, 2};
  const auto reply_with = [&](EcsMode mode, const Octets& subnet, std::uint16_t size) {
    ResolverSettings settings = open_to_all();
    settings.privacy.ecs = mode;
    House house(settings);
    house.submit(query().additional(opt(size, 0, option(8, sent))));
    house.answer(house.group, response().answer(a(pointer(12))).additional(opt(1232, 0, option(10, {1}) + option(8, subnet))));
    return house.last();
  };
  CHECK(holds(reply_with(EcsMode::Pass, scoped, 1232), option(8, scoped)));
  CHECK_FALSE(holds(reply_with(EcsMode::Strip, scoped, 1232), be16(8) + be16(7)));
  CHECK_FALSE(holds(reply_with(EcsMode::Pass, {0, 1, 24, 16, 192, 0, 3}, 1232), be16(8) + be16(7)));
  CHECK_FALSE(holds(reply_with(EcsMode::Pass, {0, 1}, 1232), be16(8) + be16(2)));
}

TEST_CASE("too many waiting queries of one client: over UDP TC=1 and silence in turn") {
  ResolverSettings settings = open_to_all();
  settings.clients.pending = 2;
  House house(settings);
  for (int i = 0; i < 6; ++i) {
    house.submit(query());
  }
  CHECK(house.group.asked.size() == 2);
  CHECK(house.sink.replies.size() == 2);
  CHECK(std::ranges::all_of(house.sink.replies, has_tc));
  CHECK(house.last().size() == query().build().size());
  CHECK(house.sink.silent == 2);
  CHECK(house.counted("dohmux_dns_dropped_total{reason=\"rate_limited\"} 2"));
  house.client.peer = *Endpoint::parse("192.0.2.2:4000");
  house.submit(query());
  CHECK(house.group.asked.size() == 3);
}

TEST_CASE("each answer makes room for its client's next query") {
  ResolverSettings settings = open_to_all();
  settings.clients.pending = 1;
  House house(settings);
  for (int i = 0; i < 3; ++i) {
    house.submit(query());
    REQUIRE(house.group.asked.size() == 1);
    house.answer(house.group, response());
  }
  CHECK(house.sink.silent == 0);
}

TEST_CASE("too many waiting queries of one client over TCP: SERVFAIL, and what UDP does is nothing to it") {
  ResolverSettings settings = open_to_all();
  settings.clients.pending = 1;
  House house(settings);
  house.submit(query());
  house.client.protocol = Protocol::Tcp;
  house.submit(query());
  CHECK(house.group.asked.size() == 2);
  house.submit(query());
  REQUIRE(house.sink.replies.size() == 1);
  CHECK(rcode_of(house.last()) == 2);
}

TEST_CASE("queries a second: local answers count too, loopback does not") {
  ResolverSettings settings = open_to_all();
  settings.clients.per_second = 2;
  House house(settings);
  for (int i = 0; i < 5; ++i) {
    house.submit(query("a.test"));
  }
  CHECK(std::ranges::count_if(house.sink.replies, has_tc) == 2);
  CHECK(house.sink.replies.size() == 4);
  house.scheduler.advance(1s);
  house.submit(query("a.test"));
  CHECK(rcode_of(house.last()) == 3);
  house.client.peer = *Endpoint::parse("127.0.0.1:4000");
  for (int i = 0; i < 20; ++i) {
    house.submit(query("a.test"));
    CHECK(rcode_of(house.last()) == 3);
  }
}

TEST_CASE("a broken query counts against the rate as any other") {
  ResolverSettings settings = open_to_all();
  settings.clients.per_second = 1;
  House house(settings);
  house.submit(query().raw({1, 2, 3}));
  CHECK(rcode_of(house.last()) == 1);
  house.submit(query().raw({1, 2, 3}));
  CHECK(has_tc(house.last()));
}

TEST_CASE("old answers are sent, but not to one who lets many wait over UDP") {
  const auto replies_to = [](const char* peer, Protocol protocol, int waiting) {
    House house;
    house.client.peer = *Endpoint::parse(peer);
    house.client.protocol = protocol;
    for (int i = 0; i < waiting; ++i) {
      house.submit(query());
    }
    house.scheduler.advance(1950ms);
    house.answer(house.group, response());
    CHECK(house.sink.silent + static_cast<int>(house.sink.replies.size()) == 1);
    CHECK(house.counted("reason=\"late\"} " + std::to_string(house.sink.silent)));
    return house.sink.replies.size();
  };
  CHECK(replies_to("192.0.2.1:4000", Protocol::Udp, 32) == 1);
  CHECK(replies_to("192.0.2.1:4000", Protocol::Udp, 33) == 0);
  CHECK(replies_to("192.0.2.1:4000", Protocol::Tcp, 33) == 1);
  CHECK(replies_to("127.0.0.1:4000", Protocol::Udp, 33) == 1);
}

TEST_CASE("accepted queries are the sum of their outcomes, limits and local answers included") {
  ResolverSettings settings = with_routes();
  settings.clients.pending = 2;
  settings.clients.per_second = 7;
  House house(settings);
  for (int i = 0; i < 6; ++i) {
    house.submit(query(i % 2 == 0 ? "www.example.org" : "router.lan"));
  }
  house.submit(query("a.corp.example"));
  house.submit(query("late.example.org"));
  house.submit(query("late.example.org"));
  house.resolver.abandon_all();
  CHECK(house.sink.replies.size() + static_cast<std::size_t>(house.sink.silent) == 9);
  CHECK(house.resolver.in_flight() == 0);
}
