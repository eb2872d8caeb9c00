// Every way in which a dial can fail, by proxy and directly, and what the report says of it.
#include <chrono>

#include "contract/black_hole.h"
#include "contract/transports.h"

namespace dohmux::contract {

using transport::Phase;

namespace {

struct Row {
  const char* command;
  FailureKind kind;
  Phase phase;
  int http_status = 0;
};

constexpr Duration kShort = 700ms;

void check_failure(const std::expected<DialInfo, Failure>& result, const Row& row) {
  REQUIRE_FALSE(result.has_value());
  const Failure& failure = result.error();
  INFO(row.command << ": " << failure.detail);
  CHECK(failure.kind == row.kind);
  CHECK(failure.phase == row.phase);
  CHECK(failure.http_status == row.http_status);
  CHECK_FALSE(failure.detail.empty());
  CHECK_FALSE(failure.header_seen);
}

}  // namespace

CONTRACT_TEST("a dial through a proxy fails as the table says") {
  const Row row = GENERATE(Row{"proxy p1 refuse", FailureKind::ProxyRefused, Phase::ProxyConnect},
                           Row{"proxy p1 close", FailureKind::ProxyClosed, Phase::Tunnel},
                           Row{"proxy p1 stall", FailureKind::TunnelSilent, Phase::Tunnel},
                           Row{"proxy p1 stall-connect", FailureKind::TunnelSilent, Phase::Tunnel},
                           Row{"proxy p1 407", FailureKind::ProxyAuth, Phase::Tunnel, 407},
                           Row{"proxy p1 status 403", FailureKind::TunnelRefused, Phase::Tunnel, 403},
                           Row{"proxy p1 status 502", FailureKind::TunnelRefused, Phase::Tunnel, 502},
                           Row{"proxy p1 status 503 r1", FailureKind::TunnelRefused, Phase::Tunnel, 503},
                           Row{"proxy p1 close-after-200", FailureKind::TunnelBroken, Phase::TlsHandshake},
                           Row{"proxy p1 garbage", FailureKind::TunnelBroken, Phase::TlsHandshake},
                           Row{"proxy p1 cut 100", FailureKind::TunnelBroken, Phase::TlsHandshake},
                           Row{"resolver r1 close", FailureKind::TunnelBroken, Phase::TlsHandshake},
                           Row{"resolver r1 stall", FailureKind::TunnelBroken, Phase::TlsHandshake},
                           Row{"resolver r1 stall-tls", FailureKind::TunnelBroken, Phase::TlsHandshake},
                           Row{"resolver r1 refuse", FailureKind::TunnelRefused, Phase::Tunnel, 502},
                           Row{"resolver r1 cert expired", FailureKind::Certificate, Phase::TlsHandshake},
                           Row{"resolver r1 cert wrong-name", FailureKind::Certificate, Phase::TlsHandshake},
                           Row{"resolver r1 cert self-signed", FailureKind::Certificate, Phase::TlsHandshake});
  Bench bench(TestType::kMake);
  bench.lab().command(row.command);
  bench.open_via("p1");
  check_failure(bench.dial(kShort), row);
  CHECK(bench.lane().connected() == 0);
  CHECK(bench.lane().opened() == 0);
  CHECK_FALSE(bench.lane().ready());
  CHECK(bench.lab().count("r1", "requests") == 0);
  CHECK(bench.lab().count("r1", "direct") == 0);
  CHECK(bench.lab().count("decoy", "accepts") == 0);
  bench.lab().command("clear");
  bench.connect();  // the lane is not the worse for it
}

CONTRACT_TEST("a direct dial fails as the table says") {
  const Row row = GENERATE(Row{"resolver r1 refuse", FailureKind::OriginRefused, Phase::Connect},
                           Row{"resolver r1 close", FailureKind::TlsFailed, Phase::TlsHandshake},
                           Row{"resolver r1 stall-tls", FailureKind::TlsFailed, Phase::TlsHandshake},
                           Row{"resolver r1 cert expired", FailureKind::Certificate, Phase::TlsHandshake});
  Bench bench(TestType::kMake);
  bench.lab().command(row.command);
  bench.open_direct();
  check_failure(bench.dial(kShort), row);
  CHECK(bench.lane().connected() == 0);
}

CONTRACT_TEST("a dial to a killed proxy is refused") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  bench.lab().command("proxy p1 kill");
  CHECK(kind_of(bench.dial()) == FailureKind::ProxyRefused);
}

CONTRACT_TEST("a proxy that does not answer on TCP is silent, not refusing") {
  Bench bench(TestType::kMake);
  auto spec = bench.spec_via("p1");
  const bool direct = GENERATE(false, true);
  const BlackHole hole;  // a listener whose queue is full drops each SYN
  if (direct) {
    spec = bench.spec();
    spec.port = hole.port();
  } else {
    spec.proxy->port = hole.port();
  }
  bench.open(spec);
  const auto result = bench.dial(kShort);
  CHECK(kind_of(result) == (direct ? FailureKind::OriginSilent : FailureKind::ProxySilent));
  CHECK(result.error().phase == (direct ? Phase::Connect : Phase::ProxyConnect));
}

CONTRACT_TEST("certificate failures say why") {
  Bench bench(TestType::kMake);
  bench.lab().command("resolver r1 cert expired");
  bench.lab().command("resolver r2 cert wrong-name");
  bench.open_via("p1");
  CHECK(bench.dial().error().detail == "tls: certificate has expired");
  bench.open(bench.spec_via("p1", 2));
  CHECK(bench.dial().error().detail == "tls: certificate does not match the host name");
}

CONTRACT_TEST("a certificate of a CA outside the list is refused") {
  Bench bench(TestType::kMake);
  auto spec = bench.spec_via("p1");
  spec.origin.ca = {"system"};
  bench.open(spec);
  CHECK(kind_of(bench.dial()) == FailureKind::Certificate);
}

CONTRACT_TEST("an unreadable CA file is an error of open()") {
  Bench bench(TestType::kMake);
  auto spec = bench.spec_via("p1");
  spec.origin.ca = {"/nonexistent/ca.pem"};
  const auto lane = bench.transport().open(spec);
  REQUIRE_FALSE(lane.has_value());
  CHECK(lane.error() == "CA file /nonexistent/ca.pem: No such file or directory");
}

CONTRACT_TEST("a host without an address is an error of open(), never a lookup") {
  Bench bench(TestType::kMake);
  auto spec = bench.spec();
  spec.origin.addresses.clear();
  CHECK_FALSE(bench.transport().open(spec).has_value());
  spec = bench.spec_via("p1");
  spec.proxy->host = "proxy.lab.example";
  spec.proxy->addresses.clear();
  CHECK_FALSE(bench.transport().open(spec).has_value());
}

CONTRACT_TEST("a proxy given by name is reached at its configured addresses") {
  Bench bench(TestType::kMake);
  auto spec = bench.spec_via("p1");
  spec.proxy->host = "proxy.lab.example";
  spec.proxy->addresses = {*IpAddress::parse("127.0.0.9"), *IpAddress::parse("127.0.0.1")};
  bench.open(spec);
  bench.connect();
  CHECK(bench.lab().count("p1", "connects") == 1);
  CHECK(bench.ask("www.example").result.has_value());
}

CONTRACT_TEST("basic credentials reach the proxy as they are") {
  const std::string user = GENERATE("corp\\svc-dns", "plain", "with%20percent");
  const std::string password = GENERATE("secret", "with:colon", "p@ss/word");
  Bench bench(TestType::kMake);
  bench.lab().command("proxy p1 auth " + user + ":" + password);
  auto spec = bench.spec_via("p1");
  spec.proxy->auth = {.scheme = AuthScheme::Basic, .username = user, .password = password};
  bench.open(spec);
  bench.connect();
  spec.proxy->auth.password = "wrong";
  bench.open(spec);
  const auto result = bench.dial();
  CHECK(kind_of(result) == FailureKind::ProxyAuth);
  CHECK(result.error().detail == "tunnel: http 407");
  CHECK(bench.lab().count("p1", "connects") == 2);  // a refused password is not tried again
}

CONTRACT_TEST("each dial opens one more connection") {
  Bench bench(TestType::kMake);
  bench.open_via("p1");
  const DialInfo first = bench.connect();
  const DialInfo second = bench.connect();
  CHECK(first.connection != second.connection);
  CHECK(bench.lane().connected() == 2);
  CHECK(bench.lane().opened() == 2);
}

CONTRACT_TEST("a dial that is cancelled leaves nothing behind") {
  Bench bench(TestType::kMake);
  bench.lab().command("proxy p1 stall-connect");
  bench.open_via("p1");
  bool told = false;
  auto call = bench.lane().dial(kPatience, [&](const auto&) { told = true; });
  bench.run_until([&] { return bench.lab().count("p1", "open") == 1; });
  call.reset();
  bench.run_until([&] { return bench.lab().count("p1", "open") == 0; });
  CHECK_FALSE(told);
}

}  // namespace dohmux::contract
