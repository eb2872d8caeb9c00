// error_reply and reply_limit: rows H5, H6, H14, H15, E1-E3, E7, E8, E16, E17, A4.
#include <catch2/catch_test_macros.hpp>

#include "dns/reply.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using dns::EdeCode;
using dns::Rcode;

namespace {

dns::QueryFault fault_of(const MessageBuilder& builder) {
  auto result = dns::parse_query(builder.build());
  REQUIRE_FALSE(result.has_value());
  return result.error();
}
dns::Query parsed(const MessageBuilder& builder) {
  auto result = dns::parse_query(builder.build());
  REQUIRE(result.has_value());
  return *result;
}
Octets reply_to(const MessageBuilder& builder) {
  const auto fault = fault_of(builder);
  return dns::error_reply(fault.query, fault.rcode);
}
std::string utf8(std::size_t count, std::string_view character) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += character;
  }
  return text;
}

}  // namespace

TEST_CASE("H14 an error reply: own header, the client's question") {
  const auto asked = parsed(query("wWw.example.org").flags(0x0130));
  CHECK(dns::error_reply(asked, Rcode::ServFail) == MessageBuilder().flags(0x8192).question("wWw.example.org").build());
  CHECK(dns::error_reply(asked, Rcode::Refused) == MessageBuilder().flags(0x8195).question("wWw.example.org").build());
}

TEST_CASE("H5, H15 nothing of a broken query comes back but its id, RD and CD") {
  CHECK(reply_to(query().flags(0x03FF).counts({1, 0, 0, 9}).raw(Octets(99, 0xEE))) == MessageBuilder().flags(0x8191).build());
  CHECK(reply_to(MessageBuilder().flags(0).raw({1, 2, 3, 4})) == MessageBuilder().flags(0x8081).build());
  CHECK(reply_to(query().additional(opt(4096, kDo)).counts({1, 0, 0, 2})) ==
        MessageBuilder().flags(0x8181).additional(opt(1232, kDo)).build());
}

TEST_CASE("H12, H13, E4 errors of a readable query carry question and OPT") {
  const auto expected = MessageBuilder().flags(0x8181).question("www.example.org").additional(opt(1232)).build();
  CHECK(reply_to(query().additional(opt(4096)).raw({1})) == expected);
  CHECK(reply_to(query().answer(a(pointer(12))).additional(opt(4096))) == expected);
  CHECK(reply_to(query().additional(opt(4096)).additional(opt(4096, kDo))) == expected);
}

TEST_CASE("H6 NOTIMP copies the opcode") {
  for (unsigned opcode = 1; opcode < 16; ++opcode) {
    CHECK(reply_to(query().flags(opcode << 11U)) == MessageBuilder().flags(0x8084U | (opcode << 11U)).question("www.example.org").build());
    CHECK(reply_to(MessageBuilder().flags(opcode << 11U)) == MessageBuilder().flags(0x8084U | (opcode << 11U)).build());
  }
}

TEST_CASE("E3 BADVERS lives in header and OPT") {
  const Octets reply = reply_to(query().additional(opt(4096, 0x00010000U | kDo, option(10, Octets(8, 1)))));
  CHECK(reply == MessageBuilder().flags(0x8180).question("www.example.org").additional(opt(1232, 0x01000000U | kDo)).build());
}

TEST_CASE("E2, E17 EDE and OPT only for clients with an OPT") {
  CHECK(dns::error_reply(parsed(query()), Rcode::ServFail, dns::Ede{.code = EdeCode::NetworkError, .text = "tls"}) ==
        MessageBuilder().flags(0x8182).question("www.example.org").build());
  CHECK(dns::error_reply(parsed(query().additional(opt(512, 0xFFFF))), Rcode::ServFail,
                         dns::Ede{.code = EdeCode::NetworkError, .text = "tls"}) ==
        MessageBuilder().flags(0x8182).question("www.example.org").additional(opt(1232, kDo, ede(23, "tls"))).build());
}

TEST_CASE("E16 EDE texts are cut at a character's border") {
  const auto with_text = [](std::string_view text) {
    return dns::error_reply(parsed(query().additional(opt())), Rcode::ServFail, dns::Ede{.code = EdeCode::Other, .text = text});
  };
  const auto expected = [](std::string_view text) {
    return MessageBuilder().flags(0x8182).question("www.example.org").additional(opt(1232, 0, ede(0, text))).build();
  };
  CHECK(with_text("") == expected(""));
  CHECK(with_text(std::string(64, 'x')) == expected(std::string(64, 'x')));
  CHECK(with_text(std::string(65, 'x')) == expected(std::string(64, 'x')));
  CHECK(with_text(utf8(40, "\xC3\xA4")) == expected(utf8(32, "\xC3\xA4")));
  CHECK(with_text(utf8(40, "\xE2\x82\xAC")) == expected(utf8(21, "\xE2\x82\xAC")));                      // 63 octets
  CHECK(with_text("x" + utf8(40, "\xF0\x9F\x90\x9F")) == expected("x" + utf8(15, "\xF0\x9F\x90\x9F")));  // 61 octets
  for (const std::string_view bad :
       {"\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\x80", "a\xE2\x82", "\xE0\x80\x80", "\xC3g"}) {
    CHECK(with_text(bad) == expected(""));
  }
}

TEST_CASE("A4 no error reply is longer than the query but for the OPT") {
  const MessageBuilder big = query().additional(opt(4096, kDo, option(12, Octets(400, 0)))).raw({9});
  CHECK(reply_to(big).size() < big.build().size());
  CHECK(reply_to(query().flags(0x2800)).size() <= query().build().size());
}

TEST_CASE("E1, E7, E8 reply limits") {
  CHECK(dns::reply_limit(parsed(query()), dns::Carrier::Udp) == 512);
  CHECK(dns::reply_limit(parsed(query()), dns::Carrier::Tcp) == 65535);
  const auto udp = [](std::uint16_t size) { return dns::reply_limit(parsed(query().additional(opt(size))), dns::Carrier::Udp); };
  CHECK(udp(0) == 512);
  CHECK(udp(511) == 512);
  CHECK(udp(513) == 513);
  CHECK(udp(1232) == 1232);
  CHECK(udp(1233) == 1232);
  CHECK(udp(65535) == 1232);
  CHECK(dns::reply_limit(parsed(query().additional(opt(100))), dns::Carrier::Tcp) == 65535);
}
