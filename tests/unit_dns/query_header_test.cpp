// parse_query: header and framing, rows H1-H13.
#include <catch2/catch_test_macros.hpp>

#include "dns/query.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

dns::QueryFault fault_of(const Octets& message) {
  const auto parsed = dns::parse_query(message);
  REQUIRE_FALSE(parsed.has_value());
  return parsed.error();
}

}  // namespace

TEST_CASE("a plain query is understood") {
  const auto parsed = dns::parse_query(query("wWw.example.org", 28).build());
  REQUIRE(parsed.has_value());
  CHECK(parsed->id == 0x1234);
  CHECK(parsed->opcode == 0);
  CHECK(parsed->recursion_desired);
  CHECK_FALSE(parsed->authentic_data);
  CHECK_FALSE(parsed->checking_disabled);
  CHECK(parsed->type == 28);
  CHECK(parsed->qclass == 1);
  CHECK(parsed->question == wire("wWw.example.org") + be16(28) + be16(1));
  CHECK(Octets(parsed->name().begin(), parsed->name().end()) == wire("wWw.example.org"));
  CHECK_FALSE(parsed->edns.has_value());
}

TEST_CASE("H1 fewer than 12 octets get no reply") {
  const Octets whole = query().build();
  for (std::size_t size = 0; size < 12; ++size) {
    CHECK(fault_of(Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))).silent);
  }
}

TEST_CASE("H2 QR=1 gets no reply, whatever the opcode and body") {
  for (unsigned opcode = 0; opcode < 16; ++opcode) {
    const unsigned flags = 0x8000U | (opcode << 11U);
    CHECK(fault_of(query().flags(flags).build()).silent);
    CHECK(fault_of(MessageBuilder().flags(flags).build()).silent);
    CHECK(fault_of(query().flags(flags).counts({65535, 65535, 65535, 65535}).build()).silent);
  }
}

TEST_CASE("H3 two questions are FORMERR without a question") {
  for (const unsigned count : {2U, 3U, 400U}) {
    MessageBuilder builder;
    for (unsigned i = 0; i < count; ++i) {
      builder.question("www.example.org");
    }
    const auto fault = fault_of(builder.additional(opt(4096)).build());
    CHECK_FALSE(fault.silent);
    CHECK(fault.rcode == dns::Rcode::FormErr);
    CHECK(fault.query.question.empty());
    CHECK(fault.query.name().empty());
    CHECK(fault.query.edns.has_value());  // E2: an OPT for an OPT
  }
  CHECK(fault_of(query().counts({65535, 0, 0, 0}).build()).rcode == dns::Rcode::FormErr);
}

TEST_CASE("H4 no question is FORMERR, with and without a cookie") {
  CHECK(fault_of(MessageBuilder().build()).rcode == dns::Rcode::FormErr);
  const auto fault = fault_of(MessageBuilder().additional(opt(1232, 0, option(10, Octets(8, 7)))).build());
  CHECK(fault.rcode == dns::Rcode::FormErr);
  CHECK(fault.query.edns.has_value());
}

TEST_CASE("H5 a message cut at any place is FORMERR with an empty question") {
  const Octets whole = query().additional(opt(1232, kDo, option(10, Octets(8, 7)))).build();
  REQUIRE(dns::parse_query(whole).has_value());
  for (std::size_t size = 12; size < whole.size(); ++size) {
    const auto fault = fault_of(Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    CHECK_FALSE(fault.silent);
    CHECK(fault.rcode == dns::Rcode::FormErr);
    CHECK(fault.query.question.empty());
    CHECK_FALSE(fault.query.edns.has_value());
    CHECK(fault.query.id == 0x1234);
  }
}

TEST_CASE("H5 counts above what is there are FORMERR; an OPT that was read is kept") {
  CHECK(fault_of(query().counts({1, 0, 0, 1}).build()).query.question.empty());
  CHECK(fault_of(query().counts({1, 65535, 0, 0}).build()).rcode == dns::Rcode::FormErr);
  const auto fault = fault_of(query().additional(opt(1232, kDo)).counts({1, 0, 0, 2}).build());
  CHECK(fault.rcode == dns::Rcode::FormErr);
  CHECK(fault.query.question.empty());
  REQUIRE(fault.query.edns.has_value());
  CHECK(fault.query.edns->dnssec_ok);
}

TEST_CASE("H6, H7 every opcode but QUERY is NOTIMP, opcode copied") {
  for (unsigned opcode = 1; opcode < 16; ++opcode) {
    const unsigned flags = opcode << 11U;
    const auto plain = fault_of(query().flags(flags).additional(opt()).build());
    CHECK_FALSE(plain.silent);
    CHECK(plain.rcode == dns::Rcode::NotImp);
    CHECK(plain.query.opcode == opcode);
    CHECK(plain.query.edns.has_value());
    CHECK(plain.ede == 21);
    CHECK_FALSE(plain.query.question.empty());
    CHECK(fault_of(MessageBuilder().flags(flags).build()).rcode == dns::Rcode::NotImp);
    CHECK(fault_of(query().flags(flags).counts({1, 9, 9, 9}).build()).rcode == dns::Rcode::NotImp);
    CHECK(fault_of(query().flags(flags).raw({0, 1, 0, 4, 0, 0, 0, 0}).build()).rcode == dns::Rcode::NotImp);  // DSO TLVs
  }
}

TEST_CASE("H8, H11 AA, TC, RA, Z, RCODE in a query change nothing") {
  for (const unsigned bit : {0x0400U, 0x0200U, 0x0080U, 0x0040U, 0x0001U, 0x000FU, 0x06CFU}) {
    const auto parsed = dns::parse_query(query().flags(0x0100U | bit).build());
    REQUIRE(parsed.has_value());
    CHECK(parsed->recursion_desired);
  }
}

TEST_CASE("H9, H10, D20 RD, CD and AD are taken from the query") {
  const auto parsed = dns::parse_query(query().flags(0x0030).build());
  REQUIRE(parsed.has_value());
  CHECK_FALSE(parsed->recursion_desired);
  CHECK(parsed->authentic_data);
  CHECK(parsed->checking_disabled);
}

TEST_CASE("H12 octets behind the last record are FORMERR") {
  const auto fault = fault_of(query().raw({0}).build());
  CHECK(fault.rcode == dns::Rcode::FormErr);
  CHECK_FALSE(fault.query.question.empty());  // the question itself was fine
  CHECK(fault_of(query().additional(opt()).raw(Octets(500, 0xAA)).build()).query.edns.has_value());
  CHECK(fault_of(MessageBuilder().raw({1, 2, 3}).build()).rcode == dns::Rcode::FormErr);
}

TEST_CASE("H13 records in answer or authority are FORMERR") {
  CHECK(fault_of(query().answer(a(pointer(12))).build()).rcode == dns::Rcode::FormErr);
  CHECK(fault_of(query().authority(soa(wire("org"), 1, 1)).additional(opt()).build()).query.edns.has_value());
  CHECK(dns::parse_query(query().additional(a(pointer(12))).build()).has_value());  // not forwarded, not minded
}
