// TTLs of answers that an HTTP cache kept for a while (RFC 8484 §5.1).
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

/// The reply when the answer has an A with a TTL of 300 and the HTTP response this Age.
Bytes reply_of_age(std::chrono::seconds age) {
  ResolverSettings settings;
  settings.allow = {*Prefix::parse("0.0.0.0/0")};
  settings.query_timeout = 4500ms;
  settings.max_in_flight = 10;
  FakeScheduler scheduler;
  FakeExchanger group;
  RecordingSink sink;
  stats::Metrics metrics{{"r1"}, {"p1"}};
  Resolver resolver(scheduler, {{.exchanger = &group}}, metrics, settings);
  Client client;
  client.via = &sink;
  client.peer = *Endpoint::parse("192.0.2.1:4000");
  resolver.submit(client, query().build());
  auto done = std::move(group.asked.front().done);
  done(upstream::Answer{.message = response().answer(a(pointer(12), 300)).build(), .age = age});
  return sink.replies.back();
}

bool has_ttl(const Bytes& reply, std::uint8_t high, std::uint8_t low) {
  const Octets record = {0xc0, 12, 0, 1, 0, 1, 0, 0, high, low};
  return !std::ranges::search(reply, record).empty();
}

}  // namespace

TEST_CASE("D10 an answer's TTLs are lower by the Age of its HTTP response, and never below 0") {
  CHECK(has_ttl(reply_of_age(0s), 1, 44));
  CHECK(has_ttl(reply_of_age(50s), 0, 250));
  CHECK(has_ttl(reply_of_age(300s), 0, 0));
  CHECK(has_ttl(reply_of_age(86400s), 0, 0));
}
