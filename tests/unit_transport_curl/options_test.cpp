// What goes into URLs, and what does not become a lane.
#include "transport/curl/options.h"

#include <catch2/catch_test_macros.hpp>

#include "transport/curl/ca_store.h"

namespace dohmux::transport {

namespace {

Bytes bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

LaneSpec direct_to(const std::string& host) {
  LaneSpec spec;
  spec.host = host;
  spec.origin.addresses = {*IpAddress::parse("192.0.2.1")};
  return spec;
}

}  // namespace

TEST_CASE("base64url has no padding (RFC 4648, RFC 8484)") {
  CHECK(base64url({}).empty());
  CHECK(base64url(bytes("f")) == "Zg");
  CHECK(base64url(bytes("fo")) == "Zm8");
  CHECK(base64url(bytes("foo")) == "Zm9v");
  CHECK(base64url(Bytes{0xfb, 0xff, 0xfe}) == "-__-");
  // RFC 8484 §4.1.1: www.example.com
  const Bytes query = {0,   0,   1,   0,   0,   1,   0,   0, 0,   0,   0,   0, 3, 'w', 'w', 'w', 7,
                       'e', 'x', 'a', 'm', 'p', 'l', 'e', 3, 'c', 'o', 'm', 0, 0, 1,   0,   1};
  CHECK(base64url(query) == "AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB");
}

TEST_CASE("a GET puts the message behind whatever query there is") {
  CHECK(get_target("/dns-query", bytes("foo")) == "/dns-query?dns=Zm9v");
  CHECK(get_target("/q?key=1", bytes("foo")) == "/q?key=1&dns=Zm9v");
}

TEST_CASE("origins and proxies become URLs") {
  CHECK(LaneOptions::make(direct_to("dns.example"), nullptr)->base() == "https://dns.example:443");
  CHECK(LaneOptions::make(direct_to("2001:db8::1"), nullptr)->base() == "https://[2001:db8::1]:443");
  CHECK_FALSE(LaneOptions::make(direct_to("dns.example"), nullptr)->via_proxy());
}

TEST_CASE("a lane needs a host that is one, and an address for the nearest name") {
  for (const std::string host : {"", "a/b", "user@host", "a b", "a,b", "a?b", "a#b"}) {
    CAPTURE(host);
    CHECK_FALSE(LaneOptions::make(direct_to(host), nullptr).has_value());
  }
  LaneSpec spec = direct_to("dns.example");
  spec.origin.addresses.clear();
  CHECK_FALSE(LaneOptions::make(spec, nullptr).has_value());
  spec.host = "192.0.2.7";
  CHECK(LaneOptions::make(spec, nullptr).has_value());
  spec.host = "dns.example";
  spec.proxy = ProxyConfig{.name = "p", .host = "192.0.2.8", .port = 3128, .addresses = {}, .auth = {}};
  CHECK(LaneOptions::make(spec, nullptr)->via_proxy());
  spec.proxy->host = "proxy.example";
  CHECK_FALSE(LaneOptions::make(spec, nullptr).has_value());
  spec.proxy->host = "proxy/example";
  CHECK_FALSE(LaneOptions::make(spec, nullptr).has_value());
}

TEST_CASE("CA lists: errors name the file; equal lists share one store") {
  CaStores stores;
  CHECK(stores.get({"/nonexistent.pem"}).error() == "CA file /nonexistent.pem: No such file or directory");
  CHECK(stores.get({"/dev/null"}).error() == "CA file /dev/null: no certificate in it");
  const auto system = stores.get({"system"});
  if (system) {  // not on a machine without ca-certificates
    CHECK(stores.get({"system"}) == *system);
    CHECK(stores.get({}) == *system);
  }
}

}  // namespace dohmux::transport
