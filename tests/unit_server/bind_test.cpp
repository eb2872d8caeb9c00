// Sockets of a listen entry, and the words for what goes wrong.
#include "server/bind.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "server/port_holder.h"
#include "unit_server/support.h"

using dohmux::Endpoint;
using dohmux::IpAddress;
using dohmux::Protocol;
using dohmux::server::bind_dns;
using dohmux::server::bind_tcp;
using dohmux::server::BindFault;
using dohmux::test::any_port;
using dohmux::test::local_endpoint;

namespace {

bool has_ipv6() {
  return bind_tcp(any_port("::1")).has_value();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("bind: port 0: both transports get one port, and it is told") {
  for (int i = 0; i < 50; ++i) {
    const auto sockets = bind_dns(any_port("127.0.0.1"));
    REQUIRE(sockets.has_value());
    CHECK(sockets->udp.endpoint == sockets->tcp.endpoint);
    CHECK(sockets->udp.endpoint.port != 0);
    CHECK(local_endpoint(sockets->udp.fd.get()) == sockets->udp.endpoint);
    CHECK(local_endpoint(sockets->tcp.fd.get()) == sockets->tcp.endpoint);
  }
}

TEST_CASE("bind: the same port on 0.0.0.0 and [::]") {
  if (!has_ipv6()) {
    SKIP("no IPv6 here");
  }
  const auto v4 = bind_dns(any_port("0.0.0.0"));
  REQUIRE(v4.has_value());
  const auto v6 = bind_dns(Endpoint{.address = *IpAddress::parse("::"), .port = v4->udp.endpoint.port});
  CHECK(v6.has_value());
}

TEST_CASE("bind: a taken UDP port: named with its holder, and nothing stays half open") {
  const auto first = bind_dns(any_port("127.0.0.1"));
  REQUIRE(first.has_value());
  const auto second = bind_dns(first->udp.endpoint);
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().fault == BindFault::InUse);
  CHECK(contains(second.error().text, first->udp.endpoint.to_string()));
  CHECK(contains(second.error().text, "udp"));
  CHECK(contains(second.error().text, "EADDRINUSE"));
  CHECK(contains(second.error().text, fmt::format("process {}", ::getpid())));
}

TEST_CASE("bind: a taken TCP port fails the pair, and its UDP half is free again") {
  Endpoint taken;
  {
    const auto tcp = bind_tcp(any_port("127.0.0.1"));
    REQUIRE(tcp.has_value());
    taken = tcp->endpoint;
    const auto pair = bind_dns(taken);
    REQUIRE_FALSE(pair.has_value());
    CHECK(pair.error().fault == BindFault::InUse);
    CHECK(contains(pair.error().text, "tcp"));
  }
  CHECK(bind_dns(taken).has_value());
}

TEST_CASE("bind: a wildcard holder is found, too") {
  const auto wide = bind_dns(any_port("0.0.0.0"));
  REQUIRE(wide.has_value());
  const Endpoint narrow{.address = *IpAddress::parse("127.0.0.1"), .port = wide->udp.endpoint.port};
  const auto udp = dohmux::server::find_port_holder(narrow, Protocol::Udp);
  const auto tcp = dohmux::server::find_port_holder(narrow, Protocol::Tcp);
  REQUIRE(udp.has_value());
  REQUIRE(tcp.has_value());
  CHECK(udp->pid == ::getpid());
  CHECK(tcp->pid == ::getpid());
}

TEST_CASE("bind: an address that nobody here has can be told from a taken one") {
  const auto sockets = bind_dns(any_port("192.0.2.1"));
  REQUIRE_FALSE(sockets.has_value());
  CHECK(sockets.error().fault == BindFault::Missing);
  CHECK(contains(sockets.error().text, "192.0.2.1"));
  CHECK(contains(sockets.error().text, "EADDRNOTAVAIL"));
}
