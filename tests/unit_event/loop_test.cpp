// Time, timers and deferred tasks of the loop.
#include "event/loop.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "event/deferred.h"
#include "event/signal.h"

using namespace std::chrono_literals;
using dohmux::Task;
using dohmux::TimePoint;
using dohmux::Timer;
using dohmux::event::Deferred;
using dohmux::event::Loop;
using dohmux::event::Signal;

TEST_CASE("an empty loop returns at once and can be run again") {
  Loop loop;
  loop.run();
  int runs = 0;
  loop.defer([&] { ++runs; });
  loop.run();
  loop.run();
  CHECK(runs == 1);
}

TEST_CASE("timers run in order of their time, never inline, never early") {
  Loop loop;
  std::string order;
  const TimePoint start = loop.now();
  TimePoint seen_b;
  auto c = loop.after(30ms, [&] { order += 'c'; });
  auto a = loop.after(0ms, [&] { order += 'a'; });
  auto b = loop.after(10ms + 1ns, [&] {
    order += 'b';
    seen_b = loop.now();
  });
  CHECK(order.empty());
  loop.run();
  CHECK(order == "abc");
  CHECK(seen_b - start >= 10ms + 1ns);
}

TEST_CASE("a timer is never early against the cached time of its own turn") {
  Loop loop;
  int early = 0;
  int fired = 0;
  std::vector<std::unique_ptr<Timer>> timers;
  timers.reserve(400);
  for (int i = 0; i < 200; ++i) {
    timers.push_back(loop.after(std::chrono::microseconds(97 * i), [&, i] {
      const TimePoint due = loop.now() + std::chrono::microseconds(333 + i);
      timers.push_back(loop.after(std::chrono::microseconds(333 + i), [&, due] {
        ++fired;
        early += loop.now() < due ? 1 : 0;
      }));
    }));
  }
  loop.run();
  CHECK(fired == 200);
  CHECK(early == 0);
}

TEST_CASE("a destroyed timer does not run") {
  Loop loop;
  bool ran = false;
  auto timer = loop.after(1ms, [&] { ran = true; });
  timer.reset();
  loop.run();
  CHECK_FALSE(ran);
}

TEST_CASE("a timer may be destroyed inside its own callback, with its owner") {
  struct Owner {
    std::unique_ptr<Timer> timer;
    std::string text = "a text that is long enough to live on the heap";
  };
  Loop loop;
  auto owner = std::make_unique<Owner>();
  std::size_t length = 0;
  owner->timer = loop.after(1ms, [&, raw = owner.get()] {
    length = raw->text.size();
    owner.reset();
    length += 1;  // the closure is alive although its timer is not
  });
  loop.run();
  CHECK(length == 47);
}

TEST_CASE("a timer may destroy another one that is due in the same turn") {
  Loop loop;
  int ran = 0;
  std::unique_ptr<Timer> second;
  auto first = loop.after(1ms, [&] {
    ++ran;
    second.reset();
  });
  second = loop.after(1ms, [&] { ++ran; });
  loop.run();
  CHECK(ran == 1);
}

TEST_CASE("now is one value within a callback") {
  Loop loop;
  bool same = false;
  auto timer = loop.after(1ms, [&] {
    const TimePoint before = loop.now();
    const auto until = std::chrono::steady_clock::now() + 3ms;
    while (std::chrono::steady_clock::now() < until) {
    }
    same = loop.now() == before;
  });
  loop.run();
  CHECK(same);
}

TEST_CASE("deferred tasks run in order, before the loop sleeps, and after the present callback") {
  Loop loop;
  std::string order;
  std::unique_ptr<Timer> next;
  auto timer = loop.after(1ms, [&] {
    next = loop.after(0ms, [&] { order += 'z'; });  // the earliest thing that can happen in the next turn
    loop.defer([&] {
      order += 'b';
      loop.defer([&] { order += 'd'; });
    });
    loop.defer([&] { order += 'c'; });
    order += 'a';
  });
  loop.run();
  CHECK(order == "abcdz");
}

TEST_CASE("a task that defers itself for ever starves neither timers nor stop") {
  Loop loop;
  std::uint64_t runs = 0;
  Task again;
  struct Again {
    Loop& loop;
    std::uint64_t& runs;
    void operator()() const {
      ++runs;
      loop.defer(Again{loop, runs});
    }
  };
  loop.defer(Again{.loop = loop, .runs = runs});
  auto timer = loop.after(5ms, [&] { loop.stop(); });
  loop.run();
  CHECK(runs > 0);
}

TEST_CASE("a zero timer re-armed from itself does not starve others") {
  Loop loop;
  std::unique_ptr<Timer> again;
  struct Again {
    Loop& loop;
    std::unique_ptr<Timer>& timer;
    void operator()() const { timer = loop.after(0ms, Again{loop, timer}); }
  };
  again = loop.after(0ms, Again{.loop = loop, .timer = again});
  auto stop = loop.after(5ms, [&] { loop.stop(); });
  loop.run();
  SUCCEED();
}

TEST_CASE("stop ends run; what was deferred before still runs") {
  Loop loop;
  bool ran = false;
  auto forever = loop.after(1h, [] {});
  auto timer = loop.after(1ms, [&] {
    loop.defer([&] { ran = true; });
    loop.stop();
  });
  loop.run();
  CHECK(ran);
}

TEST_CASE("a loop may die with deferred tasks and with a stop pending") {
  auto ran = std::make_unique<bool>(false);
  {
    Loop loop;
    loop.defer([&] { *ran = true; });
    loop.stop();
  }
  CHECK_FALSE(*ran);
}

TEST_CASE("Deferred: many requests are one run; destroying it cancels") {
  Loop loop;
  int kept_runs = 0;
  int gone_runs = 0;
  Deferred kept(loop, [&] { ++kept_runs; });
  auto gone = std::make_unique<Deferred>(loop, [&] { ++gone_runs; });
  auto timer = loop.after(1ms, [&] {
    kept.request();
    kept.request();
    gone->request();
    gone.reset();
  });
  loop.run();
  CHECK(kept_runs == 1);
  CHECK(gone_runs == 0);
  kept.request();
  loop.run();
  CHECK(kept_runs == 2);
}

TEST_CASE("Deferred may ask again and die inside its own task, and outlive the queue") {
  std::unique_ptr<Deferred> self;
  int runs = 0;
  {
    Loop loop;
    self = std::make_unique<Deferred>(loop, [&] {
      if (++runs < 3) {
        self->request();
      } else {
        self.reset();
      }
    });
    self->request();
    loop.run();
    CHECK(runs == 3);
    CHECK(self == nullptr);
    self = std::make_unique<Deferred>(loop, [&] { ++runs; });
    self->request();
  }  // the queue dies first
  self.reset();
  CHECK(runs == 3);
}

TEST_CASE("Signal: delivered on the loop; does not keep it running; may die inside its callback") {
  Loop loop;
  int seen = 0;
  std::unique_ptr<Signal> signal;
  signal = std::make_unique<Signal>(loop, SIGUSR1, [&] {
    ++seen;
    if (seen == 2) {
      signal.reset();
      loop.stop();
    }
  });
  loop.run();  // nothing else: returns
  auto first = loop.after(1ms, [] { ::raise(SIGUSR1); });
  auto second = loop.after(10ms, [] { ::raise(SIGUSR1); });
  auto guard = loop.after(5s, [&] { loop.stop(); });
  loop.run();
  CHECK(seen == 2);
}
