// parse_query: EDNS, rows E1-E14.
#include <catch2/catch_test_macros.hpp>

#include "dns/edns.h"
#include "dns/query.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using dns::Rcode;

namespace {

dns::Query parsed(const MessageBuilder& builder) {
  auto result = dns::parse_query(builder.build());
  REQUIRE(result.has_value());
  return *result;
}
dns::QueryFault fault_of(const MessageBuilder& builder) {
  auto result = dns::parse_query(builder.build());
  REQUIRE_FALSE(result.has_value());
  return result.error();
}

}  // namespace

TEST_CASE("E2 the OPT's fields are read") {
  const auto edns = parsed(query().additional(opt(1232, kDo))).edns;
  REQUIRE(edns.has_value());
  CHECK(edns->udp_size == 1232);
  CHECK(edns->dnssec_ok);
  CHECK_FALSE(edns->keepalive);
  CHECK(edns->client_subnet.empty());
  CHECK_FALSE(parsed(query().additional(opt(1232, 0x7FFF))).edns->dnssec_ok);  // Z bits are no DO
}

TEST_CASE("E3 EDNS version 1 and above is BADVERS, whatever its options look like") {
  for (const std::uint32_t version : {1U, 2U, 255U}) {
    const auto fault = fault_of(query().additional(opt(1232, (version << 16U) | kDo, {0xFF})));
    CHECK(fault.rcode == Rcode::BadVers);
    REQUIRE(fault.query.edns.has_value());
    CHECK(fault.query.edns->dnssec_ok);
    CHECK_FALSE(fault.query.question.empty());
  }
}

TEST_CASE("E4 two OPTs, an OPT elsewhere, an OPT with a name, a cut OPT") {
  const auto twice = fault_of(query().additional(opt(1232, kDo)).additional(opt(512)));
  CHECK(twice.rcode == Rcode::FormErr);
  REQUIRE(twice.query.edns.has_value());
  CHECK(twice.query.edns->udp_size == 1232);

  Rr named = opt();
  named.owner = wire("example.org");
  CHECK(fault_of(query().additional(named)).rcode == Rcode::FormErr);
  named.owner = pointer(28);  // the question's root label: the owner must be a zero octet itself
  CHECK(fault_of(query().additional(named)).rcode == Rcode::FormErr);
  CHECK(fault_of(query().answer(opt())).rcode == Rcode::FormErr);
  CHECK(fault_of(query().authority(opt())).rcode == Rcode::FormErr);

  const auto overrun = fault_of(query().raw(Octets{0} + be16(41) + be16(1232) + be32(0) + be16(5) + be32(0)).counts({1, 0, 0, 1}));
  CHECK(overrun.rcode == Rcode::FormErr);
  CHECK_FALSE(overrun.query.edns.has_value());
}

TEST_CASE("E5 unknown options, many options, long options are no fault") {
  Octets hundred;
  for (unsigned code = 1000; code < 1100; ++code) {
    hundred = hundred + option(code, {1, 2, 3});
  }
  CHECK(parsed(query().additional(opt(1232, 0, hundred))).edns.has_value());
  CHECK(parsed(query().additional(opt(1232, 0, option(65001, Octets(4096, 9))))).edns.has_value());
}

TEST_CASE("E6 options past the end and stray octets are FORMERR") {
  CHECK(fault_of(query().additional(opt(1232, 0, be16(10) + be16(9) + Octets(8, 1)))).rcode == Rcode::FormErr);
  for (const std::size_t stray : {1U, 2U, 3U}) {
    CHECK(fault_of(query().additional(opt(1232, 0, option(10, Octets(8, 1)) + Octets(stray, 0)))).rcode == Rcode::FormErr);
    const auto fault = fault_of(query().additional(opt(1232, 0, Octets(stray, 0))));
    CHECK(fault.query.edns.has_value());
  }
}

TEST_CASE("E7 payload sizes below 512 count as 512") {
  for (const auto size : std::initializer_list<std::uint16_t>{0, 1, 511, 512}) {
    CHECK(parsed(query().additional(opt(size))).edns->udp_size == 512);
  }
  CHECK(parsed(query().additional(opt(65535))).edns->udp_size == 65535);
}

TEST_CASE("E9 cookies of any size are left alone") {
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 16U, 40U, 41U}) {
    CHECK(parsed(query().additional(opt(1232, 0, option(10, Octets(size, 1))))).edns.has_value());
  }
}

TEST_CASE("E11 the client subnet is kept as sent") {
  const Octets subnet = be16(1) + Octets{24, 0, 192, 0, 2};
  CHECK(parsed(query().additional(opt(1232, 0, option(8, subnet) + option(8, {1})))).edns->client_subnet == subnet);
}

TEST_CASE("E11 client subnets that obey RFC 7871 and those that do not") {
  const auto valid = [](const Octets& data) { return dns::valid_client_subnet(data); };
  CHECK(valid(be16(1) + Octets{24, 0, 192, 0, 2}));
  CHECK(valid(be16(1) + Octets{0, 0}));
  CHECK(valid(be16(0) + Octets{0, 0}));
  CHECK(valid(be16(1) + Octets{32, 0, 192, 0, 2, 1}));
  CHECK(valid(be16(1) + Octets{20, 0, 192, 0, 0x20}));
  CHECK(valid(be16(2) + Octets{56, 0, 0x20, 1, 0x0D, 0xB8, 0, 0, 1}));
  CHECK_FALSE(valid(be16(1) + Octets{33, 0, 192, 0, 2, 1, 0}));  // prefix
  CHECK_FALSE(valid(be16(2) + Octets{129, 0}));
  CHECK_FALSE(valid(be16(3) + Octets{8, 0, 10}));             // family
  CHECK_FALSE(valid(be16(0) + Octets{8, 0, 10}));             // no family, but a prefix
  CHECK_FALSE(valid(be16(1) + Octets{20, 0, 192, 0, 0x21}));  // bits behind the prefix
  CHECK_FALSE(valid(be16(1) + Octets{24, 24, 192, 0, 2}));    // scope in a query
  CHECK_FALSE(valid(be16(1) + Octets{24, 0, 192, 0}));        // too few octets
  CHECK_FALSE(valid(be16(1) + Octets{24, 0, 192, 0, 2, 0}));  // too many
  CHECK_FALSE(valid({0, 1, 24}));
  CHECK_FALSE(valid({}));
}

TEST_CASE("E12, E13 keepalive counts only without a timeout") {
  CHECK(parsed(query().additional(opt(1232, 0, option(11, {})))).edns->keepalive);
  CHECK_FALSE(parsed(query().additional(opt(1232, 0, option(11, {0, 5})))).edns->keepalive);
}

TEST_CASE("E14 padding from the client is no fault") {
  CHECK(parsed(query().additional(opt(1232, 0, option(12, Octets(100, 0))))).edns.has_value());
}
