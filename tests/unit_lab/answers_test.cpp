// What the lab's resolvers answer, and every fault of an answer.
#include <catch2/catch_test_macros.hpp>

#include "fetch.h"

namespace dohmux::test {

namespace {

constexpr std::string_view kDnsType = "application/dns-message";

LabOptions small() {
  return {.resolvers = 2, .proxies = 1, .rtt = "0ms", .commands = {}};
}

// A lab with one fault, and one query under it.
Fetched under(const std::string& fault, const std::string& name = "www.example.com") {
  Lab lab(small());
  REQUIRE(lab.ready());
  REQUIRE(lab.command("resolver r1 " + fault) == "ok");
  Fetcher fetcher(lab);
  return fetcher.get({}, name);
}

}  // namespace

TEST_CASE("plain answers follow from the name and the type") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  const Fetched a = fetcher.get({}, "www.example.com", 1);
  CHECK(a.code == CURLE_OK);
  CHECK(a.http_version == CURL_HTTP_VERSION_2);
  CHECK(a.content_type == kDnsType);
  CHECK(a.reply.came);
  CHECK(a.reply.rcode == 0);
  CHECK(a.reply.answers == 1);
  CHECK(a.reply.has_opt);
  CHECK(fetcher.get({}, "www.example.com", 1).body == a.body);
  for (const std::uint16_t type : std::initializer_list<std::uint16_t>{28, 16, 65, 15, 5, 65280}) {
    CHECK(fetcher.get({}, "www.example.com", type).reply.answers == 1);
  }
  const Fetched nodata = fetcher.get({}, "www.example.com", 99);
  CHECK(nodata.reply.rcode == 0);
  CHECK(nodata.reply.answers == 0);
  CHECK(fetcher.get({}, "nx1.example.com").reply.rcode == 3);
  CHECK(fetcher.get({}, "nodata.example.com").reply.answers == 0);
  CHECK(fetcher.get({}, "size3000.example.com").body.size() == 3000);
  CHECK(lab.count("r1", "accepts") == 1);
  CHECK(lab.count("r1", "queries") == lab.count("r1", "answered"));
  CHECK(lab.count("r1", "id_nonzero") == 0);
  CHECK(lab.count("r1", "with_opt") == lab.count("r1", "queries"));
}

TEST_CASE("requests that are no DoH get the HTTP status they deserve") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  CHECK(fetcher.get_path({}, "/other").status == 404);
  CHECK(fetcher.get_path({}, "/dns-query").status == 400);
  CHECK(fetcher.get_path({}, "/dns-query?dns=AAAA").status == 400);
  const Fetched get = fetcher.get_path({}, "/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB");
  CHECK(get.status == 200);
  CHECK(get.reply.answers == 1);
  CHECK(lab.count("r1", "requests") == 4);
  CHECK(lab.count("r1", "queries") == 1);
}

TEST_CASE("faults of the DNS message") {
  CHECK(under("wrong-id").reply.id != 0);
  const Fetched good = under("ok");
  CHECK(under("wrong-question").reply.question != good.reply.question);
  CHECK_FALSE(under("qr0").reply.came);
  CHECK(under("tc").reply.truncated);
  CHECK((static_cast<unsigned char>(under("ad").body[3]) & 0x20U) != 0);
  CHECK(under("servfail").reply.rcode == 2);
  CHECK(under("rcode 5").reply.rcode == 5);
  const Fetched ede = under("ede 6 bogus it is");
  CHECK(ede.reply.ede == 6);
  CHECK(ede.reply.ede_text == "bogus it is");
  CHECK(under("empty").body.empty());
  const Fetched junk = under("junk");
  CHECK(junk.body.size() == 40);
  CHECK(junk.reply.question.empty());
  CHECK(under("big 70000").body.size() == 70000);
  CHECK(under("big 600").reply.answers > 30);
}

TEST_CASE("faults of the HTTP reply") {
  const Fetched unavailable = under("status 503 Retry-After: 7");
  CHECK(unavailable.status == 503);
  CHECK(unavailable.headers.find("retry-after: 7") != std::string::npos);
  CHECK(under("retry-after 9").status == 429);
  CHECK(under("type text/html").content_type == "text/html");
  CHECK(under("type").content_type.empty());
  CHECK(under("age 250").headers.find("age: 250") != std::string::npos);
  CHECK(under("header X-Odd: yes").headers.find("x-odd: yes") != std::string::npos);
  CHECK(under("rst CANCEL").code == CURLE_HTTP2_STREAM);
  CHECK(under("rst 2").code == CURLE_HTTP2_STREAM);
  const Fetched half = under("half-rst INTERNAL_ERROR");
  CHECK(half.code == CURLE_HTTP2_STREAM);
  CHECK(half.status == 200);
  CHECK(under("drop").code != CURLE_OK);
}

TEST_CASE("silence, half an answer and delay") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  const Target impatient{.resolver = "r1", .exit = "p1", .credentials = "", .timeout_ms = 500};
  lab.command("resolver r1 hang");
  CHECK(fetcher.get(impatient, "a.example").code == CURLE_OPERATION_TIMEDOUT);
  lab.command("resolver r1 ok");
  lab.command("resolver r1 half");
  const Fetched half = fetcher.get(impatient, "b.example");
  CHECK(half.code == CURLE_OPERATION_TIMEDOUT);
  CHECK(half.status == 200);
  lab.command("resolver r1 ok");
  lab.command("resolver r1 delay 10s");
  CHECK(fetcher.get(impatient, "c.example").code == CURLE_OPERATION_TIMEDOUT);
  lab.command("resolver r1 ok");
  CHECK(fetcher.get({}, "d50.example").code == CURLE_OK);
  CHECK(lab.count("r1", "queries") == 4);
  CHECK(lab.count("r1", "answered") == 1);
}

TEST_CASE("a fault may wear out, and names have faults of their own") {
  Lab lab(small());
  REQUIRE(lab.ready());
  Fetcher fetcher(lab);
  lab.command("resolver r1 status 500 times=2");
  CHECK(fetcher.get({}, "a.example").status == 500);
  CHECK(fetcher.get({}, "b.example").status == 500);
  CHECK(fetcher.get({}, "c.example").status == 200);
  lab.command("resolver r1 rst CANCEL 1");
  CHECK(fetcher.get({}, "d.example").code == CURLE_HTTP2_STREAM);
  CHECK(fetcher.get({}, "e.example").code == CURLE_OK);
  CHECK(lab.count("r1", "resets") == 1);
  REQUIRE(lab.command("name bad.Example servfail") == "ok");
  CHECK(fetcher.get({}, "www.bad.example").reply.rcode == 2);
  CHECK(fetcher.get({}, "bad.example").reply.rcode == 2);
  CHECK(fetcher.get({}, "notbad.example").reply.rcode == 0);
  REQUIRE(lab.command("name bad.example ok") == "ok");
  CHECK(fetcher.get({}, "www.bad.example").reply.rcode == 0);
}

}  // namespace dohmux::test
