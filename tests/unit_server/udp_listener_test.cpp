// Datagrams over real loopback sockets.
#include "server/udp_listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "unit_server/support.h"

using namespace std::chrono_literals;
using dohmux::Bytes;
using dohmux::ByteView;
using dohmux::Client;
using dohmux::Endpoint;
using dohmux::Family;
using dohmux::IpAddress;
using dohmux::Protocol;
using dohmux::SocketAddress;
using dohmux::UniqueFd;
using dohmux::event::Loop;
using dohmux::server::bind_dns;
using dohmux::server::UdpListener;
using dohmux::test::any_port;
using dohmux::test::id_of;
using dohmux::test::message;
using dohmux::test::pump_for;
using dohmux::test::pump_until;
using dohmux::test::TestSink;

namespace {

struct Received {
  Endpoint from;
  Bytes octets;
};

class UdpClient {
 public:
  explicit UdpClient(const Endpoint& mine)
      : fd_(::socket(mine.address.family == Family::V4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const SocketAddress address = to_sockaddr(mine);
    bound_ = ::bind(fd_.get(), address.get(), address.length) == 0;
    const int large = 4 << 20;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &large, sizeof large);
  }
  bool send(const Endpoint& server, ByteView octets) {
    const SocketAddress to = to_sockaddr(server);
    return ::sendto(fd_.get(), octets.data(), octets.size(), 0, to.get(), to.length) == static_cast<ssize_t>(octets.size());
  }
  std::optional<Received> receive() {
    Bytes octets(65536);
    SocketAddress from;
    from.length = sizeof from.storage;
    const ssize_t count =
        ::recvfrom(fd_.get(), octets.data(), octets.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from.storage), &from.length);
    if (count < 0) {
      return std::nullopt;
    }
    octets.resize(static_cast<std::size_t>(count));
    return Received{.from = dohmux::from_sockaddr(from.get()).value_or(Endpoint{}), .octets = std::move(octets)};
  }
  [[nodiscard]] bool bound() const { return bound_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  bool bound_ = false;
};

Endpoint at(const char* address, std::uint16_t port) {
  return Endpoint{.address = *IpAddress::parse(address), .port = port};
}

struct Fixture {
  explicit Fixture(const char* address = "127.0.0.1") : listener(loop, std::move(bind_dns(any_port(address))->udp), sink) {}

  std::optional<Received> ask(UdpClient& client, const Endpoint& server, ByteView octets) {
    REQUIRE(client.send(server, octets));
    std::optional<Received> answer;
    pump_until(
        loop,
        [&] {
          answer = client.receive();
          return answer.has_value();
        },
        3s);
    return answer;
  }

  Loop loop;
  TestSink sink;
  UdpListener listener;
};

}  // namespace

TEST_CASE("udp: a datagram in, the reply out; inline and later") {
  Fixture f;
  UdpClient client(any_port("127.0.0.1"));
  f.sink.echo_at_once();
  auto answer = f.ask(client, f.listener.endpoint(), message(7));
  REQUIRE(answer.has_value());
  CHECK(answer->octets == message(7));
  CHECK(answer->from == f.listener.endpoint());
  CHECK(f.sink.asked.at(0).client.protocol == Protocol::Udp);
  CHECK(f.sink.asked.at(0).client.local == f.listener.endpoint().address);

  f.sink.on_query = nullptr;
  REQUIRE(client.send(f.listener.endpoint(), message(8)));
  REQUIRE(pump_until(f.loop, [&] { return f.sink.asked.size() == 2; }));
  f.sink.echo(1);
  REQUIRE(pump_until(f.loop, [&] {
    answer = client.receive();
    return answer.has_value();
  }));
  CHECK(id_of(answer->octets) == 8);
  CHECK(f.listener.counters().queries == 2);
  CHECK(f.listener.counters().replies == 2);
}

TEST_CASE("udp: on a wildcard socket the reply leaves from the address that was asked") {
  for (const char* wildcard : {"0.0.0.0", "::"}) {
    if (!bind_dns(any_port(wildcard)).has_value()) {
      continue;
    }
    Fixture f(wildcard);
    f.sink.echo_at_once();
    const bool v4 = f.listener.endpoint().address.family == Family::V4;
    UdpClient client(any_port(wildcard));
    const std::array<const char*, 3> v4_addresses{"127.0.0.1", "127.0.0.2", "127.44.5.6"};
    const std::array<const char*, 1> v6_addresses{"::1"};
    const std::span<const char* const> addresses =
        v4 ? std::span<const char* const>(v4_addresses) : std::span<const char* const>(v6_addresses);
    for (const char* address : addresses) {
      const Endpoint asked = at(address, f.listener.endpoint().port);
      const auto answer = f.ask(client, asked, message(3));
      REQUIRE(answer.has_value());
      CHECK(answer->from == asked);
      CHECK(f.sink.asked.back().client.local == asked.address);
      CHECK(f.sink.asked.back().client.interface != 0);
    }
  }
}

TEST_CASE("udp: a burst of 1000 datagrams: each is answered, in batches") {
  Fixture f;
  f.sink.echo_at_once();
  UdpClient client(any_port("127.0.0.1"));
  std::set<std::uint16_t> answered;
  const auto drain = [&] {
    while (const auto answer = client.receive()) {
      answered.insert(id_of(answer->octets));
    }
    return answered.size() == 1000;
  };
  for (std::uint16_t id = 0; id < 1000; ++id) {
    REQUIRE(client.send(f.listener.endpoint(), message(id)));
  }
  CHECK(pump_until(f.loop, drain));
  CHECK(f.listener.counters().queries == 1000);
  CHECK(f.listener.counters().replies == 1000);
  CHECK(f.listener.counters().dropped_replies == 0);
  CHECK(f.listener.kernel_drops() == 0);
}

TEST_CASE("udp: source ports that must not be answered, and our own address") {
  Fixture f;
  f.sink.echo_at_once();
  int sent = 0;
  for (const std::uint16_t port : std::array<std::uint16_t, 5>{7, 13, 19, 37, 464}) {
    UdpClient client(at("127.0.0.1", port));
    if (!client.bound()) {
      continue;  // needs a privilege
    }
    ++sent;
    REQUIRE(client.send(f.listener.endpoint(), message(1)));
    pump_until(f.loop, [&] { return f.listener.counters().dropped_ports == static_cast<std::uint64_t>(sent); }, 3s);
    CHECK_FALSE(client.receive().has_value());
  }
  CHECK(f.listener.counters().dropped_ports == static_cast<std::uint64_t>(sent));

  // A datagram that claims to come from the listener itself: sent by the listener.
  const Client self{.via = &f.listener, .peer = f.listener.endpoint(), .local = f.listener.endpoint().address};
  f.listener.reply(self, message(2));
  CHECK(pump_until(f.loop, [&] { return f.listener.counters().dropped_ports == static_cast<std::uint64_t>(sent) + 1; }));
  CHECK(f.sink.asked.empty());
}

TEST_CASE("udp: sizes: empty and short ones reach the sink whole, huge ones are dropped, large ones pass") {
  Fixture f;
  UdpClient client(any_port("127.0.0.1"));
  REQUIRE(client.send(f.listener.endpoint(), Bytes()));
  REQUIRE(client.send(f.listener.endpoint(), Bytes(3, 'x')));
  REQUIRE(client.send(f.listener.endpoint(), Bytes(8193, 'x')));
  REQUIRE(client.send(f.listener.endpoint(), Bytes(8192, 'x')));
  REQUIRE(pump_until(f.loop, [&] { return f.sink.asked.size() == 3; }));
  CHECK(f.sink.asked[0].octets.empty());
  CHECK(f.sink.asked[1].octets.size() == 3);
  CHECK(f.sink.asked[2].octets.size() == 8192);
  CHECK(f.listener.counters().dropped_large == 1);
}

TEST_CASE("udp: a client that has gone (ICMP port unreachable) harms nobody") {
  Fixture f;
  f.sink.echo_at_once();
  for (std::uint16_t i = 0; i < 20; ++i) {
    UdpClient gone(any_port("127.0.0.1"));
    REQUIRE(gone.send(f.listener.endpoint(), message(i)));
  }
  REQUIRE(pump_until(f.loop, [&] { return f.sink.asked.size() == 20; }));
  UdpClient client(any_port("127.0.0.1"));
  CHECK(f.ask(client, f.listener.endpoint(), message(99)).has_value());
}

TEST_CASE("udp: a reply that cannot be sent is counted and does not hold up the others of its batch") {
  Fixture f;
  UdpClient client(any_port("127.0.0.1"));
  REQUIRE(client.send(f.listener.endpoint(), message(1)));
  REQUIRE(pump_until(f.loop, [&] { return f.sink.asked.size() == 1; }));
  const Client good = f.sink.asked[0].client;
  Client bad = good;
  bad.local = *IpAddress::parse("192.0.2.77");  // not ours: EINVAL
  f.listener.reply(good, message(1));
  f.listener.reply(bad, message(2));
  f.listener.reply(good, Bytes(65535, 'x'));  // above what UDP over IPv4 can carry: EMSGSIZE
  f.listener.reply(good, message(3));
  std::vector<std::uint16_t> ids;
  REQUIRE(pump_until(f.loop, [&] {
    while (const auto answer = client.receive()) {
      ids.push_back(id_of(answer->octets));
    }
    return ids.size() == 2;
  }));
  CHECK(ids == std::vector<std::uint16_t>{1, 3});
  CHECK(f.listener.counters().dropped_replies == 2);
}

TEST_CASE("udp: stop_reading takes what has arrived, then nothing; replies still leave; flush sends them without the loop") {
  Fixture f;
  UdpClient client(any_port("127.0.0.1"));
  for (std::uint16_t id = 0; id < 300; ++id) {
    REQUIRE(client.send(f.listener.endpoint(), message(id)));
  }
  f.listener.stop_reading();
  CHECK(f.sink.asked.size() == 300);
  REQUIRE(client.send(f.listener.endpoint(), message(999)));
  pump_for(f.loop, 10ms);
  CHECK(f.sink.asked.size() == 300);
  for (std::size_t i = 0; i < 300; ++i) {
    f.sink.echo(i);
  }
  f.listener.flush();
  std::size_t answers = 0;
  while (client.receive()) {
    ++answers;
  }
  CHECK(answers == 300);
}

TEST_CASE("udp: a listener may die with replies waiting and queries unread") {
  Loop loop;
  TestSink sink;
  sink.echo_at_once();
  auto listener = std::make_unique<UdpListener>(loop, std::move(bind_dns(any_port("127.0.0.1"))->udp), sink);
  UdpClient client(any_port("127.0.0.1"));
  REQUIRE(client.send(listener->endpoint(), message(1)));
  REQUIRE(client.send(listener->endpoint(), message(2)));
  sink.on_query = [&](const Client& who, ByteView octets) { who.via->reply(who, octets); };
  REQUIRE(pump_until(loop, [&] { return !sink.asked.empty(); }));
  listener->reply(sink.asked[0].client, message(5));
  listener.reset();
  loop.run();
  SUCCEED();
}

TEST_CASE("udp: queries go to the new sink after set_sink") {
  Fixture f;
  TestSink other;
  f.listener.set_sink(other);
  UdpClient client(any_port("127.0.0.1"));
  REQUIRE(client.send(f.listener.endpoint(), message(1)));
  CHECK(pump_until(f.loop, [&] { return other.asked.size() == 1; }));
  CHECK(f.sink.asked.empty());
}

TEST_CASE("udp: the granted receive buffer is known") {
  const Fixture f;
  CHECK(f.listener.receive_buffer() > 0);
  CHECK(f.listener.receive_buffer() <= UdpListener::kWantedReceiveBuffer);
}
