// One test per row of contract.md §3 ("What happens when"), and for the rules written below that table.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "bench.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

Step ok_dial() {
  return Step{.delay = 50ms};
}
Step ok_send() {
  return Step{.delay = 25ms, .http_status = 200};
}

/// Fails every dial through `exit`.
FakeTransport::Rule failing_dial(const std::string& exit, Step failure) {
  return [exit, failure](const std::string& lane) { return exit_part(lane) == exit ? failure : ok_dial(); };
}

/// The first `count` sendings meet `step`, later ones are answered.
FakeTransport::Rule first_sendings(int count, Step step) {
  return [count, step](const std::string&) mutable { return count-- > 0 ? step : ok_send(); };
}

}  // namespace

TEST_CASE("row 1: a proxy that refuses is left, marked down, and the query is sent once") {
  for (const FailureKind kind : {FailureKind::ProxyRefused, FailureKind::ProxyClosed, FailureKind::ProxyAuth}) {
    Bench bench({.hosts = 1});
    const std::string home = bench.exit_of("h1");
    bench.transport.dial_rule = failing_dial(home, {.delay = 1ms, .failure = kind});
    bench.ask();
    bench.run(1s);
    REQUIRE(bench.answered() == 1);
    CHECK(bench.outcomes[0].trail.sendings == 1);
    CHECK(bench.moves() == 1);
    CHECK_FALSE(bench.exit_up(home));
    CHECK(bench.exit_of("h1") != home);
  }
}

TEST_CASE("row 1: all hosts avoid a proxy that one host found refusing") {
  Bench bench({.hosts = 6, .strategy = Strategy::RoundRobin});
  bench.transport.dial_rule = failing_dial("p1", {.delay = 1ms, .failure = FailureKind::ProxyRefused});
  bench.ask_many(60);
  bench.run(3s);
  CHECK(bench.answered() == 60);
  CHECK(bench.sendings_most() == 1);
  CHECK_FALSE(bench.exit_up("p1"));
  int dials = 0;
  for (const auto& [lane, counts] : bench.transport.counts) {
    dials += exit_part(lane) == "p1" ? counts.dials : 0;
  }
  CHECK(dials <= 2);  // the hosts whose home it was, at most
}

TEST_CASE("row 1: a silent proxy costs exit_race, not a retry; it is booked after its dial ended") {
  Bench bench({.hosts = 1});
  const std::string home = bench.exit_of("h1");
  bench.transport.dial_rule = failing_dial(home, {.failure = FailureKind::ProxySilent, .hang = true});
  bench.ask();
  bench.run(1200ms);
  REQUIRE(bench.answered() == 1);
  CHECK(bench.outcomes[0].trail.sendings == 1);
  CHECK(bench.outcomes[0].took <= 1100ms);
  CHECK(bench.exit_up(home));
  bench.run(10s);
  CHECK_FALSE(bench.exit_up(home));
}

TEST_CASE("row 1: a proxy that carries live tunnels of other hosts is not marked down by one host's failure") {
  Bench bench({.hosts = 2, .proxies = 1, .strategy = Strategy::RoundRobin, .via = {"p1"}});
  bench.ask();
  bench.run(500ms);  // h1 has a tunnel through p1
  bench.transport.dial_rule = [](const std::string& lane) {
    return lane == "h2/p1" ? Step{.delay = 1ms, .failure = FailureKind::ProxyRefused} : ok_dial();
  };
  bench.ask();
  bench.run(1s);
  CHECK(bench.exit_up("p1"));
  CHECK(bench.answered() == 2);  // by h1, the other upstream of the group
}

TEST_CASE("row 2: CONNECT refused, tunnel cut or garbage: the host moves, the proxy stays up") {
  for (const Step& failure : {Step{.delay = 1ms, .failure = FailureKind::TunnelRefused, .http_status = 403},
                              Step{.delay = 1ms, .failure = FailureKind::TunnelBroken}}) {
    Bench bench({.hosts = 1});
    const std::string home = bench.exit_of("h1");
    bench.transport.dial_rule = failing_dial(home, failure);
    bench.ask();
    bench.run(1s);
    REQUIRE(bench.answered() == 1);
    CHECK(bench.outcomes[0].trail.sendings == 1);
    CHECK(bench.moves() == 1);
    CHECK(bench.exit_up(home));
  }
}

TEST_CASE("row 2: A answers 403, B 502, C works: the first query is answered through C") {
  Bench bench({.hosts = 1});
  bench.transport.dial_rule = [dials = 0](const std::string&) mutable {
    ++dials;
    return dials > 2 ? ok_dial() : Step{.delay = 1ms, .failure = FailureKind::TunnelRefused, .http_status = dials == 1 ? 403 : 502};
  };
  bench.ask();
  bench.run(1s);
  REQUIRE(bench.answered() == 1);
  CHECK(bench.outcomes[0].trail.sendings == 1);
  CHECK(bench.moves() == 2);
}

TEST_CASE("row 3: a wrong certificate is booked to the host: no move, another upstream is asked") {
  Bench bench({.hosts = 2});
  bench.transport.dial_rule = [](const std::string& lane) {
    return lane.starts_with("h1/") ? Step{.delay = 1ms, .failure = FailureKind::Certificate} : ok_dial();
  };
  bench.ask();
  bench.run(1s);
  REQUIRE(bench.answered() == 1);
  CHECK(bench.outcomes[0].trail.upstream == "h2");
  CHECK(bench.outcomes[0].trail.sendings == 1);
  CHECK(bench.moves() == 0);
}

TEST_CASE("row 3: with no other upstream a wrong certificate is a failure at once, and no second dial follows it") {
  Bench bench({.hosts = 1});
  bench.transport.dial_rule = [](const std::string&) { return Step{.delay = 1ms, .failure = FailureKind::Certificate}; };
  bench.ask();
  bench.run(400ms);
  REQUIRE(bench.finished() == 1);
  CHECK(bench.outcomes[0].error.cause == upstream::Cause::NetworkError);
  CHECK(bench.outcomes[0].trail.sendings == 0);
  CHECK(bench.transport.counts.size() == 1);
}

TEST_CASE("row 4: a lost connection moves its host once, however many streams died, and each is sent once more") {
  Bench bench({.hosts = 1});
  const std::string home = bench.exit_of("h1");
  bench.transport.send_rule = [home](const std::string& lane) {
    return exit_part(lane) == home ? Step{.delay = 10s, .http_status = 200} : ok_send();
  };
  bench.ask_many(50);
  bench.run(200ms);
  REQUIRE(bench.transport.counts["h1/" + home].sendings == 50);
  bench.transport.lose("h1/" + home);
  bench.run(1s);
  CHECK(bench.answered() == 50);
  CHECK(bench.sendings_most() == 2);
  CHECK(bench.moves("h1") == 1);
  CHECK(bench.exit_up(home));
}

TEST_CASE("row 4: once a header was seen the loss is a bad answer: no second sending to this host") {
  Bench bench({.hosts = 1});
  bench.transport.send_rule = first_sendings(1, {.delay = 5ms, .failure = FailureKind::ConnectionLost, .header_seen = true});
  bench.ask();
  bench.run(1s);
  REQUIRE(bench.finished() == 1);
  CHECK(bench.answered() == 0);
  CHECK(bench.outcomes[0].trail.sendings == 1);
  CHECK(bench.moves() == 0);
}

TEST_CASE("row 4: with a single exit the same one is dialled again at once") {
  Bench bench({.hosts = 1, .proxies = 1});
  bench.transport.send_rule = [first = true](const std::string&) mutable {
    return std::exchange(first, false) ? Step{.delay = 10s} : ok_send();
  };
  bench.ask();
  bench.run(100ms);
  bench.transport.lose("h1/p1");
  bench.run(400ms);
  CHECK(bench.answered() == 1);
  CHECK(bench.outcomes[0].trail.sendings == 2);
  CHECK(bench.transport.counts["h1/p1"].dials == 2);
  CHECK(bench.moves() == 0);
}

TEST_CASE("row 5: an orderly refusal is sent once more on the same exit, nobody is blamed") {
  Bench bench({.hosts = 1});
  bench.transport.send_rule = first_sendings(1, {.delay = 5ms, .failure = FailureKind::Orderly});
  bench.ask();
  bench.run(1s);
  REQUIRE(bench.answered() == 1);
  CHECK(bench.outcomes[0].trail.sendings == 2);
  CHECK(bench.moves() == 0);
}

TEST_CASE("row 5: a resolver that refuses every stream sees at most two sendings of a query") {
  Bench bench({.hosts = 1});
  bench.transport.send_rule = [](const std::string&) { return Step{.delay = 5ms, .failure = FailureKind::Orderly}; };
  bench.ask_many(20);
  bench.run(5s);
  CHECK(bench.finished() == 20);
  CHECK(bench.answered() == 0);
  CHECK(bench.sendings_most() == 2);
  int sendings = 0;
  for (const auto& [lane, counts] : bench.transport.counts) {
    sendings += counts.sendings;
  }
  CHECK(sendings == 40);
}

TEST_CASE("row 5: a connection that was closed while idle costs no sending: it is dialled again") {
  Bench bench({.hosts = 1});
  bench.ask();
  bench.run(1s);
  const std::string lane = "h1/" + bench.exit_of("h1");
  bench.transport.go_stale(lane);
  bench.ask();
  bench.run(1s);
  CHECK(bench.answered() == 2);
  CHECK(bench.outcomes[1].trail.sendings == 1);
  CHECK(bench.transport.counts[lane].dials == 2);
  CHECK(bench.moves() == 0);
}

TEST_CASE("row 6: a stream reset otherwise is sent once more on the same exit") {
  Bench bench({.hosts = 1});
  bench.transport.send_rule = first_sendings(1, {.delay = 5ms, .failure = FailureKind::StreamReset});
  bench.ask();
  bench.run(1s);
  REQUIRE(bench.answered() == 1);
  CHECK(bench.outcomes[0].trail.sendings == 2);
  CHECK(bench.moves() == 0);
  CHECK(bench.transport.counts.size() == 1);
}

TEST_CASE("row 7: a timeout with nothing received moves the host; the second sending has its time") {
  Bench bench({.hosts = 1});
  const std::string home = bench.exit_of("h1");
  bench.transport.send_rule = [home](const std::string& lane) { return exit_part(lane) == home ? Step{.hang = true} : ok_send(); };
  bench.ask();
  bench.run(4500ms);
  REQUIRE(bench.answered() == 1);
  CHECK(bench.outcomes[0].took < 2500ms);
  CHECK(bench.outcomes[0].trail.sendings == 2);
  CHECK(bench.moves() == 1);
}

TEST_CASE("row 7: a timeout on a connection that received something moves nobody") {
  Bench bench({.hosts = 1});
  bench.transport.send_rule = first_sendings(1, {.hang = true, .received_since = true});
  bench.ask();
  bench.run(4500ms);
  REQUIRE(bench.answered() == 1);
  CHECK(bench.outcomes[0].trail.sendings == 2);
  CHECK(bench.moves() == 0);
}

TEST_CASE("row 7: two timeouts with nothing received evict the connection, and what waits on it is sent again at once") {
  Bench bench({.hosts = 1});
  const std::string home = bench.exit_of("h1");
  bench.transport.send_rule = [home](const std::string& lane) { return exit_part(lane) == home ? Step{.hang = true} : ok_send(); };
  bench.ask_many(2);
  bench.run(1s);
  bench.ask_many(10);  // on the same connection, a second later
  bench.run(1300ms);
  CHECK(bench.answered() == 12);  // the ten did not wait for their own timeouts
  CHECK(bench.moves() == 1);
}

TEST_CASE("a proxy falls silent under load: also those whose connection had just been heard are answered, in time") {
  for (const int hosts : {1, 6}) {
    Bench bench({.hosts = hosts, .strategy = Strategy::RoundRobin});
    std::set<std::string> silent;
    bench.transport.dial_rule = [&silent](const std::string& lane) {
      return silent.contains(exit_part(lane)) ? Step{.failure = FailureKind::TunnelSilent, .hang = true} : ok_dial();
    };
    int noisy = 4 * hosts;  // of these it will be said that something was received since they were sent
    bench.transport.send_rule = [&](const std::string& lane) {
      return silent.contains(exit_part(lane)) ? Step{.hang = true, .received_since = noisy-- > 0} : ok_send();
    };
    bench.ask_many(6);
    bench.run(500ms);
    silent.insert(bench.exit_of("h1"));
    for (int i = 0; i < 30; ++i) {  // one round trip's worth on the dead connections, then nothing more is asked
      bench.ask_many(1);
      bench.run(1ms);
    }
    bench.run(4500ms);
    CHECK(bench.answered() == 36);
    CHECK(bench.sendings_most() <= 2);
    for (const auto& [lane, counts] : bench.transport.counts) {
      CHECK(counts.dials_at_once_max == 1);
    }
  }
}

TEST_CASE("one slow name on a quiet connection delays nobody else and moves nobody") {
  Bench bench({.hosts = 1});
  bench.transport.send_rule = [first = true](const std::string&) mutable {
    return std::exchange(first, false) ? Step{.delay = 10s, .http_status = 200, .received_since = true} : ok_send();
  };
  bench.ask();
  bench.run(1500ms);
  bench.ask_many(20);
  bench.run(300ms);
  CHECK(bench.answered() == 20);
  bench.run(3s);
  CHECK(bench.answered() == 21);
  CHECK(bench.moves() == 0);
}

TEST_CASE("row 8: bad status, type or body: another upstream only, nobody moves") {
  for (const Step& bad : {Step{.delay = 5ms, .http_status = 500}, Step{.delay = 5ms, .http_status = 404},
                          Step{.delay = 5ms, .http_status = 200, .content_type = "text/html"}, Step{.delay = 5ms, .http_status = 204}}) {
    Bench bench({.hosts = 2});
    bench.transport.send_rule = [bad](const std::string& lane) { return lane.starts_with("h1/") ? bad : ok_send(); };
    bench.ask();
    bench.run(1s);
    REQUIRE(bench.answered() == 1);
    CHECK(bench.outcomes[0].trail.upstream == "h2");
    CHECK(bench.outcomes[0].trail.sendings == 2);
    CHECK(bench.moves() == 0);

    Bench alone({.hosts = 1});
    alone.transport.send_rule = [bad](const std::string&) { return bad; };
    alone.ask();
    alone.run(1s);
    REQUIRE(alone.finished() == 1);
    CHECK(alone.answered() == 0);
    CHECK(alone.outcomes[0].trail.sendings == 1);
  }
}

TEST_CASE("the same failure of one host through two exits is the host's: no further move, the third exit is not tried") {
  Bench bench({.hosts = 1});
  bench.transport.dial_rule = [](const std::string&) {
    return Step{.delay = 1ms, .failure = FailureKind::TunnelRefused, .http_status = 503};
  };
  bench.ask();
  bench.run(400ms);
  REQUIRE(bench.finished() == 1);
  CHECK(bench.answered() == 0);
  CHECK(bench.moves() == 1);
  CHECK(bench.transport.counts.size() == 2);
  CHECK(bench.exit_up("p1"));
  CHECK(bench.exit_up("p2"));
  CHECK(bench.exit_up("p3"));
}

TEST_CASE("one resolver down behind three healthy proxies: other hosts do not move, no proxy is marked down") {
  Bench bench({.hosts = 6, .strategy = Strategy::RoundRobin});
  bench.transport.dial_rule = [](const std::string& lane) {
    return lane.starts_with("h3/") ? Step{.delay = 1ms, .failure = FailureKind::TunnelRefused, .http_status = 503} : ok_dial();
  };
  for (int i = 0; i < 100; ++i) {
    bench.ask_many(6);
    bench.run(100ms);
  }
  bench.run(5s);
  CHECK(bench.answered() == 600);
  CHECK(bench.moves() == bench.moves("h3"));
  for (const char* exit : {"p1", "p2", "p3"}) {
    CHECK(bench.exit_up(exit));
  }
}

TEST_CASE("a lane is dialled once at a time, whatever waits") {
  Bench bench({.hosts = 3, .strategy = Strategy::RoundRobin});
  bench.ask_many(90);
  bench.run(2s);
  CHECK(bench.answered() == 90);
  for (const auto& [lane, counts] : bench.transport.counts) {
    CHECK(counts.dials == 1);
    CHECK(counts.dials_at_once_max == 1);
  }
}

TEST_CASE("all exits refuse: a failure within half a second, and again while they are known to be down") {
  Bench bench({.hosts = 1});
  bench.transport.dial_rule = [](const std::string&) { return Step{.delay = 1ms, .failure = FailureKind::ProxyRefused}; };
  bench.ask();
  bench.run(500ms);
  REQUIRE(bench.finished() == 1);
  CHECK(bench.outcomes[0].error.cause == upstream::Cause::NoReachableExit);
  for (int i = 0; i < 20; ++i) {
    bench.ask();
    bench.run(500ms);
    CHECK(bench.finished() == i + 2);
    CHECK(bench.outcomes.back().took <= 500ms);
  }
}

TEST_CASE("all exits silent: answered by the query's deadline, and within half a second once that is known") {
  Bench bench({.hosts = 1});
  bench.transport.dial_rule = [](const std::string&) { return Step{.failure = FailureKind::ProxySilent, .hang = true}; };
  bench.ask();
  bench.run(4500ms);
  REQUIRE(bench.finished() == 1);
  bench.run(3s);
  bench.ask();
  bench.run(500ms);
  CHECK(bench.finished() == 2);
}

TEST_CASE("back-off of an exit: one second, doubling, at most sixty") {
  Bench bench({.hosts = 1, .proxies = 1});
  bench.transport.dial_rule = [](const std::string&) { return Step{.delay = 1ms, .failure = FailureKind::ProxyRefused}; };
  for (int i = 0; i < 1800; ++i) {  // ten queries a second for three minutes
    bench.ask();
    bench.run(100ms);
  }
  CHECK(bench.finished() >= 1795);
  CHECK(bench.transport.counts["h1/p1"].dials >= 7);  // 0 1 3 7 15 31 63 123 s
  CHECK(bench.transport.counts["h1/p1"].dials <= 9);
  bench.transport.dial_rule = [](const std::string&) { return ok_dial(); };
  bench.run(60s);
  bench.ask();
  bench.run(1s);
  CHECK(bench.outcomes.back().answered);
  CHECK(bench.exit_up("p1"));
}

TEST_CASE("a proxy that was down long ago is not known to be down: a slow dial through it is waited for") {
  Bench bench({.hosts = 1, .proxies = 2});
  std::set<std::string> dead = {"p1", "p2"};
  bench.transport.dial_rule = [&dead](const std::string& lane) {
    return dead.contains(exit_part(lane)) ? Step{.delay = 1ms, .failure = FailureKind::ProxyRefused} : Step{.delay = 700ms};
  };
  bench.ask();
  bench.run(2s);
  dead.clear();
  bench.ask();
  bench.run(30s);  // one of the two is in use again
  const std::string first = bench.exit_of("h1");
  bench.ask();
  bench.run(1s);
  REQUIRE(bench.outcomes.back().answered);
  dead.insert(first);
  bench.transport.lose("h1/" + first);
  bench.ask();
  bench.run(4s);
  CHECK(bench.outcomes.back().answered);
}

TEST_CASE("a resolver that was down answers again within about a second of its return, however long it was down") {
  Bench bench({.hosts = 1, .proxies = 2});
  bool down = true;
  bench.transport.dial_rule = [&down](const std::string&) {
    return down ? Step{.delay = 1ms, .failure = FailureKind::TunnelRefused, .http_status = 503} : ok_dial();
  };
  for (int i = 0; i < 600; ++i) {
    bench.ask();
    bench.run(50ms);
  }
  down = false;
  for (int i = 0; i < 24; ++i) {
    bench.ask();
    bench.run(50ms);
  }
  bench.run(1s);
  CHECK(bench.answered() > 0);
  CHECK(bench.outcomes.back().answered);
}

TEST_CASE("a proxy dies under load: every query is answered, each host of it moves exactly once") {
  Bench bench({.hosts = 12, .strategy = Strategy::RoundRobin});
  std::set<std::string> dead;
  bench.transport.dial_rule = [&dead](const std::string& lane) {
    return dead.contains(exit_part(lane)) ? Step{.delay = 1ms, .failure = FailureKind::ProxyRefused} : ok_dial();
  };
  std::map<std::string, std::string> before;
  for (int i = 0; i < 40; ++i) {
    bench.ask_many(10);
    bench.run(10ms);
    if (i == 20) {
      dead.insert("p2");
      for (const UpstreamConfig& upstream : bench.config.upstreams) {
        before[upstream.name] = bench.exit_of(upstream.name);
        if (before[upstream.name] == "p2" && bench.transport.counts.contains(upstream.name + "/p2")) {
          bench.transport.lose(upstream.name + "/p2");
        }
      }
    }
  }
  bench.run(5s);
  CHECK(bench.answered() == 400);
  CHECK(bench.sendings_most() <= 2);
  for (const auto& [name, exit] : before) {
    CHECK(bench.moves(name) == (exit == "p2" ? 1U : 0U));
    CHECK(bench.exit_of(name) != "p2");
  }
}

TEST_CASE("cancelling exchanges cancels their questions: the host's own assertions hold") {
  Bench bench({.hosts = 2});
  bench.transport.dial_rule = [](const std::string&) { return Step{.failure = FailureKind::ProxySilent, .hang = true}; };
  bench.ask_many(10);
  bench.run(100ms);
  CHECK(bench.finished() == 0);  // the bench's destructor cancels all ten
}
