// Pending queries and queries a second per client network; the table stays bounded.
#include "resolver/client_limits.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using namespace dohmux;
using namespace std::chrono_literals;

namespace {

Client from(const std::string& address, Protocol protocol = Protocol::Udp) {
  Client client;
  client.peer = {*IpAddress::parse(address), 4000};
  client.protocol = protocol;
  return client;
}

constexpr TimePoint kStart{1h};

std::vector<Excess> arrivals(ClientLimits& limits, const Client& client, TimePoint now, int count) {
  std::vector<Excess> seen;
  for (int i = 0; i < count; ++i) {
    seen.push_back(limits.arrive(client, now));
  }
  return seen;
}

}  // namespace

TEST_CASE("client limits: one second's worth at once, then as many as time brings") {
  ClientLimits limits({.pending = 1, .per_second = 4});
  const Client client = from("192.0.2.1");
  using enum Excess;
  CHECK(arrivals(limits, client, kStart, 7) == std::vector{None, None, None, None, Slip, Drop, Slip});
  CHECK(arrivals(limits, client, kStart + 250ms, 2) == std::vector{None, Drop});
  CHECK(arrivals(limits, client, kStart + 750ms, 3) == std::vector{None, None, Slip});
  CHECK(arrivals(limits, client, kStart + 10s, 5) == std::vector{None, None, None, None, Drop});
}

TEST_CASE("client limits: no rate, no limit and no memory") {
  ClientLimits limits({.pending = 1, .per_second = 0});
  CHECK(arrivals(limits, from("192.0.2.1"), kStart, 1000) == std::vector(1000, Excess::None));
  CHECK(limits.rows() == 0);
}

TEST_CASE("client limits: a /32 and a /56 are one client each, UDP and TCP apart") {
  ClientLimits limits({.pending = 1, .per_second = 1});
  CHECK(limits.arrive(from("192.0.2.1"), kStart) == Excess::None);
  CHECK(limits.arrive(from("192.0.2.1"), kStart) != Excess::None);
  CHECK(limits.arrive(from("192.0.2.2"), kStart) == Excess::None);
  CHECK(limits.arrive(from("192.0.2.1", Protocol::Tcp), kStart) == Excess::None);
  CHECK(limits.arrive(from("::ffff:192.0.2.1"), kStart) != Excess::None);
  CHECK(limits.arrive(from("2001:db8:0:aa00::1"), kStart) == Excess::None);
  CHECK(limits.arrive(from("2001:db8:0:aaff:1::2"), kStart) != Excess::None);
  CHECK(limits.arrive(from("2001:db8:0:ab00::1"), kStart) == Excess::None);
}

TEST_CASE("client limits: so many may wait; each that is settled makes room") {
  ClientLimits limits({.pending = 2, .per_second = 0});
  const Client client = from("192.0.2.1");
  CHECK(limits.wait(client) == Excess::None);
  CHECK(limits.wait(client) == Excess::None);
  CHECK(limits.waiting(client) == 2);
  CHECK(limits.wait(client) == Excess::Slip);
  CHECK(limits.wait(client) == Excess::Drop);
  CHECK(limits.wait(from("192.0.2.9")) == Excess::None);
  CHECK(limits.wait(from("192.0.2.1", Protocol::Tcp)) == Excess::None);
  limits.settle(client);
  CHECK(limits.waiting(client) == 1);
  CHECK(limits.wait(client) == Excess::None);
}

TEST_CASE("client limits: loopback is exempt and leaves no trace") {
  ClientLimits limits({.pending = 1, .per_second = 1});
  for (const char* address : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    const Client client = from(address);
    for (int i = 0; i < 5; ++i) {
      CHECK(limits.arrive(client, kStart) == Excess::None);
      CHECK(limits.wait(client) == Excess::None);
    }
    limits.settle(client);
    CHECK(limits.waiting(client) == 0);
  }
  CHECK(limits.rows() == 0);
}

TEST_CASE("client limits: settling what never waited changes nothing") {
  ClientLimits limits({.pending = 1, .per_second = 1});
  limits.settle(from("192.0.2.1"));
  CHECK(limits.arrive(from("192.0.2.1"), kStart) == Excess::None);
  limits.settle(from("192.0.2.1"));
  CHECK(limits.wait(from("192.0.2.1")) == Excess::None);
}

TEST_CASE("client limits: the table keeps the clients that wait and the latest others") {
  ClientLimits limits({.pending = 9, .per_second = 1, .remembered = 3});
  CHECK(limits.wait(from("192.0.2.1")) == Excess::None);
  for (int i = 2; i < 200; ++i) {
    CHECK(limits.arrive(from("192.0.2." + std::to_string(i)), kStart) == Excess::None);
    if (i > 3) {
      CHECK(limits.arrive(from("192.0.2.3"), kStart) != Excess::None);  // asked often: stays
    }
  }
  CHECK(limits.rows() == 4);
  CHECK(limits.waiting(from("192.0.2.1")) == 1);
  CHECK(limits.arrive(from("192.0.2.5"), kStart) == Excess::None);  // forgotten
  for (int i = 10; i < 20; ++i) {
    CHECK(limits.wait(from("198.51.100." + std::to_string(i))) == Excess::None);
  }
  CHECK(limits.rows() == 13);  // 11 wait; making room for a new row cost one of the others
  for (int i = 10; i < 20; ++i) {
    limits.settle(from("198.51.100." + std::to_string(i)));
  }
  CHECK(limits.rows() == 4);
}
