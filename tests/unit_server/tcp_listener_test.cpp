// Connections over real loopback sockets: order, limits, time limits, half-close, drain.
#include "server/tcp_listener.h"

#include <ifaddrs.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "unit_server/support.h"

using namespace std::chrono_literals;
using dohmux::Bytes;
using dohmux::ByteView;
using dohmux::Client;
using dohmux::Duration;
using dohmux::event::Loop;
using dohmux::server::bind_tcp;
using dohmux::server::TcpLimits;
using dohmux::server::TcpListener;
using dohmux::test::any_port;
using dohmux::test::append_framed;
using dohmux::test::framed;
using dohmux::test::id_of;
using dohmux::test::ids_of;
using dohmux::test::message;
using dohmux::test::pump_for;
using dohmux::test::pump_until;
using dohmux::test::TcpClient;
using dohmux::test::TestSink;
using dohmux::test::unframe;

namespace {

struct Fixture {
  explicit Fixture(const TcpLimits& limits = {}, const char* address = "127.0.0.1")
      : listener(std::make_unique<TcpListener>(loop, std::move(*bind_tcp(any_port(address))), sink, limits)) {}

  TcpClient connect(const char* from = nullptr, int receive_buffer = 0) {
    return TcpClient(dohmux::Endpoint{.address = target, .port = listener->endpoint().port}, from, receive_buffer);
  }
  bool asked(std::size_t count) {
    return pump_until(loop, [&] { return sink.asked.size() >= count; });
  }
  bool answers(TcpClient& client, std::size_t count) {
    return pump_until(loop, [&] { return unframe(client.received()).size() >= count; });
  }
  bool ends(TcpClient& client) {
    return pump_until(loop, [&] { return client.ended(); });
  }
  bool open(std::size_t count) {
    return pump_until(loop, [&] { return listener->open_connections() == count; });
  }

  dohmux::IpAddress target = *dohmux::IpAddress::parse("127.0.0.1");
  Loop loop;
  TestSink sink;
  std::unique_ptr<TcpListener> listener;
};

std::vector<std::uint16_t> sequence(std::uint16_t count) {
  std::vector<std::uint16_t> ids(count);
  for (std::uint16_t i = 0; i < count; ++i) {
    ids[i] = i;
  }
  return ids;
}

// An IPv4 address of this host that is not loopback; what is sent to it does not leave the host.
std::optional<dohmux::IpAddress> own_address() {
  std::optional<dohmux::IpAddress> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return found;
  }
  for (const ifaddrs* one = all; one != nullptr && !found; one = one->ifa_next) {
    const auto endpoint = dohmux::from_sockaddr(one->ifa_addr);
    if (endpoint && endpoint->address.family == dohmux::Family::V4 && !endpoint->address.is_loopback()) {
      found = endpoint->address;
    }
  }
  ::freeifaddrs(all);
  return found;
}

}  // namespace

TEST_CASE("tcp: split at every octet (C1)") {
  Fixture f;
  f.sink.echo_at_once();
  auto client = f.connect();
  const Bytes query = framed(5);
  for (std::size_t split = 1; split < query.size(); ++split) {
    REQUIRE(client.send(ByteView(query).subspan(0, split)));
    pump_for(f.loop, 1ms);
    REQUIRE(client.send(ByteView(query).subspan(split)));
    REQUIRE(f.answers(client, split));
  }
}

TEST_CASE("tcp: octet by octet") {
  Fixture f;
  f.sink.echo_at_once();
  auto client = f.connect();
  for (const std::uint8_t octet : framed(5)) {
    REQUIRE(client.send(ByteView(&octet, 1)));
    pump_for(f.loop, 1ms);
  }
  CHECK(f.answers(client, 1));
}

TEST_CASE("tcp: 100 queries in one segment, answered at once: 100 answers (C2)") {
  Fixture f;
  f.sink.echo_at_once();
  auto client = f.connect();
  Bytes segment;
  for (std::uint16_t id = 0; id < 100; ++id) {
    append_framed(segment, message(id));
  }
  REQUIRE(client.send(segment));
  REQUIRE(f.answers(client, 100));
  CHECK(ids_of(unframe(client.received())) == sequence(100));
}

TEST_CASE("tcp: answers leave in the order in which they come; equal ids do not matter (C3, C4)") {
  Fixture f;
  auto client = f.connect();
  Bytes segment = framed(1);
  append_framed(segment, message(2));
  append_framed(segment, message(2, 40));
  REQUIRE(client.send(segment));
  REQUIRE(f.asked(3));
  f.sink.echo(2);
  f.sink.echo(1);
  REQUIRE(f.answers(client, 2));
  f.sink.echo(0);
  REQUIRE(f.answers(client, 3));
  CHECK(ids_of(unframe(client.received())) == std::vector<std::uint16_t>{2, 2, 1});
  CHECK(unframe(client.received())[0] == message(2, 40));
}

TEST_CASE("tcp: the largest message both ways") {
  Fixture f;
  f.sink.echo_at_once();
  auto client = f.connect();
  REQUIRE(client.send(framed(3, 65535)));
  REQUIRE(f.answers(client, 1));
  CHECK(unframe(client.received())[0] == message(3, 65535));
}

TEST_CASE("tcp: a client that leaves or resets with queries pending (C5)") {
  Fixture f;
  auto leaver = f.connect();
  auto resetter = f.connect();
  REQUIRE(leaver.send(framed(1)));
  REQUIRE(resetter.send(framed(2)));
  REQUIRE(f.asked(2));
  leaver.close();
  resetter.reset();
  REQUIRE(f.open(1));  // the one that closed may have only half-closed, for all we know
  f.sink.echo(0);
  f.sink.echo(1);
  REQUIRE(f.open(0));
  CHECK(f.listener->counters().late_replies == 1);
}

TEST_CASE("tcp: half-close: all answers still come, then the end (C6)") {
  Fixture f;
  auto client = f.connect();
  Bytes segment;
  for (std::uint16_t id = 0; id < 3; ++id) {
    append_framed(segment, message(id));
  }
  REQUIRE(client.send(segment));
  client.finish();
  REQUIRE(f.asked(3));
  pump_for(f.loop, 10ms);
  CHECK_FALSE(client.ended());
  f.sink.echo(0);
  f.sink.asked[1].client.via->no_reply(f.sink.asked[1].client);
  pump_for(f.loop, 10ms);
  CHECK_FALSE(client.ended());
  f.sink.echo(2);
  REQUIRE(f.ends(client));
  CHECK(ids_of(unframe(client.received())) == std::vector<std::uint16_t>{0, 2});
}

TEST_CASE("tcp: half-close with inline answers, and with half a query") {
  Fixture f;
  f.sink.echo_at_once();
  auto client = f.connect();
  Bytes octets = framed(1);
  octets.push_back(0);
  REQUIRE(client.send(octets));
  client.finish();
  REQUIRE(f.ends(client));
  CHECK(unframe(client.received()).size() == 1);
  CHECK(f.listener->open_connections() == 0);
}

TEST_CASE("tcp: lengths below a header close the connection (C7)") {
  Fixture f;
  for (const std::uint8_t length : {std::uint8_t{0}, std::uint8_t{11}}) {
    auto client = f.connect();
    REQUIRE(client.send(Bytes{0, length}));
    CHECK(f.ends(client));
  }
  CHECK(f.listener->counters().broken == 2);
  CHECK(f.sink.asked.empty());
}

TEST_CASE("tcp: an idle connection is closed, one that waits for its answer is not (C8)") {
  Fixture f({.idle = 60ms});
  auto idle = f.connect();
  auto busy = f.connect();
  REQUIRE(busy.send(framed(1)));
  REQUIRE(f.asked(1));
  REQUIRE(f.ends(idle));
  pump_for(f.loop, 100ms);
  CHECK_FALSE(busy.ended());
  f.sink.echo(0);
  REQUIRE(f.ends(busy));
  CHECK(unframe(busy.received()).size() == 1);
  CHECK(f.listener->counters().idle_timeouts == 2);
}

TEST_CASE("tcp: dribbling a message does not keep a connection alive (C9)") {
  Fixture f({.idle = 10s, .frame = 60ms});
  auto client = f.connect();
  const Bytes query = framed(1, 4000);
  std::size_t sent = 0;
  CHECK(pump_until(f.loop, [&] {
    if (!client.ended() && sent < query.size()) {
      client.send(ByteView(query).subspan(sent++, 1));
    }
    return client.ended();
  }));
  CHECK(sent < query.size());
  CHECK(f.listener->counters().frame_timeouts == 1);
}

TEST_CASE("tcp: the frame limit counts from the message's own beginning") {
  Fixture f({.idle = 10s, .frame = 500ms});
  f.sink.echo_at_once();
  auto client = f.connect();
  Bytes tail;  // each piece ends one message and begins the next: there is always a partial one
  for (std::uint16_t id = 0; id < 10; ++id) {
    Bytes piece = tail;
    const Bytes query = framed(id);
    piece.insert(piece.end(), query.begin(), query.begin() + 10);
    tail.assign(query.begin() + 10, query.end());
    REQUIRE(client.send(piece));
    pump_for(f.loop, 60ms);
  }
  CHECK(unframe(client.received()).size() == 9);
  CHECK(f.listener->counters().frame_timeouts == 0);
}

TEST_CASE("tcp: full: the oldest idle connection makes room; busy ones stay (C10)") {
  Fixture f({.connections = 3});
  auto busy = f.connect();
  REQUIRE(busy.send(framed(1)));
  REQUIRE(f.asked(1));
  auto older = f.connect();
  REQUIRE(f.open(2));
  auto newer = f.connect();
  REQUIRE(f.open(3));
  auto late = f.connect();
  REQUIRE(f.ends(older));
  REQUIRE(late.send(framed(2)));
  REQUIRE(f.asked(2));
  CHECK_FALSE(newer.ended());
  CHECK_FALSE(busy.ended());
  CHECK(f.listener->counters().evicted == 1);
  REQUIRE(newer.send(framed(3)));
  REQUIRE(f.asked(3));
  auto too_late = f.connect();  // all three are busy
  REQUIRE(f.ends(too_late));
  CHECK(f.listener->counters().refused == 1);
}

TEST_CASE("tcp: a thousand idle connections are no obstacle") {
  Fixture f({.connections = 200});
  std::deque<TcpClient> idle;
  for (int i = 0; i < 400; ++i) {
    idle.push_back(f.connect());
    REQUIRE(idle.back().connected());
    if (i % 50 == 0) {
      pump_for(f.loop, 1ms);
    }
  }
  f.sink.echo_at_once();
  auto client = f.connect();
  REQUIRE(client.send(framed(1)));
  CHECK(f.answers(client, 1));
  CHECK(f.listener->open_connections() == 200);
  CHECK(f.listener->counters().evicted == 201);
}

TEST_CASE("tcp: the limit per address exempts loopback") {
  Fixture f({.connections_per_address = 2});
  std::deque<TcpClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(f.connect());
  }
  CHECK(f.open(5));
}

TEST_CASE("tcp: the limit per address: its own oldest idle connection gives way, other addresses are left alone") {
  const auto address = own_address();
  if (!address) {
    SKIP("no address here but loopback");
  }
  Fixture f({.connections_per_address = 2}, "0.0.0.0");
  auto neighbour = f.connect();
  REQUIRE(f.open(1));
  f.target = *address;
  auto first = f.connect();
  REQUIRE(f.open(2));
  auto second = f.connect();
  REQUIRE(f.open(3));
  auto third = f.connect();
  REQUIRE(f.ends(first));
  REQUIRE(second.send(framed(1)));
  REQUIRE(third.send(framed(2)));
  REQUIRE(f.asked(2));
  auto fourth = f.connect();
  REQUIRE(f.ends(fourth));
  CHECK_FALSE(neighbour.ended());
  CHECK(f.listener->counters().evicted == 1);
  CHECK(f.listener->counters().refused == 1);
}

TEST_CASE("tcp: a client that asks much is not read beyond its limit of unanswered queries (C11)") {
  Fixture f({.unanswered = 10});
  auto client = f.connect();
  Bytes segment;
  for (std::uint16_t id = 0; id < 50; ++id) {
    append_framed(segment, message(id));
  }
  REQUIRE(client.send(segment));
  REQUIRE(f.asked(10));
  pump_for(f.loop, 10ms);
  CHECK(f.sink.asked.size() == 10);
  for (std::size_t i = 0; i < 50; ++i) {
    REQUIRE(f.asked(i + 1));
    f.sink.echo(i);
    pump_for(f.loop, 0ms);
    CHECK(f.sink.asked.size() <= i + 11);
  }
  CHECK(f.answers(client, 50));
}

TEST_CASE("tcp: a paused client that half-closes still gets everything") {
  Fixture f({.unanswered = 4});
  auto client = f.connect();
  Bytes segment;
  for (std::uint16_t id = 0; id < 20; ++id) {
    append_framed(segment, message(id));
  }
  REQUIRE(client.send(segment));
  client.finish();
  for (std::size_t i = 0; i < 20; ++i) {
    REQUIRE(f.asked(i + 1));
    f.sink.echo(i);
  }
  REQUIRE(f.ends(client));
  CHECK(unframe(client.received()).size() == 20);
}

TEST_CASE("tcp: a client that never reads: bounded, then closed by the write limit (C11)") {
  Fixture f({.unsent_bytes = 100'000, .write = 200ms});
  std::uint64_t asked = 0;
  f.sink.on_query = [&](const Client& client, ByteView) {
    ++asked;
    f.sink.asked.clear();
    client.via->reply(client, message(1, 20'000));
  };
  auto client = f.connect(nullptr, 4096);
  Bytes segment;
  for (std::uint16_t id = 0; id < 1000; ++id) {
    append_framed(segment, message(id));
  }
  REQUIRE(client.send(segment));
  REQUIRE(pump_until(f.loop, [&] { return f.listener->open_connections() == 0 && f.listener->counters().accepted == 1; }));
  CHECK(f.listener->counters().write_timeouts == 1);
  CHECK(asked < 100);  // kernel buffers plus 100,000 octets, not 20 MB
}

TEST_CASE("tcp: a client that reads slowly is served, not closed") {
  constexpr auto kLimit = 300ms;
  Fixture f({.unsent_bytes = 100'000, .write = kLimit});
  f.sink.on_query = [](const Client& client, ByteView octets) { client.via->reply(client, message(id_of(octets), 30'000)); };
  auto client = f.connect(nullptr, 4096);
  Bytes segment;
  for (std::uint16_t id = 0; id < 30; ++id) {
    append_framed(segment, message(id));
  }
  REQUIRE(client.send(segment));
  const auto start = f.loop.now();
  while (f.loop.now() - start < 3 * kLimit) {
    client.take(10'000);
    pump_for(f.loop, 20ms);
  }
  CHECK(f.listener->open_connections() == 1);
  REQUIRE(f.answers(client, 30));
  CHECK(ids_of(unframe(client.received())) == sequence(30));
  CHECK(f.listener->counters().write_timeouts == 0);
}

TEST_CASE("tcp: draining: nothing new, answers under way still leave, then each connection ends") {
  Fixture f;
  auto idle = f.connect();
  auto busy = f.connect();
  REQUIRE(busy.send(framed(1)));
  REQUIRE(f.asked(1));
  f.listener->stop_reading();
  f.listener->stop_reading();
  REQUIRE(f.ends(idle));
  CHECK_FALSE(f.connect().connected());
  REQUIRE(busy.send(framed(2)));
  pump_for(f.loop, 10ms);
  CHECK(f.sink.asked.size() == 1);
  f.sink.echo(0);
  f.listener->flush();
  CHECK(f.listener->open_connections() == 0);
  REQUIRE(f.ends(busy));
  CHECK(ids_of(unframe(busy.received())) == std::vector<std::uint16_t>{1});  // although the second query was never read
  CHECK_FALSE(busy.was_reset());
}

TEST_CASE("tcp: stop_reading and the listener's end inside submit and with everything under way") {
  Fixture f;
  f.sink.on_query = [&](const Client& client, ByteView octets) {
    client.via->reply(client, octets);
    f.listener->stop_reading();
  };
  auto client = f.connect();
  Bytes segment = framed(1);
  append_framed(segment, message(2));
  REQUIRE(client.send(segment));
  REQUIRE(f.ends(client));
  CHECK(unframe(client.received()).size() == 1);

  Fixture g;
  std::deque<TcpClient> clients;
  for (std::uint16_t id = 0; id < 20; ++id) {
    clients.push_back(g.connect(nullptr, 4096));
    clients.back().send(framed(id));
  }
  REQUIRE(g.asked(20));
  for (std::size_t i = 0; i < 20; ++i) {
    for (int n = 0; n < 40; ++n) {
      g.sink.asked[i].client.via->reply(g.sink.asked[i].client, message(1, 60'000));
    }
  }
  g.listener.reset();
  for (TcpClient& each : clients) {
    CHECK(g.ends(each));
  }
}

TEST_CASE("tcp: many clients at once, answers out of order, nothing lost or mixed up") {
  Fixture f;
  std::deque<TcpClient> clients;
  std::vector<Client> waiting;
  std::vector<Bytes> questions;
  f.sink.on_query = [&](const Client& client, ByteView octets) {
    waiting.push_back(client);
    questions.emplace_back(octets.begin(), octets.end());
  };
  for (int i = 0; i < 50; ++i) {
    clients.push_back(f.connect());
  }
  for (std::uint16_t round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      REQUIRE(clients[i].send(framed(static_cast<std::uint16_t>(i * 100 + round))));
    }
  }
  REQUIRE(pump_until(f.loop, [&] { return waiting.size() == 1000; }));
  for (std::size_t i = 1000; i-- > 0;) {
    waiting[i].via->reply(waiting[i], questions[i]);
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    REQUIRE(f.answers(clients[i], 20));
    auto ids = ids_of(unframe(clients[i].received()));
    CHECK(std::ranges::all_of(ids, [&](std::uint16_t id) { return id / 100 == i; }));
  }
  CHECK(f.listener->counters().queries == 1000);
  CHECK(f.listener->counters().replies == 1000);
}
