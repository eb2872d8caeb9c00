// Replies that are made here: the asked records, NODATA and NXDOMAIN with a SOA, the limit, EDNS.
#include "dns/local_answer.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "dns/answer_check.h"
#include "dns/name.h"
#include "dns/ttl.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

constexpr std::size_t kBig = 65535;

dns::Query parsed(const MessageBuilder& builder) {
  return *dns::parse_query(builder.build());
}

dns::LocalAnswer two_addresses() {
  return {.rcode = dns::Rcode::NoError,
          .records = {dns::address_record(*IpAddress::parse("192.168.1.1")), dns::address_record(*IpAddress::parse("fd00::1"))},
          .zone_size = 5,  // "lan." behind "router."
          .ttl = 300,
          .ede = std::nullopt};
}

unsigned word(const Bytes& message, std::size_t at) {
  return static_cast<unsigned>((message.at(at) << 8U) | message.at(at + 1));
}

std::string text(const Bytes& wire_name) {
  return dns::name_text(wire_name);
}

}  // namespace

TEST_CASE("local answer: only the records of the asked type, owner as the client wrote it") {
  const Bytes expected_a = MessageBuilder()
                               .flags(0x8180)
                               .question("rOuTer.lan")
                               .answer({.owner = pointer(12), .type = 1, .ttl = 300, .rdata = {192, 168, 1, 1}})
                               .build();
  CHECK(dns::local_reply(parsed(query("rOuTer.lan")), two_addresses(), kBig) == expected_a);
  const Bytes v6 = dns::local_reply(parsed(query("router.lan", 28)), two_addresses(), kBig);
  CHECK(word(v6, 6) == 1);
  CHECK(v6.size() == 12 + 16 + 12 + 16);
}

TEST_CASE("local answer: ANY gets all records") {
  const Bytes reply = dns::local_reply(parsed(query("router.lan", 255)), two_addresses(), kBig);
  CHECK(word(reply, 6) == 2);
  CHECK(word(reply, 8) == 0);
}

TEST_CASE("local answer: another type is NODATA with a SOA that caches keep") {
  const Bytes reply = dns::local_reply(parsed(query("router.lan", 65)), two_addresses(), kBig);
  CHECK((reply[3] & 15) == 0);
  CHECK(word(reply, 6) == 0);
  CHECK(word(reply, 8) == 1);
  CHECK(dns::answer_kind(reply) == dns::AnswerKind::NoData);
  CHECK(dns::negative_ttl(reply) == std::chrono::seconds(300));
  // The SOA's owner is the zone: a pointer behind the first label of the question.
  CHECK(word(reply, 12 + 16) == (0xC000U | (12 + 7)));
}

TEST_CASE("local answer: NXDOMAIN passes the checks of an answer") {
  dns::LocalAnswer answer = two_addresses();
  answer.rcode = dns::Rcode::NxDomain;
  answer.records.clear();
  dns::Query query_of_zero = parsed(query("router.lan").id(0));
  const Bytes reply = dns::local_reply(query_of_zero, answer, kBig);
  CHECK(dns::check_answer(query_of_zero, reply));
  CHECK(dns::answer_kind(reply) == dns::AnswerKind::NxDomain);
  CHECK(dns::cache_ttl(reply) == std::chrono::seconds(300));
}

TEST_CASE("local answer: AA, AD and Z are 0, RA is 1, RD and CD are copied") {
  const Bytes reply = dns::local_reply(parsed(query("router.lan").flags(0x0130)), two_addresses(), kBig);
  CHECK(word(reply, 2) == 0x8190);
  CHECK(word(dns::local_reply(parsed(query("router.lan").flags(0)), two_addresses(), kBig), 2) == 0x8080);
}

TEST_CASE("local answer: an OPT for a client that sent one, with DO copied and the EDE") {
  dns::LocalAnswer answer = two_addresses();
  answer.ede = dns::Ede{.code = dns::EdeCode::Synthesized, .text = "here"};
  const Bytes expected = MessageBuilder()
                             .flags(0x8180)
                             .question("router.lan")
                             .answer({.owner = pointer(12), .type = 1, .ttl = 300, .rdata = {192, 168, 1, 1}})
                             .additional(opt(1232, kDo, ede(29, "here")))
                             .build();
  CHECK(dns::local_reply(parsed(query("router.lan").additional(opt(4096, kDo))), answer, kBig) == expected);
  CHECK(word(dns::local_reply(parsed(query("router.lan")), answer, kBig), 10) == 0);
}

TEST_CASE("local answer: more than the client takes is TC=1 without records") {
  dns::LocalAnswer answer = two_addresses();
  for (int i = 0; i < 60; ++i) {
    answer.records.push_back(answer.records.front());
  }
  const Bytes reply = dns::local_reply(parsed(query("router.lan")), answer, 512);
  CHECK(reply == MessageBuilder().flags(0x8380).question("router.lan").build());
  CHECK(word(dns::local_reply(parsed(query("router.lan")), answer, kBig), 6) == 61);
}

TEST_CASE("local answer: a zone larger than the name is the name") {
  dns::LocalAnswer answer = two_addresses();
  answer.zone_size = 300;
  const Bytes reply = dns::local_reply(parsed(query("router.lan", 16)), answer, kBig);
  CHECK(word(reply, 12 + 16) == 0xC00C);
}

TEST_CASE("local answer: reverse names of both families") {
  CHECK(text(dns::reverse_name(*IpAddress::parse("192.0.2.10"))) == "10.2.0.192.in-addr.arpa.");
  CHECK(text(dns::reverse_name(*IpAddress::parse("2001:db8::567:89ab"))) ==
        "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.");
}
