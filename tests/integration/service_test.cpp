// The daemon under a service manager: notifications, signals, the end (sd_notify(3); contract.md §3).
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

/// The service manager's end: a datagram socket at `name`, "@…" for an abstract one.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& name) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
    const bool abstract = name.front() == '@';
    if (abstract) {
      address.sun_path[0] = '\0';
    }
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (abstract ? 0 : 1));
    const timeval limit{20, 0};
    bound_ = ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
             ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0;
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;
  ~NotifySocket() { ::close(fd_); }

  [[nodiscard]] bool bound() const { return bound_; }
  /// The next message; empty after 20 s.
  [[nodiscard]] std::string receive() const { return take(0); }
  /// What is there already.
  [[nodiscard]] std::string pending() const { return take(MSG_DONTWAIT); }

 private:
  [[nodiscard]] std::string take(int flags) const {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), flags);
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }

  int fd_;
  bool bound_ = false;
};

}  // namespace

TEST_CASE("the service manager is told READY once the daemon listens, and STOPPING at SIGTERM") {
  const bool abstract = GENERATE(false, true);
  const Scratch scratch;
  const std::string name = abstract ? "@dohmux-test-" + std::to_string(::getpid()) : scratch.path("notify");
  const NotifySocket manager(name);
  REQUIRE(manager.bound());
  Lab lab({.resolvers = 1, .proxies = 1});
  Process daemon({daemon_program(), {"run", "-c", lab.config_file()}, {{"NOTIFY_SOCKET", name}}});
  const std::string ready = manager.receive();
  CHECK(ready.starts_with("READY=1"));
  CHECK(daemon.errors().find(" udp") != std::string::npos);  // whoever is told can ask
  CHECK(daemon.errors().find(" tcp") != std::string::npos);
  daemon.signal(SIGTERM);
  CHECK(manager.receive().starts_with("STOPPING=1"));
  CHECK(daemon.wait(10s) == 0);
}

TEST_CASE("no READY from a daemon that cannot start") {
  const Scratch scratch;
  const NotifySocket manager(scratch.path("notify"));
  const Outcome outcome = run({daemon_program(), {"run", "-c", scratch.path("none.yaml")}, {{"NOTIFY_SOCKET", scratch.path("notify")}}});
  CHECK(outcome.status == 2);
  CHECK(manager.pending().empty());
}

TEST_CASE("SIGINT ends like SIGTERM; a second signal ends a drain at once") {
  House house({.resolvers = 1, .proxies = 1, .commands = {"resolver r1 hang"}},
              {.extra = "timeouts: {query: 60s, attempt: 50s, drain: 60s}\n"});
  REQUIRE(house.wait_for_connections(1));
  const TcpClient client(house.daemon.tcp_port());
  REQUIRE(client.send(framed({.name = "www.x.example"}, 1)));
  REQUIRE(house.wait_for("r1", "requests", 1));
  house.daemon.process().signal(SIGINT);
  REQUIRE(house.daemon.process().wait_for_line("stopping", 10s));
  CHECK(house.daemon.process().running());
  house.daemon.process().signal(SIGTERM);
  CHECK(house.daemon.process().wait(10s) == 0);
}

TEST_CASE("SIGTERM at the moment when the first listener is named is an orderly end, too") {
  require_tool("strace");
  const Scratch scratch;
  // Each line that the daemon prints holds it up, so that the signal surely comes right behind the line.
  Daemon daemon(
      {.config =
           "listen: [\"127.0.0.1:0\"]\nupstreams: [{url: \"https://dns.example/dns-query\", addresses: [127.0.0.1]}]\nweb: {listen: []}\n",
       .environment = {{"ASAN_OPTIONS", "detect_leaks=0"}},
       .wrapper = {"strace", "-D", "-o", scratch.path("trace"), "-e", "trace=write", "-e", "inject=write:delay_exit=200000"}});
  if (!daemon.ready() && daemon.printed().find("ptrace") != std::string::npos) {
    SKIP("this system forbids tracing");
  }
  CHECK(daemon.process().running());
  CHECK(daemon.stop() == 0);
}

TEST_CASE("SIGHUP, SIGUSR1 and SIGUSR2 never end the daemon") {
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  for (const int number : {SIGHUP, SIGUSR1, SIGUSR2}) {
    house.daemon.process().signal(number);
  }
  CHECK(house.daemon.process().wait_for_line("statistics", 10s));
  CHECK(house.ask_many(20, 5).with_answer() == 20);
  CHECK(house.daemon.stop() == 0);
}
