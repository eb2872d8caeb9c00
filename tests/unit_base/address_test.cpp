// Text forms of addresses, endpoints and prefixes, and the questions asked of them.
#include <dohmux/address.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using dohmux::Endpoint;
using dohmux::Family;
using dohmux::IpAddress;
using dohmux::Prefix;

TEST_CASE("addresses that parse print in their canonical form") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"192.0.2.1", "192.0.2.1"},
      {"0.0.0.0", "0.0.0.0"},
      {"255.255.255.255", "255.255.255.255"},
      {"2001:DB8:0:0::1", "2001:db8::1"},
      {"::", "::"},
      {"::1", "::1"},
      {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
  };
  for (const auto& [text, printed] : table) {
    CAPTURE(text);
    const auto address = IpAddress::parse(text);
    REQUIRE(address.has_value());
    CHECK(address->to_string() == printed);
    CHECK(IpAddress::parse(printed) == address);
  }
}

TEST_CASE("what is not one plain address is refused") {
  for (const std::string& text :
       {std::string(), std::string("1.2.3"), std::string("1.2.3.4.5"), std::string("256.1.1.1"), std::string("01.2.3.4"),
        std::string(" 1.2.3.4"), std::string("1.2.3.4 "), std::string("0x7f.0.0.1"), std::string("127.1"), std::string("[::1]"),
        std::string("fe80::1%eth0"), std::string("::1/128"), std::string("1.2.3.4:53"), std::string("example"), std::string("1.2.3.4\0", 8),
        std::string(100, ':'), std::string(":::")}) {
    CAPTURE(text);
    CHECK_FALSE(IpAddress::parse(text).has_value());
  }
}

TEST_CASE("loopback and unspecified addresses") {
  for (const char* text : {"127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.5"}) {
    CAPTURE(text);
    CHECK(IpAddress::parse(text)->is_loopback());
  }
  for (const char* text : {"128.0.0.1", "0.0.0.0", "::", "::2", "::ffff:10.0.0.1", "1::1"}) {
    CAPTURE(text);
    CHECK_FALSE(IpAddress::parse(text)->is_loopback());
  }
  CHECK(IpAddress::parse("0.0.0.0")->is_unspecified());
  CHECK(IpAddress::parse("::")->is_unspecified());
  CHECK_FALSE(IpAddress::parse("::1")->is_unspecified());
  CHECK_FALSE(IpAddress::parse("0.0.0.1")->is_unspecified());
}

TEST_CASE("endpoints need an address, brackets around IPv6 and a port") {
  for (const char* text : {"192.0.2.1:53", "[2001:db8::1]:53", "0.0.0.0:0", "[::]:65535"}) {
    CAPTURE(text);
    const auto endpoint = Endpoint::parse(text);
    REQUIRE(endpoint.has_value());
    CHECK(endpoint->to_string() == text);
  }
  CHECK(Endpoint::parse("192.0.2.1:53")->port == 53);
  for (const char* text : {"", ":", ":53", "192.0.2.1", "192.0.2.1:", "192.0.2.1:65536", "192.0.2.1:-1", "192.0.2.1:+5", "192.0.2.1:053",
                           "192.0.2.1:5 ", "::1:53", "[::1]", "[::1]53", "[192.0.2.1]:53", "[]:53", "[::1:53", "::1]:53", "localhost:53"}) {
    CAPTURE(text);
    CHECK_FALSE(Endpoint::parse(text).has_value());
  }
}

TEST_CASE("endpoints order by address, then port") {
  CHECK(*Endpoint::parse("1.2.3.4:1") < *Endpoint::parse("1.2.3.4:2"));
  CHECK(*Endpoint::parse("1.2.3.4:9") < *Endpoint::parse("1.2.3.5:1"));
  CHECK(*Endpoint::parse("9.9.9.9:1") < *Endpoint::parse("[::]:1"));
}

TEST_CASE("prefixes print what they parse") {
  for (const char* text : {"10.0.0.0/8", "0.0.0.0/0", "192.0.2.1/32", "2001:db8::/32", "::/0", "::1/128", "10.1.2.128/25", "fc00::/7"}) {
    CAPTURE(text);
    const auto prefix = Prefix::parse(text);
    REQUIRE(prefix.has_value());
    CHECK(prefix->to_string() == text);
  }
  CHECK(Prefix::parse("192.0.2.1")->to_string() == "192.0.2.1/32");
  CHECK(Prefix::parse("2001:db8::1")->to_string() == "2001:db8::1/128");
}

TEST_CASE("prefixes with host bits or wrong lengths are refused") {
  for (const char* text : {"", "/8", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "::1/127",
                           "::/129", "10.0.0.0/ 8", "loopback"}) {
    CAPTURE(text);
    CHECK_FALSE(Prefix::parse(text).has_value());
  }
}

TEST_CASE("a prefix contains the addresses of its own family, and mapped ones as IPv4") {
  const auto contains = [](const char* prefix, const char* address) { return Prefix::parse(prefix)->contains(*IpAddress::parse(address)); };
  CHECK(contains("10.0.0.0/8", "10.255.0.1"));
  CHECK_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  CHECK(contains("10.1.2.128/25", "10.1.2.255"));
  CHECK_FALSE(contains("10.1.2.128/25", "10.1.2.127"));
  CHECK(contains("0.0.0.0/0", "8.8.8.8"));
  CHECK_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  CHECK_FALSE(contains("::/0", "8.8.8.8"));
  CHECK(contains("fc00::/7", "fdff::1"));
  CHECK_FALSE(contains("fc00::/7", "fe00::1"));
  CHECK(contains("127.0.0.0/8", "::ffff:127.0.0.1"));
  CHECK(contains("::1/128", "::1"));
  CHECK_FALSE(contains("::1/128", "::2"));
}
