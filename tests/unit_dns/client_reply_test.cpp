// client_reply: an upstream's answer in the client's terms, rows H9, H14, N6, T1, E1, E2, E15, E16, D20.
#include <catch2/catch_test_macros.hpp>

#include "dns/answer_check.h"
#include "dns/reply.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using dns::EdeCode;

namespace {

dns::Query parsed(const MessageBuilder& builder) {
  auto result = dns::parse_query(builder.build());
  REQUIRE(result.has_value());
  return *result;
}
Octets reply(const MessageBuilder& asked, const MessageBuilder& answer, std::optional<dns::Ede> own = std::nullopt) {
  const auto client = parsed(asked);
  REQUIRE(dns::check_answer(client, answer.build()).has_value());
  return dns::client_reply(client, answer.build(), 65535, own);
}
MessageBuilder asked(const Octets& options = {}, std::uint32_t opt_ttl = 0) {
  return query("wWw.eXample.org").additional(opt(4096, opt_ttl, options));
}
MessageBuilder expected(unsigned flags = 0x8180) {
  return MessageBuilder().flags(flags).question("wWw.eXample.org");
}

const Rr kCname{.owner = pointer(12), .type = 5, .ttl = 60, .rdata = labels("web") + pointer(16)};

}  // namespace

TEST_CASE("H14, N6 own id, the client's letter case, the records as they were") {
  const auto answer = response().answer(kCname).answer(a(pointer(12 + 21 + 12), 30));
  CHECK(reply(query("wWw.eXample.org"), answer) == expected().answer(kCname).answer(a(pointer(45), 30)).build());
}

TEST_CASE("H9, H14 RD and CD are the client's, RA is 1, Z is 0, AA and RCODE are the upstream's") {
  const auto answer = [](unsigned flags) { return response().flags(flags); };
  CHECK(reply(query("wWw.eXample.org").flags(0x0010), answer(0x8540)) == expected(0x8490).build());
  CHECK(reply(query("wWw.eXample.org").flags(0x0100), answer(0x8013)) == expected(0x8183).build());
  CHECK(reply(query("wWw.eXample.org"), answer(0x8205)) == expected(0x8385).build());  // D14: TC is passed on
}

TEST_CASE("D20 AD only for clients that set AD or DO") {
  const auto answer = response().flags(0x81A0);
  CHECK(reply(query("wWw.eXample.org"), answer) == expected(0x8180).build());
  CHECK(reply(asked(), answer) == expected(0x8180).additional(opt(1232)).build());
  CHECK(reply(query("wWw.eXample.org").flags(0x0120), answer) == expected(0x81A0).build());
  CHECK(reply(asked({}, kDo), answer) == expected(0x81A0).additional(opt(1232, kDo)).build());
}

TEST_CASE("E1 no OPT for clients without one, even with an EDE of our own") {
  const auto answer = response().answer(a(pointer(12))).additional(opt(1400, kDo, ede(9, "x")));
  CHECK(reply(query("wWw.eXample.org"), answer, dns::Ede{.code = EdeCode::StaleAnswer, .text = {}}) ==
        expected().answer(a(pointer(12))).build());
}

TEST_CASE("E2, E15 our OPT in place of the upstream's; nothing of it is passed on") {
  const Octets theirs = option(3, text_octets("srv1")) + option(8, be16(1) + Octets{24, 24, 1, 2, 3}) + option(10, Octets(24, 1)) +
                        option(11, {0, 100}) + option(12, Octets(60, 0));
  const auto answer = response().answer(a(pointer(12))).additional(opt(4096, 0xFFFF, theirs));
  CHECK(reply(asked(), answer) == expected().answer(a(pointer(12))).additional(opt(1232, 0)).build());
  CHECK(reply(asked({}, kDo), response().answer(a(pointer(12)))) == expected().answer(a(pointer(12))).additional(opt(1232, kDo)).build());
}

TEST_CASE("E16 the upstream's EDEs are passed on") {
  const auto answer = [](const Octets& options) { return response().additional(opt(4096, 0, options)); };
  const auto with = [](const Octets& options) { return expected().additional(opt(1232, 0, options)).build(); };
  CHECK(reply(asked(), answer(ede(6, "bogus") + option(12, Octets(9, 0)) + ede(9, ""))) == with(ede(6, "bogus") + ede(9, "")));
  CHECK(reply(asked(), answer(ede(6, std::string(70, 'x')))) == with(ede(6, std::string(64, 'x'))));
  CHECK(reply(asked(), answer(ede(6, "\xFF\xFE"))) == with(ede(6, "")));  // the code is worth keeping
  CHECK(reply(asked(), answer(option(15, {0}))) == with({}));             // too short to be one
  CHECK(reply(asked(), answer(ede(1, "") + ede(2, "") + ede(5, "") + ede(6, ""))) == with(ede(1, "") + ede(2, "") + ede(5, "")));
}

TEST_CASE("E17 an EDE of our own comes first") {
  const auto answer = response().additional(opt(4096, 0, ede(6, "bogus")));
  CHECK(reply(asked(), answer, dns::Ede{.code = EdeCode::StaleAnswer, .text = "old"}) ==
        expected().additional(opt(1232, 0, ede(3, "old") + ede(6, "bogus"))).build());
}

TEST_CASE("E15 an extended RCODE of the upstream's hop is SERVFAIL") {
  const auto answer = response().flags(0x8187).additional(opt(4096, 0x01000000));  // BADCOOKIE
  CHECK(reply(query("wWw.eXample.org"), answer) == expected(0x8182).build());
  CHECK(reply(asked(), answer) == expected(0x8182).additional(opt(1232)).build());
}

TEST_CASE("T1 opaque RDATA is passed on octet for octet, also when it looks like pointers") {
  const Rr unknown{.owner = pointer(12), .type = 65280, .ttl = 1, .rdata = {0xC0, 0x0C, 0xC0, 0xFF, 0}};
  const Rr svcb{.owner = pointer(12), .type = 65, .ttl = 1, .rdata = Octets{0, 1, 0xC0, 0xFF} + Octets(300, 0xC1)};
  CHECK(reply(asked(), response().answer(unknown).answer(svcb)) == expected().answer(unknown).answer(svcb).additional(opt(1232)).build());
}

TEST_CASE("H14 glue before the OPT stays; behind it names are written out") {
  const Rr glue = a(labels("ns") + pointer(16));
  const Octets long_option = option(12, Octets(36, 0));
  const Rr ns{.owner = pointer(16), .type = 2, .ttl = 9, .rdata = labels("ns") + pointer(16)};
  MessageBuilder answer = response().authority(ns).additional(glue).additional(opt(4096, 0, long_option));
  const unsigned behind = answer.offset();
  // Pointers to before the OPT, to the record behind it, and from RDATA to both.
  const Rr first{.owner = labels("mx") + pointer(16), .type = 15, .ttl = 7, .rdata = be16(10) + labels("mail") + pointer(16)};
  const Rr second{.owner = pointer(behind), .type = 5, .ttl = 8, .rdata = labels("deep") + pointer(behind)};
  answer.additional(first).additional(second);

  const Rr first_plain{.owner = wire("mx.example.org"), .type = 15, .ttl = 7, .rdata = be16(10) + wire("mail.example.org")};
  const Rr second_plain{.owner = wire("mx.example.org"), .type = 5, .ttl = 8, .rdata = wire("deep.mx.example.org")};
  CHECK(reply(query("wWw.eXample.org"), answer) ==
        expected().authority(ns).additional(glue).additional(first_plain).additional(second_plain).build());
  CHECK(reply(asked(), answer) ==
        expected().authority(ns).additional(glue).additional(first_plain).additional(second_plain).additional(opt(1232)).build());
}

TEST_CASE("H14 every type that may be compressed is written out behind the OPT") {
  const Octets org = pointer(16);
  const Octets plain = wire("example.org");
  const Octets strings = Octets{1, 'u', 3, 's', 'i', 'p', 0};
  struct Case {
    std::uint16_t type;
    Octets before;
    unsigned names;
    Octets after;
  };
  for (const Case& c : {Case{2, {}, 1, {}},
                        Case{5, {}, 1, {}},
                        Case{6, {}, 2, Octets(20, 3)},
                        Case{12, {}, 1, {}},
                        Case{14, {}, 2, {}},
                        Case{15, {0, 1}, 1, {}},
                        Case{17, {}, 2, {}},
                        Case{18, {0, 1}, 1, {}},
                        Case{21, {0, 1}, 1, {}},
                        Case{24, Octets(18, 1), 1, Octets(64, 0xC0)},
                        Case{26, {0, 1}, 2, {}},
                        Case{30, {}, 1, {0xC0, 2}},
                        Case{33, Octets(6, 1), 1, {}},
                        Case{35, Octets(4, 1) + strings, 1, {}},
                        Case{36, {0, 1}, 1, {}},
                        Case{39, {}, 1, {}},
                        Case{1, Octets(4, 0xC0), 0, {}},
                        Case{28, Octets(16, 0xC0), 0, {}},
                        Case{16, Octets(9, 0xC0), 0, {}},
                        Case{46, Octets(30, 0xC0), 0, {}}}) {
    Rr packed{.owner = org, .type = c.type, .ttl = 5, .rdata = c.before};
    Rr written{.owner = plain, .type = c.type, .ttl = 5, .rdata = c.before};
    for (unsigned i = 0; i < c.names; ++i) {
      packed.rdata = packed.rdata + org;
      written.rdata = written.rdata + plain;
    }
    packed.rdata = packed.rdata + c.after;
    written.rdata = written.rdata + c.after;
    INFO("type " << c.type);
    CHECK(reply(asked(), response().additional(opt()).additional(packed)) == expected().additional(written).additional(opt(1232)).build());
  }
}

TEST_CASE("records of a class we cannot read are not moved") {
  const Rr chaos{.owner = wire("x"), .type = 1, .ttl = 1, .rdata = pointer(12) + be16(1), .rclass = 3};
  CHECK(reply(asked(), response().additional(opt()).additional(chaos)) == expected().additional(opt(1232)).build());
  CHECK(reply(asked(), response().additional(chaos)) == expected().additional(chaos).additional(opt(1232)).build());
}

TEST_CASE("an answer that was not checked becomes SERVFAIL") {
  const auto client = parsed(query());
  const Octets servfail = MessageBuilder().flags(0x8182).question("www.example.org").build();
  CHECK(dns::client_reply(client, Octets{}, 512) == servfail);
  CHECK(dns::client_reply(client, response().counts({1, 1, 0, 0}).build(), 512) == servfail);
  CHECK(dns::client_reply(client, response("example.org").build(), 512) == servfail);
}

TEST_CASE("E13 keepalive is added to the OPT, in units of 100 ms") {
  using std::chrono::milliseconds;
  Octets with_opt = reply(asked(), response().additional(opt(4096, 0, ede(6, "x"))));
  dns::add_keepalive(with_opt, milliseconds(10050));
  CHECK(with_opt == expected().additional(opt(1232, 0, ede(6, "x") + option(11, {0, 100}))).build());

  Octets shortest = reply(asked(), response());
  dns::add_keepalive(shortest, milliseconds(-5));
  CHECK(shortest == expected().additional(opt(1232, 0, option(11, {0, 0}))).build());

  Octets without = reply(query("wWw.eXample.org"), response().answer(a(pointer(12))));
  dns::add_keepalive(without, milliseconds(10000));
  CHECK(without == expected().answer(a(pointer(12))).build());
}
