// check_answer: rows D12, D13 and RFC 5452 §9.1.
#include <catch2/catch_test_macros.hpp>

#include "dns/answer_check.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using dns::AnswerFault;

namespace {

dns::Query parsed(const MessageBuilder& builder) {
  auto result = dns::parse_query(builder.build());
  REQUIRE(result.has_value());
  return *result;
}
std::optional<AnswerFault> fault(const Octets& answer) {
  const auto checked = dns::check_answer(parsed(query("wWw.example.org")), answer);
  return checked ? std::nullopt : std::optional(checked.error());
}
std::optional<AnswerFault> fault(const MessageBuilder& answer) {
  return fault(answer.build());
}
Rr rr(unsigned type, Octets rdata) {
  return {.owner = pointer(12), .type = static_cast<std::uint16_t>(type), .ttl = 1, .rdata = std::move(rdata)};
}

}  // namespace

TEST_CASE("D13 good answers of all kinds") {
  CHECK_FALSE(fault(response()));
  CHECK_FALSE(fault(response("WWW.EXAMPLE.ORG").answer(a(pointer(12)))));
  CHECK_FALSE(fault(response().flags(0x8583).authority(soa(pointer(16), 1, 2)).additional(opt(4096, kDo, ede(1, "x")))));
  CHECK_FALSE(fault(response().flags(0x8382)));
  CHECK_FALSE(fault(response().answer(rr(5, labels("a") + pointer(12))).answer(a(pointer(45)))));
  CHECK_FALSE(fault(response().additional(opt()).additional(a(pointer(12)))));
}

TEST_CASE("D12 empty, short, cut and long bodies") {
  CHECK(fault(Octets{}) == AnswerFault::TooShort);
  CHECK(fault(Octets(11, 0)) == AnswerFault::TooShort);
  const Octets whole = response().answer(a(pointer(12))).additional(opt(1232, 0, ede(1, "x"))).build();
  REQUIRE_FALSE(fault(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(fault(Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))));
  }
  CHECK_FALSE(fault(response().answer(rr(16, Octets(65535 - 33 - 12, 1)))));
  CHECK(fault(response().answer(rr(16, Octets(65535 - 33 - 12, 1))).raw({0})) == AnswerFault::TooLong);
}

TEST_CASE("D12 junk, JSON, HTML, a TCP frame") {
  CHECK(fault(text_octets(R"({"Status":0,"Answer":[]})")));
  CHECK(fault(text_octets("<html><body>portal</body></html>")));
  const Octets whole = response().answer(a(pointer(12))).build();
  CHECK(fault(be16(static_cast<unsigned>(whole.size())) + whole));
  CHECK(fault(Octets(4096, 0xFF)) == AnswerFault::WrongId);
}

TEST_CASE("D12 octets behind the last record") {
  CHECK(fault(response().answer(a(pointer(12))).raw({0})) == AnswerFault::Malformed);
  CHECK(fault(response().raw(Octets(2000, 0))) == AnswerFault::Malformed);
}

TEST_CASE("D13 id, QR, opcode") {
  CHECK(fault(response().id(0x1234)) == AnswerFault::WrongId);
  CHECK(fault(response().flags(0x0180)) == AnswerFault::NotAResponse);
  CHECK(fault(response().flags(0xA980)) == AnswerFault::WrongOpcode);
}

TEST_CASE("D13 the question: count, name, type, class, form") {
  CHECK(fault(MessageBuilder().id(0).flags(0x8180)) == AnswerFault::WrongQuestion);
  CHECK(fault(response().question("www.example.org")) == AnswerFault::WrongQuestion);
  CHECK(fault(response("www.example.net")) == AnswerFault::WrongQuestion);
  CHECK(fault(response("example.org")) == AnswerFault::WrongQuestion);
  CHECK(fault(response("www.example.org.x")) == AnswerFault::WrongQuestion);
  CHECK(fault(response("www.example.org", 28)) == AnswerFault::WrongQuestion);
  CHECK(fault(response("www.example.org", 0x0101)) == AnswerFault::WrongQuestion);
  CHECK(fault(MessageBuilder().id(0).flags(0x8180).question("www.example.org", 1, 3)) == AnswerFault::WrongQuestion);
  CHECK(fault(MessageBuilder().id(0).flags(0x8180).question(pointer(12))) == AnswerFault::Malformed);
  CHECK(fault(MessageBuilder().id(0).flags(0x8180).raw(wire("www.example.org")).counts({1, 0, 0, 0})) == AnswerFault::Malformed);
}

TEST_CASE("D13 only letters may differ in the name") {
  // '@' and '`', '[' and '{' differ by the same bit as upper and lower case.
  const auto asked = parsed(query("@x["));
  CHECK(dns::check_answer(asked, response("@X[").build()).has_value());
  CHECK_FALSE(dns::check_answer(asked, response("`x[").build()).has_value());
  CHECK_FALSE(dns::check_answer(asked, response("@x{").build()).has_value());
}

TEST_CASE("D13 types and classes that look like letters must not be folded") {
  const auto asked = parsed(query("x", 0x4141));
  CHECK_FALSE(dns::check_answer(asked, response("x", 0x6161).build()).has_value());
}

TEST_CASE("D12 counts and bounds of records") {
  CHECK(fault(response().counts({1, 1, 0, 0})) == AnswerFault::Malformed);
  CHECK(fault(response().counts({1, 65535, 65535, 65535})) == AnswerFault::Malformed);
  CHECK(fault(response().answer(a(pointer(12))).counts({1, 0, 0, 0})) == AnswerFault::Malformed);
  CHECK(fault(response().raw(pointer(12) + be16(1) + be16(1) + be32(1) + be16(5) + be32(7)).counts({1, 1, 0, 0})) ==
        AnswerFault::Malformed);
}

TEST_CASE("N3, N4 owner names") {
  CHECK(fault(response().answer(a(pointer(33)))) == AnswerFault::Malformed);
  CHECK(fault(response().answer(a(pointer(40)))) == AnswerFault::Malformed);
  CHECK(fault(response().answer(a(pointer(3)))) == AnswerFault::Malformed);
  CHECK(fault(response().answer(a(Octets{0x41, 'a', 0}))) == AnswerFault::Malformed);
  CHECK(fault(response().answer(a(labels(std::string(63, 'x')) + labels(std::string(63, 'y')) + labels(std::string(63, 'z')) +
                                  labels(std::string(50, 'v')) + pointer(12)))) == AnswerFault::Malformed);
}

TEST_CASE("N4 a name must not reach into the records behind it") {
  // The second owner points to the last octet of the address, a length that runs over the whole second record.
  const auto first = a(pointer(12), 300, {192, 0, 2, 40});
  CHECK(fault(response().answer(first).answer(a(pointer(48))).additional(a(wire("x")))) == AnswerFault::Malformed);
}

TEST_CASE("D12 RDATA of known types has their form") {
  const Octets org = pointer(16);
  for (const auto& good : {rr(1, Octets(4, 1)), rr(28, Octets(16, 1)), rr(2, org), rr(15, be16(1) + org), rr(33, Octets(6, 0) + wire(".")),
                           rr(35, Octets(4, 0) + Octets{0, 0, 0} + org), rr(24, Octets(18, 0) + org), rr(16, {}), rr(65280, pointer(9))}) {
    CHECK_FALSE(fault(response().answer(good)));
  }
  for (const auto& bad :
       {rr(1, Octets(3, 1)), rr(1, Octets(5, 1)), rr(1, {}), rr(28, Octets(4, 1)), rr(2, {}), rr(2, org + Octets{0}), rr(5, pointer(45)),
        rr(5, pointer(50)), rr(5, labels("x")), rr(15, be16(1)), rr(15, {1}), rr(6, org + org + Octets(19, 0)),
        rr(6, org + Octets(20, 0xC0)), rr(35, Octets(4, 0) + Octets{9, 0, 0} + org), rr(33, Octets(5, 0) + wire("."))}) {
    CHECK(fault(response().answer(bad)) == AnswerFault::Malformed);
  }
  Rr chaos = rr(1, labels("x") + pointer(16) + be16(1));
  chaos.rclass = 3;
  CHECK_FALSE(fault(response().answer(chaos)));
}

TEST_CASE("D12 a name in RDATA must end inside it") {
  // The CNAME's name would go on into the next record.
  CHECK(fault(response().answer(rr(5, {3, 'a', 'b'})).answer(a(pointer(12)))) == AnswerFault::Malformed);
}

TEST_CASE("D12 one OPT, in its place, with whole options; no TSIG") {
  CHECK(fault(response().additional(opt()).additional(opt())) == AnswerFault::Malformed);
  CHECK(fault(response().answer(opt())) == AnswerFault::Malformed);
  CHECK(fault(response().authority(opt())) == AnswerFault::Malformed);
  Rr named = opt();
  named.owner = wire("x");
  CHECK(fault(response().additional(named)) == AnswerFault::Malformed);
  CHECK(fault(response().additional(opt(1232, 0, {0, 15, 0}))) == AnswerFault::Malformed);
  CHECK(fault(response().additional(opt(1232, 0, be16(15) + be16(9) + be16(1)))) == AnswerFault::Malformed);
  CHECK(fault(response().additional({.owner = wire("k"), .type = 250, .ttl = 0, .rdata = {1}, .rclass = 255})) == AnswerFault::Malformed);
}

TEST_CASE("every fault has a word of its own") {
  std::vector<std::string_view> words;
  for (const auto each : {AnswerFault::TooShort, AnswerFault::TooLong, AnswerFault::NotAResponse, AnswerFault::WrongId,
                          AnswerFault::WrongOpcode, AnswerFault::WrongQuestion, AnswerFault::Malformed}) {
    for (const auto word : words) {
      CHECK(word != dns::to_string(each));
    }
    words.push_back(dns::to_string(each));
    CHECK_FALSE(words.back().empty());
  }
}
