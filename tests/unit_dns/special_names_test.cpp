// The table of special names: which zones there are and what is said in each (RFC 6761, 6303, 7686, 8375, 9462).
#include "dns/special_names.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>

#include "dns/name.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

const dns::SpecialZone* zone_of(const std::vector<dns::SpecialZone>& zones, const Bytes& name) {
  const auto found = std::ranges::find_if(zones, [&](const auto& zone) { return dns::is_within(name, wire(zone.name)); });
  return found == zones.end() ? nullptr : &*found;
}

/// "A 127.0.0.1", "PTR", "NODATA", "NXDOMAIN", or "asked" if it is nobody's special name.
std::string said(const std::string& name, std::uint16_t type = 1) {
  static const auto zones = dns::special_zones();
  const dns::Query query = *dns::parse_query(test::query(name, type).build());
  const dns::SpecialZone* zone = zone_of(zones, Bytes(query.name().begin(), query.name().end()));
  const auto answer = zone == nullptr ? std::nullopt : dns::special_answer(query, *zone, wire(zone->name).size());
  if (!answer) {
    return "asked";
  }
  CHECK(answer->ttl == 10800);
  for (const dns::LocalRecord& record : answer->records) {
    if (record.type == type) {
      CHECK_FALSE(answer->ede);
      return std::string(record.rdata.begin(), record.rdata.end());
    }
  }
  return answer->rcode == dns::Rcode::NxDomain ? "NXDOMAIN" : "NODATA";
}

const std::string k4{127, 0, 0, 1};
const std::string k6 = std::string(15, '\0') + '\1';
const std::string kPtr("\x09localhost\0", 11);

std::string nibbles(char first) {
  std::string name{first};
  for (int i = 1; i < 32; ++i) {
    name += ".0";
  }
  return name + ".ip6.arpa";
}

}  // namespace

TEST_CASE("special names: localhost and all below it are this host") {
  for (const char* name : {"localhost", "LocalHost", "a.b.localhost"}) {
    CHECK(said(name, 1) == k4);
    CHECK(said(name, 28) == k6);
    CHECK(said(name, 65) == "NODATA");
    CHECK(said(name, 43) == "NODATA");
  }
}

TEST_CASE("special names: names that nobody has") {
  for (const char* zone : {"invalid", "test", "onion", "local", "home.arpa", "service.arpa"}) {
    CHECK(said(zone) == "NXDOMAIN");
    CHECK(said(std::string("a.b.") + zone, 28) == "NXDOMAIN");
    CHECK(said(std::string("x") + zone) == "asked");
  }
}

TEST_CASE("special names: resolver.arpa has nothing, whatever is asked") {
  for (const char* name : {"resolver.arpa", "_dns.resolver.arpa", "x._dns.Resolver.ARPA"}) {
    for (const std::uint16_t type : std::vector<std::uint16_t>{1, 28, 43, 64, 65, 261}) {
      CHECK(said(name, type) == "NODATA");
    }
  }
}

TEST_CASE("special names: the reverse zones of private addresses have no names") {
  for (const char* name : {"10.in-addr.arpa", "1.2.3.10.in-addr.arpa", "16.172.in-addr.arpa", "31.172.in-addr.arpa",
                           "1.168.192.in-addr.arpa", "0.in-addr.arpa", "1.254.169.in-addr.arpa", "2.0.192.in-addr.arpa",
                           "100.51.198.in-addr.arpa", "113.0.203.in-addr.arpa", "255.255.255.255.in-addr.arpa", "64.100.in-addr.arpa",
                           "9.127.100.in-addr.arpa", "d.f.ip6.arpa", "1.8.e.f.ip6.arpa", "b.e.f.ip6.arpa", "8.b.d.0.1.0.0.2.ip6.arpa"}) {
    CAPTURE(name);
    CHECK(said(name, 12) == "NXDOMAIN");
  }
  CHECK(said(nibbles('0'), 12) == "NXDOMAIN");
  for (const char* name : {"11.in-addr.arpa", "15.172.in-addr.arpa", "32.172.in-addr.arpa", "63.100.in-addr.arpa", "128.100.in-addr.arpa",
                           "1.255.255.255.in-addr.arpa", "c.f.ip6.arpa", "c.e.f.ip6.arpa"}) {
    CAPTURE(name);
    CHECK(said(name, 12) == "asked");
  }
}

TEST_CASE("special names: the loopback addresses are called localhost, and the way to them exists") {
  CHECK(said("1.0.0.127.in-addr.arpa", 12) == kPtr);
  CHECK(said("1.0.0.127.IN-ADDR.arpa", 1) == "NODATA");
  CHECK(said(nibbles('1'), 12) == kPtr);
  CHECK(said("x." + nibbles('1'), 12) == "NXDOMAIN");
  for (const char* name : {"127.in-addr.arpa", "0.127.in-addr.arpa", "0.0.127.in-addr.arpa"}) {
    CHECK(said(name, 12) == "NODATA");
  }
  CHECK(said("2.0.0.127.in-addr.arpa", 12) == "NXDOMAIN");
  CHECK(said("x.1.0.0.127.in-addr.arpa", 12) == "NXDOMAIN");
}

TEST_CASE("special names: the DS of a delegated zone is the parent's, below it nothing is") {
  for (const char* zone : {"home.arpa", "10.in-addr.arpa", "d.f.ip6.arpa", "127.in-addr.arpa", "20.172.in-addr.arpa"}) {
    CHECK(said(zone, 43) == "asked");
  }
  CHECK(said("a.home.arpa", 43) == "NXDOMAIN");
  for (const char* zone : {"test", "invalid", "onion", "local"}) {
    CHECK(said(zone, 43) == "NXDOMAIN");
  }
}

TEST_CASE("special names: single labels, internal, and names for detection are ordinary") {
  for (const char* name : {"intranet", "internal", "db.internal", "example", "www.example", "ipv4only.arpa", "use-application-dns.net",
                           "arpa", "in-addr.arpa"}) {
    CHECK(said(name) == "asked");
  }
}

TEST_CASE("special names: none is inside another, all are names") {
  const auto zones = dns::special_zones();
  CHECK(zones.size() > 100);
  for (const auto& zone : zones) {
    const auto name = dns::name_from_text(zone.name);
    REQUIRE(name);
    CHECK(name->size() > 1);
    CHECK(std::ranges::count_if(zones, [&](const auto& other) { return dns::is_within(*name, wire(other.name)); }) == 1);
  }
}
