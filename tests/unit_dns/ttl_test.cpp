// Times to live: rows K1-K7, D10 and what the OPT's TTL field is not.
#include <catch2/catch_test_macros.hpp>

#include "dns/ttl.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using dns::AnswerKind;
using std::chrono::seconds;

namespace {

std::optional<seconds> life(const MessageBuilder& message) {
  return dns::cache_ttl(message.build());
}
AnswerKind kind(const MessageBuilder& message) {
  return dns::answer_kind(message.build());
}
Octets aged(const MessageBuilder& message, seconds age) {
  Octets octets = message.build();
  dns::age_ttls(octets, age);
  return octets;
}
MessageBuilder with_ttls(std::uint32_t answer, std::uint32_t authority, std::uint32_t additional) {
  const Rr ns{.owner = pointer(16), .type = 2, .ttl = authority, .rdata = labels("ns") + pointer(16)};
  return response().answer(a(pointer(12), answer)).authority(ns).additional(a(pointer(16), additional)).additional(opt(1232, kDo));
}
Rr cname(std::uint32_t ttl) {
  return {.owner = pointer(12), .type = 5, .ttl = ttl, .rdata = wire("x.example.org")};
}
const Rr kSoa = soa(pointer(16), 3600, 60);

}  // namespace

TEST_CASE("K3 the lowest TTL of all sections counts, the OPT's field does not") {
  CHECK(life(with_ttls(300, 200, 100)) == seconds(100));
  CHECK(life(with_ttls(300, 100, 200)) == seconds(100));
  CHECK(life(with_ttls(100, 200, 300)) == seconds(100));
  CHECK(dns::lowest_ttl(response().additional(opt(1232, 0)).build()) == std::nullopt);
  CHECK(life(response().answer(a(pointer(12), 77)).additional(opt(1232, 0))) == seconds(77));
}

TEST_CASE("K2 TTL 0 is a life of 0") {
  CHECK(life(with_ttls(300, 0, 300)) == seconds(0));
}

TEST_CASE("K4 TTLs of 2^31 and more are 0") {
  CHECK(life(with_ttls(0x80000000U, 300, 300)) == seconds(0));
  CHECK(life(with_ttls(0xFFFFFFFFU, 300, 300)) == seconds(0));
  CHECK(life(with_ttls(0x7FFFFFFFU, 0x7FFFFFFFU, 0x7FFFFFFFU)) == seconds(0x7FFFFFFF));
  CHECK(aged(with_ttls(0x80000000U, 0xFFFFFFFFU, 300), seconds(1)) == with_ttls(0, 0, 299).build());
}

TEST_CASE("K1, D10 ageing counts down to 0 and no further") {
  CHECK(aged(with_ttls(300, 200, 100), seconds(0)) == with_ttls(300, 200, 100).build());
  CHECK(aged(with_ttls(300, 200, 100), seconds(150)) == with_ttls(150, 50, 0).build());
  CHECK(aged(with_ttls(300, 200, 100), seconds(-5)) == with_ttls(300, 200, 100).build());
  CHECK(aged(with_ttls(300, 200, 100), seconds::max()) == with_ttls(0, 0, 0).build());
}

TEST_CASE("K5 negative answers live for min(SOA TTL, MINIMUM)") {
  CHECK(life(response().flags(0x8183).authority(kSoa)) == seconds(60));
  CHECK(life(response().authority(kSoa)) == seconds(60));
  CHECK(life(response().authority(soa(pointer(16), 30, 60))) == seconds(30));
  CHECK(life(response().authority(soa(pointer(16), 3600, 0x80000000U))) == seconds(0));
  CHECK(life(response().authority(soa(pointer(16), 0x80000000U, 60))) == seconds(0));
  const Rr nsec{.owner = pointer(16), .type = 47, .ttl = 20, .rdata = wire("z")};
  CHECK(life(response().authority(kSoa).authority(nsec)) == seconds(20));
}

TEST_CASE("K6 negative answers without a SOA are not kept") {
  CHECK(life(response().flags(0x8183)) == std::nullopt);
  CHECK(life(response()) == std::nullopt);
  CHECK(life(response().answer(cname(300))) == std::nullopt);
  CHECK(life(response().answer(kSoa)) == std::nullopt);  // not in the authority section
  CHECK(life(response().authority({.owner = pointer(16), .type = 2, .rdata = wire("ns")})) == std::nullopt);  // a referral
}

TEST_CASE("K7 NXDOMAIN at the end of a CNAME") {
  const auto message = response().flags(0x8183).answer(cname(10)).authority(kSoa);
  CHECK(kind(message) == AnswerKind::NxDomain);
  CHECK(life(message) == seconds(10));
}

TEST_CASE("what kind of answer it is") {
  CHECK(kind(response().answer(a(pointer(12)))) == AnswerKind::Positive);
  CHECK(kind(response().answer(cname(1)).answer(a(wire("x.example.org")))) == AnswerKind::Positive);
  CHECK(kind(response().answer(cname(1))) == AnswerKind::NoData);
  CHECK(kind(response("www.example.org", 5).answer(cname(1))) == AnswerKind::Positive);
  CHECK(kind(response("www.example.org", 255).answer(cname(1))) == AnswerKind::Positive);
  CHECK(kind(response("www.example.org", 255)) == AnswerKind::NoData);
  CHECK(kind(response().authority(a(pointer(12)))) == AnswerKind::NoData);
  CHECK(kind(response().flags(0x8182)) == AnswerKind::Failure);
  CHECK(kind(response().flags(0x8185)) == AnswerKind::Failure);
  CHECK(kind(response().additional(opt(1232, 0x01000000))) == AnswerKind::Failure);  // BADVERS
  CHECK(kind(MessageBuilder().flags(0x8180)) == AnswerKind::NoData);                 // no question at all
}

TEST_CASE("K8, D14 failures and truncated answers have no life of their own") {
  CHECK(life(response().flags(0x8182).authority(kSoa)) == std::nullopt);
  CHECK(life(response().flags(0x8380).answer(a(pointer(12)))) == std::nullopt);
}

TEST_CASE("K5 a negative answer's SOA is handed out with what is left of it") {
  Octets message = response().authority(kSoa).additional(opt(1232, kDo)).build();
  dns::normalise_ttls(message);
  CHECK(message == response().authority(soa(pointer(16), 60, 60)).additional(opt(1232, kDo)).build());
  dns::age_ttls(message, seconds(15));
  CHECK(message == response().authority(soa(pointer(16), 45, 60)).additional(opt(1232, kDo)).build());

  const auto positive = response().answer(a(pointer(12))).authority(kSoa);
  message = positive.build();
  dns::normalise_ttls(message);
  CHECK(message == positive.build());

  message = with_ttls(0xFFFFFFFFU, 1, 0x80000000U).build();
  dns::normalise_ttls(message);
  CHECK(message == with_ttls(0, 1, 0).build());
}

TEST_CASE("K4, K11 TTLs clamped between two values, or set to one") {
  const auto clamped = [](const MessageBuilder& builder, seconds low, seconds high) {
    Octets message = builder.build();
    dns::clamp_ttls(message, low, high);
    return message;
  };
  CHECK(clamped(with_ttls(10, 500, 100), seconds(60), seconds(300)) == with_ttls(60, 300, 100).build());
  CHECK(clamped(with_ttls(10, 500, 0xFFFFFFFFU), seconds(30), seconds(30)) == with_ttls(30, 30, 30).build());
  CHECK(clamped(with_ttls(10, 500, 100), seconds(60), seconds(5)) == with_ttls(60, 60, 60).build());
}

TEST_CASE("a SOA too short to have a MINIMUM keeps nothing") {
  CHECK(dns::negative_ttl(response().authority({.owner = pointer(12), .type = 6, .ttl = 9, .rdata = Octets(19, 1)}).build()) == seconds(0));
}

TEST_CASE("messages that end too early are changed as far as they go") {
  Octets message = with_ttls(300, 200, 100).build();
  message.resize(message.size() - 40);
  dns::age_ttls(message, seconds(100));
  Octets expected = with_ttls(200, 100, 100).build();
  expected.resize(message.size());
  CHECK(message == expected);
  Octets nothing;
  dns::age_ttls(nothing, seconds(1));
  CHECK(dns::cache_ttl(nothing) == std::nullopt);
}
