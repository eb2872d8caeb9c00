// Every fault of a resolver's connections.
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "fetch.h"

namespace dohmux::test {

namespace {

LabOptions small() {
  return {.resolvers = 2, .proxies = 2, .rtt = "0ms", .commands = {}};
}
constexpr long kImpatient = 500;

std::vector<std::string> names(int count) {
  std::vector<std::string> list;
  list.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    list.push_back("q" + std::to_string(i) + ".example");
  }
  return list;
}

std::size_t good(const std::vector<Fetched>& all) {
  std::size_t count = 0;
  for (const Fetched& one : all) {
    count += one.code == CURLE_OK && one.reply.answers == 1 ? 1 : 0;
  }
  return count;
}

// A counter that another process is about to reach.
bool reaches(Lab& lab, const std::string& key, long value) {
  for (int i = 0; i < 500; ++i) {
    if (lab.count("r1", key) == value) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

TEST_CASE("streams share a connection and are counted") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  lab.command("resolver r1 delay 50");
  CHECK(good(fetcher.get_all({}, names(40))) == 40);
  CHECK(lab.count("r1", "accepts") == 1);
  CHECK(lab.count("r1", "handshakes") == 1);
  CHECK(lab.count("r1", "queries") == 40);
  CHECK(lab.count("r1", "max_streams_seen") == 40);
  CHECK(lab.count("r1", "via_p1") == 1);
  CHECK(lab.count("r1", "direct") == 0);
  CHECK(lab.count("p1", "connects") == 1);
  CHECK(fetcher.get({.resolver = "r1", .exit = "direct", .credentials = "", .timeout_ms = 5000}, "a.example").code == CURLE_OK);
  CHECK(lab.count("r1", "direct") == 1);
  CHECK(lab.count("r1", "open") == 2);
  CHECK(lab.count("r1", "max_open") == 2);
}

TEST_CASE("HTTP/1.1 only: one request at a time on a connection") {
  Lab lab(small());
  REQUIRE(lab.ready());
  lab.command("resolver r1 h1");
  lab.command("resolver r1 delay 20");
  Fetcher fetcher(lab);
  const auto all = fetcher.get_all({}, names(6));
  CHECK(good(all) == 6);
  CHECK(all.front().http_version == CURL_HTTP_VERSION_1_1);
  CHECK(lab.count("r1", "http1") == lab.count("r1", "accepts"));
  CHECK(lab.count("r1", "max_streams_seen") == 1);
  const long before = lab.count("r1", "accepts");
  CHECK(fetcher.get({}, "again.example").code == CURLE_OK);
  CHECK(lab.count("r1", "accepts") == before);
}

TEST_CASE("a stream limit is announced and kept") {
  Lab lab(small());
  REQUIRE(lab.ready());
  lab.command("resolver r1 max-streams 5");
  lab.command("resolver r1 delay 30");
  Fetcher fetcher(lab);
  CHECK(good(fetcher.get_all({}, names(20))) == 20);  // on new connections some may be sent before the limit is known
  CHECK(lab.count("r1", "answered") == 20);
  CHECK(lab.count("r1", "requests") - lab.count("r1", "refused_streams") == 20);
  lab.command("resolver r2 max-streams 5");
  lab.command("resolver r2 delay 30");
  fetcher.limit_connections(1);
  const Target second{.resolver = "r2", .exit = "p1", .credentials = "", .timeout_ms = 5000};
  CHECK(fetcher.get(second, "first.example").code == CURLE_OK);  // the limit is known from here on
  CHECK(good(fetcher.get_all(second, names(20))) == 20);
  CHECK(lab.count("r2", "max_streams_seen") == 5);
  CHECK(lab.count("r2", "refused_streams") == 0);
  CHECK(lab.count("r2", "requests") == 21);
}

TEST_CASE("refused streams are counted as requests") {
  Lab lab(small());
  REQUIRE(lab.ready());
  lab.command("resolver r1 rst REFUSED_STREAM");
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "a.example").code != CURLE_OK);
  CHECK(lab.count("r1", "requests") == 6);  // libcurl resends five times by itself
  CHECK(lab.count("r1", "refused_streams") == 6);
  CHECK(lab.count("r1", "answered") == 0);
}

TEST_CASE("connections refused, closed, stalled") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  const Target impatient{.resolver = "r1", .exit = "p1", .credentials = "", .timeout_ms = kImpatient};
  lab.command("resolver r1 refuse");
  CHECK(fetcher.get({}, "a.example").connect_status == 502);
  CHECK(fetcher.get({.resolver = "r1", .exit = "direct", .credentials = "", .timeout_ms = 5000}, "a.example").code ==
        CURLE_COULDNT_CONNECT);
  CHECK(lab.count("r1", "accepts") == 0);
  lab.command("resolver r1 ok");
  CHECK(fetcher.get({}, "b.example").code == CURLE_OK);
  lab.command("resolver r1 drop-all");
  lab.command("resolver r1 close");
  CHECK(fetcher.get({}, "c.example").code == CURLE_SSL_CONNECT_ERROR);
  for (const std::string fault : {"stall", "stall-tls"}) {
    lab.command("resolver r1 ok");
    lab.command("resolver r1 " + fault);
    const Fetched stalled = fetcher.get(impatient, "d.example");
    CHECK(stalled.code == CURLE_OPERATION_TIMEDOUT);
    CHECK(stalled.connect_status == 200);
  }
  CHECK(reaches(lab, "open", 0));
  CHECK(lab.count("r1", "queries") == 1);
}

TEST_CASE("certificates that must not be trusted") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  for (const std::string kind : {"expired", "wrong-name", "self-signed"}) {
    lab.command("resolver r1 cert " + kind);
    CHECK(fetcher.get({}, "a.example").code == CURLE_PEER_FAILED_VERIFICATION);
  }
  CHECK(lab.count("r1", "queries") == 0);
  lab.command("resolver r1 cert good");
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
}

TEST_CASE("a connection is cut after so many octets") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
  lab.command("resolver r1 cut 20 times=1");
  CHECK(fetcher.get({}, "b.example").code != CURLE_OK);
  CHECK(reaches(lab, "open", 0));
  CHECK(fetcher.get({}, "c.example").code == CURLE_OK);
  CHECK(lab.count("r1", "accepts") == 2);
  CHECK(lab.count("r1", "requests") == 3);
}

TEST_CASE("GOAWAY leaves later streams unprocessed and finishes earlier ones") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  lab.command("resolver r1 delay 30");
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
  lab.command("resolver r1 goaway 5 times=1");
  CHECK(good(fetcher.get_all({}, names(12))) == 12);  // libcurl resends the refused ones on a new connection
  CHECK(lab.count("r1", "accepts") == 2);
  CHECK(lab.count("r1", "queries") == 13);
  CHECK(lab.count("r1", "refused_streams") + lab.count("r1", "queries") == lab.count("r1", "requests"));
}

TEST_CASE("GOAWAY now, and GOAWAY with the door slammed") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
  REQUIRE(lab.command("resolver r1 goaway-all") == "ok");
  CHECK(fetcher.get({}, "b.example").code == CURLE_OK);
  CHECK(lab.count("r1", "accepts") == 2);
  REQUIRE(lab.command("resolver r1 goaway-close 1 times=1") == "ok");
  lab.command("resolver r1 delay 100");
  CHECK(fetcher.get({}, "c.example").code == CURLE_OK);  // libcurl resends it, on a third connection
  CHECK(lab.count("r1", "accepts") == 3);
  CHECK(lab.count("r1", "queries") == 4);
  CHECK(lab.count("r1", "answered") == 3);
}

TEST_CASE("open connections dropped, reset, frozen, closed when idle") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  long accepts = 0;
  for (const std::string action : {"drop-all", "reset-all", "freeze-all"}) {
    const Target impatient{.resolver = "r1", .exit = "p1", .credentials = "", .timeout_ms = action == "freeze-all" ? kImpatient : 5000};
    CHECK(fetcher.get({}, "a.example").code == CURLE_OK);
    REQUIRE(lab.command("resolver r1 " + action) == "ok");
    accepts = lab.count("r1", "accepts");
    (void)fetcher.get(impatient, "b.example");
  }
  CHECK(accepts == 3);
  CHECK(lab.count("r1", "queries") == 5);  // nobody read the one behind freeze-all
  REQUIRE(lab.command("resolver r2 idle-close 50ms") == "ok");
  CHECK(fetcher.get({.resolver = "r2", .exit = "p1", .credentials = "", .timeout_ms = 5000}, "c.example").code == CURLE_OK);
  for (int i = 0; i < 500 && lab.count("r2", "open") != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(lab.count("r2", "open") == 0);
}

TEST_CASE("the emulated round trip costs what it says") {
  Lab lab({.resolvers = 1, .proxies = 1, .rtt = "30ms", .commands = {}});
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(fetcher.get({}, "a.example").code == CURLE_OK);  // TCP and ClientHello 2, Finished with request 1
  const auto cold = std::chrono::steady_clock::now();
  CHECK(fetcher.get({}, "b.example").code == CURLE_OK);
  const auto warm = std::chrono::steady_clock::now();
  CHECK(cold - begin >= std::chrono::milliseconds(90));
  CHECK(warm - cold >= std::chrono::milliseconds(30));
}

}  // namespace dohmux::test
