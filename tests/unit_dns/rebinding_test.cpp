// Private addresses in answers: in A and AAAA, in the forms of IPv6 that carry IPv4, and in the hints of SVCB and HTTPS.
#include "dns/rebinding.h"

#include <dohmux/address.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

bool is_private(const char* text) {
  const IpAddress address = *IpAddress::parse(text);
  return dns::is_private_address(ByteView(address.octets).first(address.family == Family::V4 ? 4 : 16));
}

Octets octets_of(const char* text) {
  const IpAddress address = *IpAddress::parse(text);
  return {address.octets.begin(), address.octets.begin() + (address.family == Family::V4 ? 4 : 16)};
}

bool held(const Rr& rr) {
  return dns::holds_private_address(response().answer(rr).build());
}

Octets parameter(unsigned key, const Octets& value) {
  return be16(key) + be16(static_cast<unsigned>(value.size())) + value;
}

Rr https(const Octets& parameters, const Octets& target = wire("svc.example.org")) {
  return {.owner = pointer(12), .type = 65, .rdata = be16(1) + target + parameters};
}

}  // namespace

TEST_CASE("rebinding: private IPv4 addresses, with the edges of each range") {
  for (const char* text : {"0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
                           "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"}) {
    CAPTURE(text);
    CHECK(is_private(text));
  }
  for (const char* text :
       {"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255",
        "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "255.255.255.255"}) {
    CAPTURE(text);
    CHECK_FALSE(is_private(text));
  }
}

TEST_CASE("rebinding: private IPv6 addresses and those that carry private IPv4") {
  for (const char* text : {"::", "::1", "fe80::1", "febf::1", "fc00::1", "fdff::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1",
                           "64:ff9b::192.168.0.1", "64:ff9b::a9fe:a9fe", "::10.0.0.1"}) {
    CAPTURE(text);
    CHECK(is_private(text));
  }
  for (const char* text : {"2001:db8::1", "fec0::1", "fe00::1", "fbff::1", "::ffff:192.0.2.1", "64:ff9b::192.0.2.1", "::192.0.2.1",
                           "64:ff9b:0:1::10.0.0.1", "::2:0:0"}) {
    CAPTURE(text);
    CHECK_FALSE(is_private(text));
  }
}

TEST_CASE("rebinding: what is neither 4 nor 16 octets is no address") {
  CHECK_FALSE(dns::is_private_address({}));
  CHECK_FALSE(dns::is_private_address(Octets{10, 0, 0}));
  CHECK_FALSE(dns::is_private_address(Octets(15)));
}

TEST_CASE("rebinding: one private record among public ones is enough, in any section") {
  CHECK_FALSE(held(a(pointer(12))));
  CHECK(held(a(pointer(12), 300, {10, 0, 0, 1})));
  CHECK(held({.owner = pointer(12), .type = 28, .rdata = octets_of("fd00::1")}));
  CHECK(dns::holds_private_address(response()
                                       .answer({.owner = pointer(12), .type = 5, .rdata = wire("a.example.net")})
                                       .answer(a(wire("a.example.net")))
                                       .answer(a(wire("a.example.net"), 300, {192, 168, 0, 1}))
                                       .build()));
  CHECK(dns::holds_private_address(response().additional(a(wire("ns.example.net"), 300, {127, 0, 0, 1})).build()));
}

TEST_CASE("rebinding: other types and classes are not looked into") {
  CHECK_FALSE(held({.owner = pointer(12), .type = 16, .rdata = {10, 0, 0, 1}}));
  CHECK_FALSE(held({.owner = pointer(12), .type = 1, .rdata = {10, 0, 0, 1}, .rclass = 3}));
  CHECK_FALSE(dns::holds_private_address(response().additional(opt(10, 0, option(10, {10, 0, 0, 1}))).build()));
}

TEST_CASE("rebinding: hints of HTTPS and SVCB") {
  const Octets alpn = parameter(1, {2, 'h', '2'});
  CHECK_FALSE(held(https(alpn + parameter(4, octets_of("192.0.2.1")))));
  CHECK(held(https(alpn + parameter(4, octets_of("192.0.2.1") + octets_of("10.0.0.1")))));
  CHECK(held(https(alpn + parameter(6, octets_of("2001:db8::1") + octets_of("::1")), {0})));
  CHECK(held(https(parameter(6, octets_of("::ffff:127.0.0.1")))));
  CHECK_FALSE(held(https(parameter(5, octets_of("10.0.0.1")))));
  Rr svcb = https(parameter(4, octets_of("172.16.0.1")));
  svcb.type = 64;
  CHECK(held(svcb));
}

TEST_CASE("rebinding: malformed hints are read up to the fault and not past it") {
  const Octets good = parameter(4, octets_of("192.0.2.1"));
  CHECK_FALSE(held(https({})));
  CHECK_FALSE(held(https(good + be16(4))));
  CHECK_FALSE(held(https(good + be16(4) + be16(400) + octets_of("10.0.0.1"))));
  CHECK_FALSE(held(https(parameter(4, {10, 0, 0}))));
  CHECK(held(https(parameter(4, octets_of("10.0.0.1")) + be16(6) + be16(99))));
  CHECK_FALSE(held({.owner = pointer(12), .type = 65, .rdata = {0}}));
  CHECK_FALSE(held({.owner = pointer(12), .type = 65, .rdata = {0, 1, 63, 'x'}}));
  // A target that points back is not allowed in SVCB, but clients that follow it see the hints behind it.
  CHECK(held(https(parameter(4, octets_of("10.0.0.1")), pointer(12))));
}

TEST_CASE("rebinding: a message cut anywhere is read without harm") {
  const Octets message = response().answer(a(pointer(12))).answer(https(parameter(4, octets_of("192.0.2.1")))).additional(opt()).build();
  for (std::size_t size = 0; size <= message.size(); ++size) {
    CHECK_FALSE(dns::holds_private_address(ByteView(message).first(size)));
  }
}
