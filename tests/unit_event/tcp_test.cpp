// Streams and acceptors: order, lifetime, half-close, back-pressure, running out of descriptors.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/tcp_acceptor.h"
#include "event/tcp_stream.h"
#include "unit_event/pump.h"

using namespace std::chrono_literals;
using dohmux::Bytes;
using dohmux::ByteView;
using dohmux::Endpoint;
using dohmux::UniqueFd;
using dohmux::event::Loop;
using dohmux::event::TcpAcceptor;
using dohmux::event::TcpStream;
using dohmux::test::listen_anywhere;
using dohmux::test::local_endpoint;
using dohmux::test::pump_for;
using dohmux::test::pump_until;
using dohmux::test::TcpClient;

namespace {

// One accepted connection and what it has seen.
struct Server {
  Loop& loop;
  UniqueFd listening = listen_anywhere();
  Endpoint endpoint = local_endpoint(listening.get());
  std::optional<TcpStream> stream = std::nullopt;
  std::string heard = {};
  std::vector<int> ends = {};
  int drains = 0;
  std::optional<TcpAcceptor> acceptor = std::nullopt;

  void start() {
    acceptor.emplace(loop, std::move(listening), [this](UniqueFd fd, const Endpoint&) {
      stream.emplace(loop, std::move(fd),
                     TcpStream::Handlers{.data = [this](ByteView octets) { heard.append(octets.begin(), octets.end()); },
                                         .end = [this](int error) { ends.push_back(error); },
                                         .drained = [this] { ++drains; }});
      stream->start_reading();
    });
  }
};

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

}  // namespace

TEST_CASE("octets both ways, then the client's FIN, then ours") {
  Loop loop;
  Server server{.loop = loop};
  server.start();
  TcpClient client(server.endpoint);
  REQUIRE(client.send("hello"));
  REQUIRE(pump_until(loop, [&] { return server.heard == "hello"; }));
  server.stream->write(bytes_of("wel"));
  server.stream->write(bytes_of("come"));
  CHECK(server.stream->unsent() == 0);
  client.finish();
  REQUIRE(pump_until(loop, [&] { return !server.ends.empty(); }));
  CHECK(server.ends == std::vector<int>{0});
  server.stream->write(bytes_of("!"));  // a half-closed client still listens
  server.stream->finish();
  REQUIRE(pump_until(loop, [&] { return client.ended(); }));
  CHECK(client.text() == "welcome!");
  CHECK(server.ends.size() == 1);
}

TEST_CASE("what the kernel does not take is kept, counted, sent in order, and reported when gone") {
  Loop loop;
  Server server{.loop = loop};
  server.start();
  TcpClient client(server.endpoint, nullptr, 65536);
  REQUIRE(pump_until(loop, [&] { return server.stream.has_value(); }));
  constexpr std::size_t kChunk = 800'000;
  constexpr std::size_t kChunks = 10;
  for (std::size_t i = 0; i < kChunks; ++i) {
    server.stream->write(Bytes(kChunk, static_cast<std::uint8_t>('a' + i)));
  }
  CHECK(server.stream->unsent() > 0);
  CHECK(server.drains == 0);
  REQUIRE(pump_until(loop, [&] { return client.received().size() == kChunk * kChunks; }));
  REQUIRE(pump_until(loop, [&] { return server.drains == 1; }));
  CHECK(server.stream->unsent() == 0);
  CHECK(std::ranges::is_sorted(client.received()));
}

TEST_CASE("a stream with unsent octets can be destroyed; nothing is called afterwards") {
  Loop loop;
  Server server{.loop = loop};
  server.start();
  TcpClient client(server.endpoint, nullptr, 4096);
  REQUIRE(pump_until(loop, [&] { return server.stream.has_value(); }));
  server.stream->write(Bytes(8'000'000, 'x'));
  CHECK(server.stream->unsent() > 0);
  server.stream.reset();
  REQUIRE(pump_until(loop, [&] { return client.ended(); }));
  CHECK(server.drains == 0);
  CHECK(server.ends.empty());
}

TEST_CASE("a reset by the peer is an error, told once") {
  Loop loop;
  Server server{.loop = loop};
  server.start();
  TcpClient client(server.endpoint);
  REQUIRE(pump_until(loop, [&] { return server.stream.has_value(); }));
  client.reset();
  REQUIRE(pump_until(loop, [&] { return !server.ends.empty(); }));
  server.stream->write(bytes_of("too late"));
  server.stream->write(bytes_of("still"));
  pump_for(loop, 20ms);
  CHECK(server.ends == std::vector<int>{ECONNRESET});
}

TEST_CASE("writing to a peer that has gone after its FIN is reported, not inline") {
  Loop loop;
  Server server{.loop = loop};
  server.start();
  TcpClient client(server.endpoint);
  client.finish();
  REQUIRE(pump_until(loop, [&] { return server.ends.size() == 1; }));
  client.close();
  server.stream->write(bytes_of("first"));  // answered by a reset
  pump_for(loop, 20ms);
  server.stream->write(bytes_of("second"));
  CHECK(server.ends.size() == 1);
  REQUIRE(pump_until(loop, [&] { return server.ends.size() == 2; }));
  CHECK(server.ends.back() != 0);
}

TEST_CASE("a stream may be destroyed inside each of its callbacks") {
  Loop loop;
  UniqueFd listening = listen_anywhere();
  const Endpoint endpoint = local_endpoint(listening.get());
  std::unique_ptr<TcpStream> stream;
  std::string trace;
  const auto note_and_die = [&](char which, const std::string& text) {
    stream.reset();
    trace += which;
    trace += text;
  };
  TcpAcceptor acceptor(loop, std::move(listening), [&](UniqueFd fd, const Endpoint&) {
    std::string held(50, '.');
    stream = std::make_unique<TcpStream>(loop, std::move(fd),
                                         TcpStream::Handlers{.data = [&, held](ByteView) { note_and_die('d', held); },
                                                             .end = [&, held](int) { note_and_die('e', held); },
                                                             .drained = [&, held] { note_and_die('w', held); }});
    stream->start_reading();
  });
  TcpClient one(endpoint);
  REQUIRE(one.send("x"));
  REQUIRE(pump_until(loop, [&] { return trace.starts_with('d'); }));
  trace.clear();
  TcpClient two(endpoint);
  two.finish();
  REQUIRE(pump_until(loop, [&] { return trace.starts_with('e'); }));
  trace.clear();
  TcpClient three(endpoint, nullptr, 65536);
  REQUIRE(pump_until(loop, [&] { return stream != nullptr; }));
  stream->write(Bytes(8'000'000, 'x'));
  REQUIRE(pump_until(loop, [&] {
    three.take();
    return trace.starts_with('w');
  }));
}

TEST_CASE("closing after discard_input sends FIN, not a reset, although octets were unread") {
  Loop loop;
  Server server{.loop = loop};
  server.start();
  TcpClient client(server.endpoint);
  REQUIRE(pump_until(loop, [&] { return server.stream.has_value(); }));
  server.stream->stop_reading();
  REQUIRE(client.send(std::string(100'000, 'q')));
  server.stream->write(bytes_of("answer"));
  server.stream->discard_input();
  server.stream.reset();
  REQUIRE(pump_until(loop, [&] { return client.ended(); }));
  CHECK(client.text() == "answer");
  CHECK_FALSE(client.was_reset());
}

TEST_CASE("an acceptor may be destroyed inside its callback") {
  Loop loop;
  UniqueFd listening = listen_anywhere();
  const Endpoint endpoint = local_endpoint(listening.get());
  std::unique_ptr<TcpAcceptor> acceptor;
  int accepted = 0;
  acceptor = std::make_unique<TcpAcceptor>(loop, std::move(listening), [&](const UniqueFd&, const Endpoint& peer) {
    ++accepted;
    CHECK(peer.address.is_loopback());
    acceptor.reset();
  });
  const TcpClient one(endpoint);
  const TcpClient two(endpoint);
  REQUIRE(pump_until(loop, [&] { return accepted == 1; }));
  pump_for(loop, 5ms);
  CHECK(accepted == 1);
  CHECK_FALSE(TcpClient(endpoint).connected());
}

TEST_CASE("without descriptors a waiting client is turned away, accepting pauses, and goes on afterwards") {
  Loop loop;
  UniqueFd listening = listen_anywhere();
  const Endpoint endpoint = local_endpoint(listening.get());
  std::vector<UniqueFd> accepted;
  TcpAcceptor acceptor(loop, std::move(listening), [&](UniqueFd fd, const Endpoint&) { accepted.push_back(std::move(fd)); });
  pump_for(loop, 1ms);
  TcpClient first(endpoint);
  TcpClient second(endpoint);
  TcpClient third(endpoint);
  std::vector<UniqueFd> hoard;
  rlimit former{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &former) == 0);
  rlimit tight = former;
  tight.rlim_cur = 64;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &tight) == 0);
  for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0; fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
    hoard.emplace_back(fd);
  }
  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_THREAD, &before);
  pump_for(loop, 50ms);
  ::getrusage(RUSAGE_THREAD, &after);
  const std::size_t accepted_without = accepted.size();
  const auto pauses = acceptor.pauses();
  const bool turned_away = first.ended();
  hoard.clear();
  ::setrlimit(RLIMIT_NOFILE, &former);
  CHECK(accepted_without == 0);
  CHECK(pauses == 1);
  CHECK(turned_away);
  CHECK(after.ru_nvcsw - before.ru_nvcsw <= 10);
  CHECK(pump_until(loop, [&] { return accepted.size() == 2; }));
}
