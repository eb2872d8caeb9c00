// Endpoint <-> sockaddr, both families.
#include <netinet/in.h>
#include <sys/un.h>

#include <catch2/catch_test_macros.hpp>

#include "base/sockaddr.h"

using dohmux::Endpoint;
using dohmux::from_sockaddr;
using dohmux::to_sockaddr;

TEST_CASE("an endpoint survives the way through sockaddr") {
  for (const char* text : {"192.0.2.1:53", "0.0.0.0:0", "[2001:db8::1]:65535", "[::ffff:192.0.2.1]:53"}) {
    CAPTURE(text);
    const auto endpoint = *Endpoint::parse(text);
    const auto address = to_sockaddr(endpoint);
    CHECK(from_sockaddr(address.get()) == endpoint);
  }
}

TEST_CASE("lengths and families are what the kernel expects") {
  const auto v4 = to_sockaddr(*Endpoint::parse("192.0.2.1:53"));
  CHECK(v4.length == sizeof(sockaddr_in));
  CHECK(v4.get()->sa_family == AF_INET);
  const auto v6 = to_sockaddr(*Endpoint::parse("[::1]:53"));
  CHECK(v6.length == sizeof(sockaddr_in6));
  CHECK(v6.get()->sa_family == AF_INET6);
}

TEST_CASE("other families are no endpoint") {
  CHECK_FALSE(from_sockaddr(nullptr).has_value());
  sockaddr unix_address{};
  unix_address.sa_family = AF_UNIX;
  CHECK_FALSE(from_sockaddr(&unix_address).has_value());
}
