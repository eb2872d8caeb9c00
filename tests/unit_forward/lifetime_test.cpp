// Many at once, cancelling, limits, and what is left behind: nothing.
#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "asking.h"

using namespace dohmux;
using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

/// The soft limit of descriptors for the time of a test.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t wanted) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{.rlim_cur = std::min(wanted, before_.rlim_max), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

/// Descriptors of this process once its first connection has come and gone: with that libuv takes one for itself.
std::size_t baseline(Asking& asking, PlainDns& server, PlainMode mode) {
  const std::size_t before = open_descriptors();
  server.mode(PlainMode::Truncated);
  CHECK(asking.asked().answered());
  asking.questions.clear();
  pump_until(asking.loop, [&] { return open_descriptors() <= before + 1; });
  server.mode(mode);
  return open_descriptors();
}

}  // namespace

TEST_CASE("500 at once: all answered, all sockets gone afterwards") {
  PlainDns server(PlainMode::Held);
  Asking asking({&server});
  pump_for(asking.loop, 1ms);
  const std::size_t before = open_descriptors();
  for (std::size_t batch = 1; batch <= 10; ++batch) {  // no faster than the server's buffer takes them
    for (int i = 0; i < 50; ++i) {
      asking.ask("n" + std::to_string(i) + ".corp.example", 60s);
    }
    REQUIRE(pump_until(asking.loop, [&] { return server.count() == batch * 50; }));
  }
  CHECK(asking.forwarder.in_flight() == 500);
  CHECK(open_descriptors() >= before + 500);
  server.mode(PlainMode::Normal);
  REQUIRE(asking.all_over());
  for (const Question& question : asking.questions) {
    CHECK(question.answered());
  }
  CHECK(open_descriptors() == before);
  asking.questions.clear();
  CHECK(asking.forwarder.in_flight() == 0);
}

TEST_CASE("100 at once over TCP: all answered whole, all connections gone afterwards") {
  PlainDns server;
  Asking asking({&server});
  pump_for(asking.loop, 1ms);
  const std::size_t before = baseline(asking, server, PlainMode::Truncated);
  for (int i = 0; i < 100; ++i) {
    asking.ask("n" + std::to_string(i) + ".corp.example", 60s);
  }
  REQUIRE(asking.all_over());
  for (const Question& question : asking.questions) {
    REQUIRE(question.answered());
    CHECK(question.records() == 120);
  }
  // The server lives in this process: its ends of the connections close a little later.
  CHECK(pump_until(asking.loop, [&] { return open_descriptors() == before; }));
}

TEST_CASE("a cancelled call is never heard of, at whatever moment") {
  const auto mode = GENERATE(PlainMode::Normal, PlainMode::Silent, PlainMode::TruncatedSilent, PlainMode::TruncatedDrip);
  PlainDns server;
  Asking asking({&server});
  pump_for(asking.loop, 1ms);
  const std::size_t before = baseline(asking, server, mode);
  bool heard = false;
  for (int turn = 0; turn < 12; ++turn) {
    const dns::Query query = *dns::parse_query(test::query("www.corp.example").build());
    auto call = asking.forwarder.exchange(query, dns::upstream_query(query, dns::Padding::None), asking.loop.now() + 10s,
                                          [&](Outcome) { heard = true; });
    for (int i = 0; i < turn && !heard; ++i) {
      pump_for(asking.loop, 1ms);
    }
    heard = false;
    call.reset();
    pump_for(asking.loop, 5ms);
    CHECK_FALSE(heard);
    CHECK(asking.forwarder.in_flight() == 0);
  }
  CHECK(pump_until(asking.loop, [&] { return open_descriptors() == before; }));
}

TEST_CASE("a call may be destroyed by its own outcome") {
  const auto mode = GENERATE(PlainMode::Normal, PlainMode::Silent, PlainMode::Truncated, PlainMode::Refused, PlainMode::TruncatedNoTcp);
  const PlainDns server(mode);
  Asking asking({&server});
  const dns::Query query = *dns::parse_query(test::query("www.corp.example").build());
  std::unique_ptr<Call> call;
  bool over = false;
  call = asking.forwarder.exchange(query, dns::upstream_query(query, dns::Padding::None), asking.loop.now() + 200ms, [&](Outcome) {
    call.reset();
    over = true;
  });
  REQUIRE(pump_until(asking.loop, [&] { return over; }));
  CHECK(asking.forwarder.in_flight() == 0);
}

TEST_CASE("beyond the limit: Overload, and the others are untouched") {
  const DescriptorLimit limit(4096);
  const PlainDns server(PlainMode::Silent);
  Asking asking({&server});
  for (std::size_t i = 0; i < forward::PlainForwarder::kMostInFlight; ++i) {
    asking.ask("www.corp.example", 60s);
  }
  const Question& one_more = asking.ask();
  CHECK_FALSE(one_more.outcome.has_value());
  REQUIRE(pump_until(asking.loop, [&] { return one_more.outcome.has_value(); }));
  REQUIRE_FALSE(one_more.answered());
  CHECK(one_more.outcome->error().cause == upstream::Cause::Overload);
  CHECK_FALSE(asking.questions.front().outcome.has_value());
  asking.questions.clear();
  CHECK(asking.forwarder.in_flight() == 0);
  CHECK_FALSE(asking.asked("www.corp.example", 50ms).answered());  // silent, but taken
  CHECK(asking.questions.back().outcome->error().cause == upstream::Cause::NetworkError);
}

TEST_CASE("no descriptors left: Overload at once, and work goes on when there are some") {
  const PlainDns server;
  Asking asking({&server});
  REQUIRE(asking.asked().answered());
  const Question* question = nullptr;
  {
    const DescriptorLimit none(3);  // no CHECK in here: UBSan needs descriptors, too
    question = &asking.asked();
  }
  REQUIRE_FALSE(question->answered());
  CHECK(question->outcome->error().cause == upstream::Cause::Overload);
  CHECK(question->stage() == "forward: no descriptors left");
  CHECK(asking.asked().answered());
}

TEST_CASE("no descriptors left for TCP: Overload") {
  PlainDns server(PlainMode::Held);
  Asking asking({&server});
  const Question& question = asking.ask();
  REQUIRE(pump_until(asking.loop, [&] { return server.count() == 1; }));
  {
    const DescriptorLimit none(3);  // the number that the UDP socket gives back is above it
    server.mode(PlainMode::Truncated);
    pump_until(asking.loop, [&] { return question.outcome.has_value(); });
  }
  REQUIRE_FALSE(question.answered());
  CHECK(question.stage() == "forward: no descriptors left");
  CHECK(question.outcome->error().cause == upstream::Cause::Overload);
}

TEST_CASE("a deadline that is over already: an error, nothing sent") {
  const PlainDns server;
  Asking asking({&server});
  const Question& question = asking.asked("www.corp.example", -1ms);
  REQUIRE_FALSE(question.answered());
  CHECK(question.outcome->error().trail.sendings == 0);
  CHECK(server.count() == 0);
}
