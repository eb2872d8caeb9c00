// What one server says, and what becomes of it: matching, forgeries, truncation, malformed messages.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>

#include "asking.h"

using namespace dohmux;
using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {
const Octets kTruth{10, 1, 2, 3};
}

TEST_CASE("an answer comes back with id 0, the trail and nothing inline") {
  const PlainDns server(PlainMode::Normal, kTruth);
  Asking asking({&server});
  Question& question = asking.ask("WWW.corp.Example");
  CHECK_FALSE(question.outcome.has_value());
  CHECK(server.count() == 0);
  REQUIRE(asking.all_over());
  REQUIRE(question.answered());
  CHECK(question.message()[0] == 0);
  CHECK(question.message()[1] == 0);
  CHECK(question.address() == kTruth);
  const upstream::Trail& trail = (*question.outcome)->trail;
  CHECK(trail.upstream == "route");
  CHECK(trail.host == server.endpoint());
  CHECK(trail.exit == "plain");
  CHECK(trail.sendings == 1);
  CHECK(server.asked().at(0).name == "WWW.corp.Example");
}

TEST_CASE("what is sent: the message as it was given but for the id") {
  const PlainDns server;
  Asking asking({&server});
  const Question& question = asking.asked();
  Octets sent = server.asked().at(0).message;
  sent[0] = sent[1] = 0;
  CHECK(sent == dns::upstream_query(question.query, dns::Padding::None));
}

TEST_CASE("each query has an id and a port of its own") {
  const PlainDns server;
  Asking asking({&server});
  std::set<std::uint16_t> ids;
  std::set<std::uint16_t> ports;
  for (int i = 0; i < 60; ++i) {
    asking.asked();
    ids.insert(server.asked().back().id);
    ports.insert(server.asked().back().source_port);
  }
  CHECK(server.count() == 60);
  CHECK(ids.size() >= 58);  // 60 of 65,536 draws may coincide
  CHECK(ports.size() >= 55);
}

TEST_CASE("forgeries are ignored, and the true answer behind them is taken") {
  const PlainDns server(PlainMode::Forged, kTruth);
  Asking asking({&server});
  for (int i = 0; i < 20; ++i) {
    const Question& question = asking.asked();
    REQUIRE(question.answered());
    CHECK(question.address() == kTruth);
    CHECK((*question.outcome)->trail.sendings == 1);
  }
  CHECK(server.count() == 20);
}

TEST_CASE("an answer to another id is waited past: silence until the deadline") {
  const PlainDns server(PlainMode::WrongId);
  Asking asking({&server});
  const Question& question = asking.asked("www.corp.example", 300ms);
  CHECK(question.stage() == "forward: timeout");
  CHECK(question.outcome->error().cause == upstream::Cause::NetworkError);
  CHECK(server.count() == 1);
}

TEST_CASE("TC: the same question once more over TCP, and the whole answer") {
  const auto mode = GENERATE(PlainMode::Truncated, PlainMode::TruncatedCutOff, PlainMode::TruncatedDrip);
  const PlainDns server(mode, kTruth);
  Asking asking({&server});
  const Question& question = asking.asked();
  REQUIRE(question.answered());
  CHECK(question.records() == 120);
  CHECK(question.address() == kTruth);
  CHECK((*question.outcome)->trail.sendings == 2);
  const auto asked = server.asked();
  REQUIRE(asked.size() == 2);
  CHECK_FALSE(asked[0].tcp);
  CHECK(asked[1].tcp);
  CHECK(Octets(asked[0].message.begin() + 2, asked[0].message.end()) == Octets(asked[1].message.begin() + 2, asked[1].message.end()));
}

TEST_CASE("TC, and TCP does not help: an error that says so, and no second round") {
  const auto [mode, text, cause] = GENERATE(table<PlainMode, std::string, upstream::Cause>({
      {PlainMode::TruncatedNoTcp, "tcp connection lost", upstream::Cause::NetworkError},
      {PlainMode::TruncatedSilent, "tcp timeout", upstream::Cause::NetworkError},
      {PlainMode::TruncatedTwice, "tcp truncated", upstream::Cause::BadAnswer},
      {PlainMode::TruncatedWrongId, "tcp wrong id", upstream::Cause::BadAnswer},
  }));
  const PlainDns server(mode);
  Asking asking({&server});
  const Question& question = asking.asked("www.corp.example", 600ms);
  CHECK(question.stage() == std::string("forward: ") + text);
  REQUIRE_FALSE(question.answered());
  CHECK(question.outcome->error().cause == cause);
  CHECK(question.outcome->error().trail.sendings == 2);
  CHECK(server.count() <= 2);
}

TEST_CASE("TCP that does not help: the next server is asked") {
  const auto mode = GENERATE(PlainMode::TruncatedNoTcp, PlainMode::TruncatedSilent, PlainMode::TruncatedTwice, PlainMode::TruncatedWrongId);
  const PlainDns first(mode);
  const PlainDns second(PlainMode::Normal, kTruth);
  Asking asking({&first, &second});
  const Question& question = asking.asked("www.corp.example", 2s);
  REQUIRE(question.answered());
  CHECK(question.address() == kTruth);
  CHECK((*question.outcome)->trail.sendings == 3);
  CHECK((*question.outcome)->trail.host == second.endpoint());
  CHECK(second.count() == 1);
}

TEST_CASE("a malformed answer: the next server, and BadAnswer without one") {
  const PlainDns bad(PlainMode::Malformed);
  const PlainDns good(PlainMode::Normal, kTruth);
  Asking two({&bad, &good});
  REQUIRE(two.asked().answered());
  CHECK(two.questions.back().address() == kTruth);
  Asking one({&bad});
  const Question& question = one.asked();
  CHECK(question.stage() == "forward: malformed");
  CHECK(question.outcome->error().cause == upstream::Cause::BadAnswer);
}

TEST_CASE("SERVFAIL and REFUSED: the next server; the last one's word is relayed") {
  const PlainDns servfail(PlainMode::ServFail);
  const PlainDns refused(PlainMode::Refused);
  const PlainDns good(PlainMode::Normal, kTruth);
  Asking three({&servfail, &refused, &good});
  REQUIRE(three.asked().answered());
  CHECK(three.questions.back().address() == kTruth);
  CHECK((*three.questions.back().outcome)->trail.sendings == 3);

  Asking two({&servfail, &refused});
  REQUIRE(two.asked().answered());
  CHECK(two.questions.back().rcode() == 5);
  CHECK((*two.questions.back().outcome)->trail.host == refused.endpoint());

  Asking other({&refused, &servfail});
  REQUIRE(other.asked().answered());
  CHECK(other.questions.back().rcode() == 2);
}

TEST_CASE("a refusal, and silence behind it: the refusal is relayed") {
  const PlainDns refused(PlainMode::Refused);
  const PlainDns silent(PlainMode::Silent);
  Asking asking({&refused, &silent});
  const Question& question = asking.asked("www.corp.example", 400ms);
  REQUIRE(question.answered());
  CHECK(question.rcode() == 5);
  CHECK((*question.outcome)->trail.host == refused.endpoint());
  CHECK((*question.outcome)->trail.sendings == 2);
}

TEST_CASE("no data and other types come through") {
  const PlainDns server;
  Asking asking({&server});
  Question& question = asking.questions.emplace_back();
  question.query = *dns::parse_query(query("www.corp.example", 28).build());
  question.call = asking.forwarder.exchange(question.query, dns::upstream_query(question.query, dns::Padding::None), asking.loop.now() + 5s,
                                            [&](Outcome outcome) { question.outcome = std::move(outcome); });
  REQUIRE(asking.all_over());
  REQUIRE(question.answered());
  CHECK(question.rcode() == 0);
  CHECK(question.records() == 0);
}
