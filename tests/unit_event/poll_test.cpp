// Readiness of foreign descriptors: interest, lifetime, reuse of descriptor numbers.
#include "event/poll.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cerrno>
#include <chrono>
#include <memory>

#include "base/unique_fd.h"

using namespace std::chrono_literals;
using dohmux::UniqueFd;
using dohmux::event::has;
using dohmux::event::Loop;
using dohmux::event::Poll;
using dohmux::event::Ready;

namespace {

struct Pair {
  UniqueFd a;
  UniqueFd b;
};

Pair socket_pair() {
  std::array<int, 2> fds{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()) == 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void say(int fd) {
  REQUIRE(::write(fd, "x", 1) == 1);
}

bool hear(int fd) {
  char octet = 0;
  return ::read(fd, &octet, 1) == 1;
}

}  // namespace

TEST_CASE("watching reads, writes, both and nothing") {
  Loop loop;
  const Pair pair = socket_pair();
  int reads = 0;
  int writes = 0;
  Poll poll(loop, pair.a.get(), [&](Ready ready, int error) {
    CHECK(error == 0);
    if (has(ready, Ready::Write)) {
      ++writes;
      poll.watch(Ready::Read);
      say(pair.b.get());
    }
    if (has(ready, Ready::Read)) {
      ++reads;
      CHECK(hear(pair.a.get()));
      poll.watch(Ready::None);
    }
  });
  loop.run();
  CHECK(reads + writes == 0);
  poll.watch(Ready::Read | Ready::Write);
  loop.run();
  CHECK(writes == 1);
  CHECK(reads == 1);
}

TEST_CASE("a Poll may be destroyed inside its callback, together with what the callback holds") {
  Loop loop;
  Pair pair = socket_pair();
  std::unique_ptr<Poll> poll;
  std::size_t length = 0;
  poll = std::make_unique<Poll>(loop, pair.a.get(), [&, text = std::string(60, 'x')](Ready, int) {
    poll.reset();
    pair.a.reset();
    length = text.size();
  });
  poll->watch(Ready::Read);
  say(pair.b.get());
  loop.run();
  CHECK(length == 60);
}

TEST_CASE("a Poll may destroy another that is ready in the same turn") {
  Loop loop;
  std::array<Pair, 2> pairs{socket_pair(), socket_pair()};
  std::array<std::unique_ptr<Poll>, 2> polls;
  int calls = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    polls.at(i) = std::make_unique<Poll>(loop, pairs.at(i).a.get(), [&, i](Ready, int) {
      ++calls;
      polls.at(1 - i).reset();
      pairs.at(1 - i).a.reset();
      hear(pairs.at(i).a.get());
      polls.at(i)->stop();
    });
    polls.at(i)->watch(Ready::Read);
    say(pairs.at(i).b.get());
  }
  loop.run();
  CHECK(calls == 1);
}

TEST_CASE("the number of a stopped descriptor may be reused while the old Poll still exists, and when it dies") {
  Loop loop;
  Pair first = socket_pair();
  Pair second = socket_pair();
  const int number = first.a.get();
  auto old_poll = std::make_unique<Poll>(loop, number, [](Ready, int) {});
  old_poll->watch(Ready::Read | Ready::Write);
  auto turn = loop.after(1ms, [&] { loop.stop(); });
  loop.run();
  old_poll->stop();
  REQUIRE(::dup2(second.a.get(), number) == number);  // another file under the same number
  int reads = 0;
  Poll fresh(loop, number, [&](Ready, int) {
    ++reads;
    hear(number);
    fresh.stop();
  });
  fresh.watch(Ready::Read);
  auto kill_old = loop.after(5ms, [&] { old_poll.reset(); });  // must not take `fresh` out of epoll
  auto speak = loop.after(10ms, [&] { say(second.b.get()); });
  auto guard = loop.after(3s, [&] { loop.stop(); });
  auto stop = loop.after(100ms, [&] { loop.stop(); });
  loop.run();
  CHECK(reads == 1);
}

TEST_CASE("a descriptor that cannot be watched is reported, not inline, and the report can be cancelled") {
  Loop loop;
  int error = 0;
  Poll poll(loop, 987, [&](Ready ready, int code) {
    CHECK(has(ready, Ready::Read));
    CHECK(has(ready, Ready::Write));
    error = code;
  });
  poll.watch(Ready::Read);
  CHECK(error == 0);
  loop.run();
  CHECK(error == EBADF);
  error = 0;
  poll.watch(Ready::Read);
  poll.stop();
  loop.run();
  CHECK(error == 0);
}

TEST_CASE("a refused connection is reported") {
  Loop loop;
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(listener.get() >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);  // bound, not listening
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int connected = ::connect(client.get(), reinterpret_cast<sockaddr*>(&address), length);
  REQUIRE((connected == 0 || errno == EINPROGRESS || errno == ECONNREFUSED));
  int calls = 0;
  Poll poll(loop, client.get(), [&](Ready, int) {
    ++calls;
    poll.stop();
  });
  poll.watch(Ready::Write);
  auto guard = loop.after(3s, [&] { loop.stop(); });
  auto stop = loop.after(100ms, [&] { loop.stop(); });
  loop.run();
  CHECK(calls == 1);
}

TEST_CASE("an idle loop with watches sleeps") {
  Loop loop;
  const Pair pair = socket_pair();
  Poll poll(loop, pair.a.get(), [](Ready, int) {});
  poll.watch(Ready::Read);
  auto end = loop.after(300ms, [&] { loop.stop(); });
  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_THREAD, &before);
  loop.run();
  ::getrusage(RUSAGE_THREAD, &after);
  CHECK(after.ru_nvcsw - before.ru_nvcsw <= 3);  // one sleep; slack for the scheduler and page faults
}
