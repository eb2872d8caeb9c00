// upstream_query: what resolvers get to see, rows H8, H9, H12, E5, E11, E14, D1.
#include <catch2/catch_test_macros.hpp>

#include "dns/query.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

dns::Query parsed(const MessageBuilder& builder) {
  auto result = dns::parse_query(builder.build());
  REQUIRE(result.has_value());
  return *result;
}
Octets upstream(const MessageBuilder& builder, dns::Padding padding = dns::Padding::None) {
  return dns::upstream_query(parsed(builder), padding);
}
MessageBuilder expected(unsigned flags, std::uint32_t opt_ttl = 0, const Octets& options = {}) {
  return MessageBuilder().id(0).flags(flags).question("wWw.example.org").additional(opt(1232, opt_ttl, options));
}

}  // namespace

TEST_CASE("D1 id 0, the client's question, one OPT of ours") {
  CHECK(upstream(query("wWw.example.org")) == expected(0x0100).build());
}

TEST_CASE("H8, H11 only RD, CD and AD go upstream") {
  CHECK(upstream(query("wWw.example.org").flags(0x07FF)) == expected(0x0130).build());
  CHECK(upstream(query("wWw.example.org").flags(0x0000)) == expected(0x0000).build());
  CHECK(upstream(query("wWw.example.org").flags(0x0110)) == expected(0x0110).build());
  CHECK(upstream(query("wWw.example.org").flags(0x0120)) == expected(0x0120).build());
}

TEST_CASE("E2 DO is copied and asks for AD; other Z bits and sizes stay here") {
  CHECK(upstream(query("wWw.example.org").additional(opt(4096, 0xFFFF))) == expected(0x0120, kDo).build());
}

TEST_CASE("E5, E9, E11, E12 no option of the client goes upstream") {
  const Octets options = option(3, {}) + option(8, be16(1) + Octets{24, 0, 192, 0, 2}) + option(10, Octets(8, 1)) + option(11, {}) +
                         option(12, Octets(9, 0)) + option(65001, {1});
  CHECK(upstream(query("wWw.example.org").additional(opt(1232, 0, options))) == expected(0x0100).build());
}

TEST_CASE("E11 ECS goes upstream only when it is to be passed") {
  const Octets subnet = option(8, be16(1) + Octets{24, 0, 192, 0, 2});
  const auto query_with_ecs = parsed(query("wWw.example.org").additional(opt(1232, 0, subnet + option(10, Octets(8, 1)))));
  CHECK(dns::upstream_query(query_with_ecs, dns::Padding::None, dns::ClientSubnet::Pass) == expected(0x0100, 0, subnet).build());
  CHECK(dns::upstream_query(parsed(query("wWw.example.org")), dns::Padding::None, dns::ClientSubnet::Pass) == expected(0x0100).build());
  CHECK(dns::upstream_query(query_with_ecs, dns::Padding::Block128, dns::ClientSubnet::Pass).size() == 128);
}

TEST_CASE("H13 additional records of the client stay here") {
  CHECK(upstream(query("wWw.example.org").additional(a(wire("x"))).additional(opt())) == expected(0x0100).build());
}

TEST_CASE("E14 padded to blocks of 128 octets with zeros") {
  CHECK(upstream(query("wWw.example.org"), dns::Padding::Block128) == expected(0x0100, 0, option(12, Octets(80, 0))).build());
  for (std::size_t label = 1; label <= 63; ++label) {
    for (std::size_t more = 1; more <= 63; more += 2) {
      const Octets message = upstream(MessageBuilder().question(name_of({label, more, 63, 61})), dns::Padding::Block128);
      REQUIRE(message.size() % 128 == 0);
      REQUIRE(message.size() <= 384);
    }
  }
}
