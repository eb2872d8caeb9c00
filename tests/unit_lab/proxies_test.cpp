// The lab's CONNECT proxies and every fault of theirs.
#include <signal.h>

#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "fetch.h"

namespace dohmux::test {

namespace {

LabOptions small() {
  return {.resolvers = 2, .proxies = 2, .rtt = "0ms", .commands = {}};
}

Fetched under(const std::string& fault, const Target& target = {}) {
  Lab lab(small());
  REQUIRE(lab.ready());
  REQUIRE(lab.command("proxy p1 " + fault) == "ok");
  Fetcher fetcher(lab);
  return fetcher.get(target, "www.example.com");
}

const Target kImpatient{.resolver = "r1", .exit = "p1", .credentials = "", .timeout_ms = 500};
const Target kOther{.resolver = "r1", .exit = "p2", .credentials = "", .timeout_ms = 5000};

}  // namespace

TEST_CASE("proxies know the resolvers and nothing else") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
  CHECK(fetcher.get({.resolver = "r9", .exit = "p1", .credentials = "", .timeout_ms = 5000}, "a.example").connect_status == 403);
  CHECK(lab.count("p1", "connects") == 2);
  CHECK(lab.count("p1", "ok") == 1);
  CHECK(lab.count("p1", "refused") == 1);
  CHECK(lab.count("p1", "unknown") == 1);
  CHECK(lab.count("p2", "accepts") == 0);
}

TEST_CASE("refusals") {
  CHECK(under("refuse").code == CURLE_COULDNT_CONNECT);
  CHECK(under("kill").code == CURLE_COULDNT_CONNECT);
  CHECK(under("407").connect_status == 407);
  CHECK(under("status 502").connect_status == 502);
  CHECK(under("status 403 r1").connect_status == 403);
  CHECK(under("status 403 r2").code == CURLE_OK);
  CHECK(under("auth user:secret").connect_status == 407);
  CHECK(under("auth user:secret", {.resolver = "r1", .exit = "p1", .credentials = "user:secret", .timeout_ms = 5000}).code == CURLE_OK);
  CHECK(under("auth user:secret", {.resolver = "r1", .exit = "p1", .credentials = "user:wrong", .timeout_ms = 5000}).connect_status == 407);
}

TEST_CASE("connections that come to nothing") {
  CHECK(under("close").code == CURLE_RECV_ERROR);
  CHECK(under("close-after-200").code == CURLE_SSL_CONNECT_ERROR);
  CHECK(under("garbage").code == CURLE_SSL_CONNECT_ERROR);
  CHECK(under("cut 200").code == CURLE_SSL_CONNECT_ERROR);
  CHECK(under("delay 50ms").code == CURLE_OK);
  for (const std::string fault : {"stall", "stall-connect", "stop"}) {
    const Fetched stalled = under(fault, kImpatient);
    CHECK(stalled.code == CURLE_OPERATION_TIMEDOUT);
    CHECK(stalled.connect_status == 0);
  }
}

TEST_CASE("tunnels cut and frozen") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
  CHECK(lab.count("p1", "open") == 1);
  CHECK(lab.command("proxy p1 cut-all") == "ok");
  CHECK(lab.count("p1", "open") == 0);
  (void)fetcher.get({}, "b.example");
  CHECK(fetcher.get({}, "c.example").code == CURLE_OK);
  CHECK(lab.command("proxy p1 freeze-all") == "ok");
  CHECK(fetcher.get(kImpatient, "d.example").code == CURLE_OPERATION_TIMEDOUT);
  Fetcher fresh(lab);
  CHECK(fresh.get({}, "e.example").code == CURLE_OK);  // new tunnels work
}

TEST_CASE("a proxy is killed, restarted, stopped and continued") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
  const long pid = lab.count("p1", "pid");
  const long accepts = lab.count("p1", "accepts");
  CHECK(lab.command("proxy p1 kill") == "ok");
  CHECK(lab.count("p1", "up") == 0);
  CHECK(lab.count("p1", "open") == 0);
  CHECK(lab.count("p1", "accepts") == accepts);  // counters survive
  CHECK(fetcher.get(kOther, "b.example").code == CURLE_OK);
  CHECK(lab.command("proxy p1 restart") == "ok");
  CHECK(lab.count("p1", "up") == 1);
  CHECK(lab.count("p1", "pid") != pid);
  Fetcher fresh(lab);
  CHECK(fresh.get({}, "c.example").code == CURLE_OK);
  CHECK(lab.command("proxy p1 stop") == "ok");
  CHECK(fresh.get(kImpatient, "d.example").code == CURLE_OPERATION_TIMEDOUT);
  CHECK(lab.command("proxy p1 cont") == "ok");
  Fetcher third(lab);
  CHECK(third.get({}, "e.example").code == CURLE_OK);
}

TEST_CASE("a proxy that dies by another hand is noticed") {
  Lab lab(small());
  REQUIRE(lab.ready());
  ::kill(static_cast<pid_t>(lab.count("p1", "pid")), SIGKILL);
  for (int i = 0; i < 500 && lab.count("p1", "up") != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(lab.count("p1", "up") == 0);
  CHECK(lab.command("clear") == "ok");  // brings it back
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
}

}  // namespace dohmux::test
