// edns-tcp-keepalive (RFC 7828): who is told how long a connection may idle.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "fakes/fake_exchanger.h"
#include "fakes/fake_scheduler.h"
#include "resolver/resolver.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

bool told(const Bytes& reply) {
  const Octets hundred = option(11, be16(100));  // 10 s
  return !std::ranges::search(reply, hundred).empty();
}

/// The reply to one query that is answered here, by the resolver, or with an error.
Bytes reply_to(Protocol protocol, const MessageBuilder& message) {
  ResolverSettings settings;
  settings.allow = {*Prefix::parse("0.0.0.0/0")};
  settings.query_timeout = 4500ms;
  settings.max_in_flight = 10;
  settings.tcp_idle = 10s;
  FakeScheduler scheduler;
  FakeExchanger group;
  RecordingSink sink;
  stats::Metrics metrics{{"r1"}, {"p1"}};
  Resolver resolver(scheduler, {{.exchanger = &group}}, metrics, settings);
  Client client;
  client.via = &sink;
  client.protocol = protocol;
  client.peer = *Endpoint::parse("192.0.2.1:4000");
  resolver.submit(client, message.build());
  if (!group.asked.empty()) {
    auto done = std::move(group.asked.front().done);
    done(upstream::Answer{.message = response().answer(a(pointer(12))).additional(opt(1232, 0, option(11, be16(7)))).build()});
  }
  return sink.replies.empty() ? Bytes{} : sink.replies.back();
}

}  // namespace

TEST_CASE("E13 keepalive: told over TCP to those who ask, on answers, local answers and errors") {
  CHECK(told(reply_to(Protocol::Tcp, query().additional(opt(1232, 0, option(11, {}))))));
  CHECK(told(reply_to(Protocol::Tcp, query("localhost").additional(opt(1232, 0, option(11, {}))))));
  CHECK(told(reply_to(Protocol::Tcp, query("www.example.org", 252).additional(opt(1232, 0, option(11, {}))))));
}

TEST_CASE("E12 keepalive: not over UDP, not unasked, not to a client without OPT") {
  CHECK_FALSE(told(reply_to(Protocol::Udp, query().additional(opt(1232, 0, option(11, {}))))));
  CHECK_FALSE(told(reply_to(Protocol::Tcp, query().additional(opt(1232)))));
  CHECK_FALSE(told(reply_to(Protocol::Tcp, query())));
}
