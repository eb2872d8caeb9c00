// client_reply: shrinking to a limit, rows U1-U3, E8.
#include <catch2/catch_test_macros.hpp>

#include "dns/answer_check.h"
#include "dns/reply.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

dns::Query parsed(const MessageBuilder& builder) {
  auto result = dns::parse_query(builder.build());
  REQUIRE(result.has_value());
  return *result;
}
Octets shrunk(const MessageBuilder& asked, const MessageBuilder& answer, std::size_t limit) {
  const auto client = parsed(asked);
  REQUIRE(dns::check_answer(client, answer.build()).has_value());
  Octets reply = dns::client_reply(client, answer.build(), limit);
  CHECK(reply.size() <= limit);
  return reply;
}
Rr txt(std::size_t size, unsigned type = 16) {
  return {.owner = pointer(12), .type = static_cast<std::uint16_t>(type), .rdata = Octets(size, 'x')};
}
Rr ns(std::string_view host) {
  return {.owner = pointer(16), .type = 2, .rdata = wire(host)};
}
MessageBuilder expected(unsigned flags) {
  return MessageBuilder().flags(flags).question("www.example.org");
}
const MessageBuilder kPlain = query();
const MessageBuilder kWithOpt = query().additional(opt(1232));

}  // namespace

TEST_CASE("U1 30 kB: TC=1, the question, no record, the OPT") {
  MessageBuilder answer = response();
  for (int i = 0; i < 100; ++i) {
    answer.answer(txt(290));
  }
  answer.additional(opt(4096));
  CHECK(shrunk(kPlain, answer, 512) == expected(0x8380).build());
  CHECK(shrunk(kWithOpt, answer, 512) == expected(0x8380).additional(opt(1232)).build());
  CHECK(shrunk(kWithOpt, answer, 1232) == expected(0x8380).additional(opt(1232)).build());
}

TEST_CASE("U2 the same over TCP is whole, TC=0") {
  MessageBuilder answer = response();
  MessageBuilder whole = expected(0x8180);
  for (int i = 0; i < 100; ++i) {
    answer.answer(txt(290));
    whole.answer(txt(290));
  }
  CHECK((shrunk(kPlain, answer, 65535) == whole.build()));
}

TEST_CASE("U3 additional records go first, without TC") {
  const auto answer =
      response().answer(txt(200)).authority(ns("ns1.example.org")).additional(a(wire("ns1.example.org"))).additional(txt(300));
  CHECK(shrunk(kPlain, answer, 512) == expected(0x8180).answer(txt(200)).authority(ns("ns1.example.org")).build());
  const auto with_opt = MessageBuilder(answer).additional(opt(4096));
  CHECK(shrunk(kWithOpt, with_opt, 512) ==
        expected(0x8180).answer(txt(200)).authority(ns("ns1.example.org")).additional(opt(1232)).build());
}

TEST_CASE("U3 additional records behind the upstream's OPT go too") {
  const auto answer = response().answer(txt(200)).additional(opt(4096)).additional(txt(300));
  CHECK(shrunk(kWithOpt, answer, 512) == expected(0x8180).answer(txt(200)).additional(opt(1232)).build());
}

TEST_CASE("U3 then the authority section, without TC") {
  const auto answer = response().answer(txt(400)).authority(ns(std::string(60, 'n'))).authority(ns("ns2")).additional(a(wire("ns2")));
  CHECK(shrunk(kPlain, answer, 512) == expected(0x8180).answer(txt(400)).build());
}

TEST_CASE("U3 never without TC: proofs, and authority beside an empty answer section") {
  for (const unsigned type : {47U, 50U}) {
    CHECK(shrunk(kPlain, response().answer(txt(100)).authority(txt(400, type)), 512) == expected(0x8380).build());
  }
  CHECK(shrunk(kPlain, response().flags(0x8183).authority(txt(300)).authority(txt(300)), 512) == expected(0x8383).build());
  const auto chain_to_nothing = response().answer(txt(450)).authority(soa(wire("example.org"), 60, 60));
  CHECK(shrunk(kPlain, chain_to_nothing, 512) == expected(0x8380).build());
}

TEST_CASE("U1 EDEs go before the answer does") {
  const auto answer = response().answer(txt(440)).additional(opt(4096, 0, ede(6, "a reason of some length")));
  CHECK(shrunk(kWithOpt, answer, 512) == expected(0x8180).answer(txt(440)).additional(opt(1232)).build());
  const auto longer = response().answer(txt(500)).additional(opt(4096, 0, ede(6, "a reason")));
  CHECK(shrunk(kWithOpt, longer, 512) == expected(0x8380).additional(opt(1232, 0, ede(6, "a reason"))).build());
}

TEST_CASE("U1 the limit is exact") {
  const auto answer = response().answer(txt(200));
  const std::size_t exact = answer.build().size();
  CHECK(shrunk(kPlain, answer, exact) == expected(0x8180).answer(txt(200)).build());
  CHECK(shrunk(kPlain, answer, exact - 1) == expected(0x8380).build());
  CHECK(shrunk(kWithOpt, answer, exact + 11) == expected(0x8180).answer(txt(200)).additional(opt(1232)).build());
  CHECK(shrunk(kWithOpt, answer, exact + 10) == expected(0x8380).additional(opt(1232)).build());
}

TEST_CASE("U1 the longest question with the most EDEs fits into 512 octets") {
  const Octets name = name_of({63, 63, 63, 61});
  const std::string text(64, 'x');
  const auto asked = MessageBuilder().question(name).additional(opt(0));
  const auto answer = MessageBuilder().id(0).flags(0x8180).question(name).answer(txt(600)).additional(
      opt(4096, 0, ede(1, text) + ede(2, text) + ede(3, text) + ede(4, text)));
  const Octets reply = shrunk(asked, answer, 512);
  CHECK(reply ==
        MessageBuilder().flags(0x8380).question(name).additional(opt(1232, 0, ede(1, text) + ede(2, text) + ede(3, text))).build());
}

TEST_CASE("U2 an answer that would pass 65,535 octets with our OPT loses what may go") {
  const auto answer = response().answer(txt(65000)).additional(txt(446)).additional(txt(10));
  REQUIRE(answer.build().size() == 65525);
  const Octets reply = shrunk(query().additional(opt(1232, kDo)), answer, 65535);
  CHECK((reply == expected(0x8180).answer(txt(65000)).additional(opt(1232, kDo)).build()));
}

TEST_CASE("U2 records that grow past any message when written out are left out") {
  // 600 records of 16 octets behind the OPT, each with a name of 255 octets: 160 kB written out.
  const Octets name = name_of({63, 63, 63, 61});
  MessageBuilder answer = MessageBuilder().id(0).flags(0x8180).question(name).answer(a(pointer(12))).additional(opt(4096));
  for (int i = 0; i < 600; ++i) {
    answer.additional(a(pointer(12)));
  }
  CHECK(shrunk(MessageBuilder().question(name), answer, 65535) ==
        MessageBuilder().flags(0x8180).question(name).answer(a(pointer(12))).build());
}
