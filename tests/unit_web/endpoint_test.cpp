// The endpoint over real loopback sockets.
#include "web/endpoint.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "unit_event/pump.h"

using namespace std::chrono_literals;
using dohmux::Endpoint;
using dohmux::UniqueFd;
using dohmux::event::Loop;
using dohmux::test::listen_anywhere;
using dohmux::test::local_endpoint;
using dohmux::test::pump_for;
using dohmux::test::pump_until;
using dohmux::test::TcpClient;
using dohmux::web::WebEndpoint;
using dohmux::web::WebLimits;
using dohmux::web::WebReply;

namespace {

const std::string kHost = "Host: 127.0.0.1\r\n";

std::string get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\n" + kHost + "\r\n";
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

struct Fixture {
  explicit Fixture(const WebLimits& limits = {}) {
    UniqueFd listening = listen_anywhere();
    server = local_endpoint(listening.get());
    web = std::make_unique<WebEndpoint>(
        loop, std::move(listening),
        [this](std::string_view path) {
          paths.emplace_back(path);
          if (path == "/metrics") {
            return WebReply{.body = "up 1\n"};
          }
          if (path == "/big") {
            return WebReply{.body = std::string(5'000'000, 'b')};
          }
          return WebReply{.status = 404, .body = "not found\n"};
        },
        limits);
  }
  // What comes back until the server closes.
  std::string exchange(const std::string& request) {
    TcpClient client(server);
    client.send(request);
    CHECK(pump_until(loop, [&] { return client.ended(); }));
    return client.text();
  }

  Loop loop;
  Endpoint server;
  std::vector<std::string> paths;
  std::unique_ptr<WebEndpoint> web;
};

}  // namespace

TEST_CASE("GET, then HEAD, on one connection") {
  Fixture f;
  TcpClient client(f.server);
  client.send(get("/metrics?a=b"));
  REQUIRE(pump_until(f.loop, [&] { return client.text().ends_with("up 1\n"); }));
  CHECK(client.text().starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(count(client.text(), "Content-Length: 5\r\n") == 1);
  CHECK(count(client.text(), "Connection: keep-alive\r\n") == 1);
  client.send("HEAD /metrics HTTP/1.1\r\n" + kHost + "Connection: close\r\n\r\n");
  REQUIRE(pump_until(f.loop, [&] { return client.ended(); }));
  CHECK(count(client.text(), "Content-Length: 5\r\n") == 2);
  CHECK(count(client.text(), "up 1\n") == 1);
  CHECK(client.text().ends_with("Connection: close\r\n\r\n"));
  CHECK(f.paths == std::vector<std::string>{"/metrics", "/metrics"});
}

TEST_CASE("octet by octet, pipelined, and half-closed") {
  Fixture f;
  TcpClient client(f.server);
  for (const char c : get("/metrics")) {
    client.send(std::string(1, c));
    pump_for(f.loop, 0ms);
  }
  REQUIRE(pump_until(f.loop, [&] { return client.text().ends_with("up 1\n"); }));
  client.send(get("/metrics") + get("/nothing") + get("/metrics"));
  client.finish();
  REQUIRE(pump_until(f.loop, [&] { return client.ended(); }));
  CHECK(count(client.text(), "HTTP/1.1 200 OK") == 3);
  CHECK(count(client.text(), "HTTP/1.1 404 Not Found") == 1);
}

TEST_CASE("errors are answered and end the connection") {
  Fixture f;
  CHECK(f.exchange("nonsense\r\n").starts_with("HTTP/1.1 400 "));
  const std::string refused = f.exchange("DELETE /metrics HTTP/1.1\r\n" + kHost + "\r\n");
  CHECK(refused.starts_with("HTTP/1.1 405 "));
  CHECK(count(refused, "Allow: GET, HEAD\r\n") == 1);
  CHECK(f.exchange("GET /" + std::string(5000, 'x') + " HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 414 "));
  CHECK(f.exchange("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 421 "));
  CHECK(f.exchange("HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n").ends_with("\r\n\r\n"));
  CHECK(f.exchange("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x')).starts_with("HTTP/1.1 431 "));
  CHECK(f.exchange("GET / HTTP/3.0\r\n\r\n").starts_with("HTTP/1.1 505 "));
  CHECK(f.paths.empty());
  CHECK(f.web->counters().faults == 7);
}

TEST_CASE("404 is the handler's, and keeps the connection") {
  Fixture f;
  TcpClient client(f.server);
  client.send(get("/nowhere"));
  REQUIRE(pump_until(f.loop, [&] { return client.text().ends_with("not found\n"); }));
  CHECK(client.text().starts_with("HTTP/1.1 404 Not Found\r\n"));
  CHECK_FALSE(client.ended());
}

TEST_CASE("a slow request, an idle connection and a client that does not fetch its reply are closed") {
  Fixture f({.request = 80ms, .linger = 20ms});
  TcpClient silent(f.server);
  TcpClient dribbler(f.server);
  TcpClient deaf(f.server, nullptr, 4096);
  deaf.send(get("/big") + get("/big"));
  CHECK(pump_until(f.loop, [&] {
    dribbler.send("x");
    return f.web->counters().timeouts == 3;
  }));
  CHECK(f.web->open_connections() == 0);
  CHECK(silent.ended());
  CHECK(f.paths.size() == 1);  // the second request waited for the first reply to leave
}

TEST_CASE("a big reply arrives whole, before the connection closes") {
  Fixture f;
  const std::string reply = f.exchange("GET /big HTTP/1.0\r\n\r\n");
  CHECK(reply.size() > 5'000'000);
  CHECK(reply.ends_with("bbb"));
}

TEST_CASE("too many connections: idle ones give way, busy ones do not") {
  Fixture f({.connections = 3});
  std::deque<TcpClient> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(f.server);
    pump_for(f.loop, 2ms);
  }
  CHECK(f.web->open_connections() == 3);
  CHECK(clients.front().ended());
  for (TcpClient& client : clients) {
    client.send("GET /met");  // busy now
  }
  pump_for(f.loop, 5ms);
  TcpClient late(f.server);
  CHECK(pump_until(f.loop, [&] { return late.ended(); }));
  CHECK(f.web->counters().refused == 1);
}

TEST_CASE("clients that reset, and an endpoint that dies with requests under way") {
  Fixture f;
  std::deque<TcpClient> clients;
  for (int i = 0; i < 10; ++i) {
    clients.emplace_back(f.server, nullptr, 4096);
    clients.back().send(get("/big"));
  }
  pump_for(f.loop, 10ms);
  for (int i = 0; i < 5; ++i) {
    clients.front().reset();
    clients.pop_front();
  }
  REQUIRE(pump_until(f.loop, [&] { return f.web->open_connections() == 5; }));
  f.web.reset();
  for (TcpClient& client : clients) {
    CHECK(pump_until(f.loop, [&] { return client.ended(); }));
  }
}
