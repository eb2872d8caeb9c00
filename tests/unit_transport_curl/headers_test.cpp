// Header fields of answers: what counts, what is ignored.
#include "transport/curl/headers.h"

#include <catch2/catch_test_macros.hpp>

namespace dohmux::transport {

using namespace std::chrono_literals;

namespace {

// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110 §5.6.7.
constexpr WallSeconds kExample{std::chrono::seconds{784111777}};

ReplyHead head_of(std::initializer_list<std::string_view> lines) {
  ReplyHead head;
  for (const std::string_view line : lines) {
    head.line(line);
  }
  return head;
}

}  // namespace

TEST_CASE("delta-seconds are digits") {
  CHECK(parse_delta_seconds("0") == 0s);
  CHECK(parse_delta_seconds("120") == 120s);
  CHECK(parse_delta_seconds("007") == 7s);
  CHECK(parse_delta_seconds("99999999999999999999") == 2147483648s);
  for (const std::string_view bad : {"", "-1", "+1", "1.5", " 1", "1s", "0x10"}) {
    CHECK_FALSE(parse_delta_seconds(bad).has_value());
  }
}

TEST_CASE("HTTP dates are IMF-fixdates") {
  CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == kExample);
  CHECK(parse_http_date("Thu, 29 Feb 2024 23:59:60 GMT").has_value());
  for (const std::string_view bad : {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
                                     "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
                                     "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 0x Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT "}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_http_date(bad).has_value());
  }
}

TEST_CASE("Retry-After takes both forms and stays within 1 to 300 s") {
  CHECK(parse_retry_after("17", kExample) == 17s);
  CHECK(parse_retry_after(" 17 ", kExample) == 17s);
  CHECK(parse_retry_after("0", kExample) == 1s);
  CHECK(parse_retry_after("86400", kExample) == 300s);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", kExample) == 60s);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", kExample) == 1s);
  CHECK(parse_retry_after("Mon, 06 Nov 2023 08:00:00 GMT", kExample) == 300s);
  CHECK_FALSE(parse_retry_after("", kExample).has_value());
  CHECK_FALSE(parse_retry_after("soon", kExample).has_value());
}

TEST_CASE("Cache-Control yields max-age and no-store") {
  CHECK(parse_cache_control("max-age=60").max_age == 60s);
  CHECK(parse_cache_control("Max-Age = 60").max_age == 60s);
  CHECK(parse_cache_control("max-age=\"60\"").max_age == 60s);
  CHECK(parse_cache_control("private, max-age=60, max-age=30").max_age == 30s);
  CHECK(parse_cache_control("NO-STORE").no_store);
  CHECK(parse_cache_control("max-age=5,no-store").no_store);
  CHECK_FALSE(parse_cache_control("no-storex, x-no-store").no_store);
  CHECK_FALSE(parse_cache_control("max-age=-1").max_age.has_value());
  CHECK_FALSE(parse_cache_control("s-maxage=1").max_age.has_value());
  CHECK_FALSE(parse_cache_control(",,=,").max_age.has_value());
}

TEST_CASE("an answer's header is read up to its end") {
  const ReplyHead head =
      head_of({"HTTP/2 200 \r\n", "Content-Type:  application/dns-message \r\n", "AGE: 41\r\n", "cache-control: max-age=9\r\n",
               "Cache-Control: max-age=7, no-store\r\n", "retry-after: 5\r\n", "\r\n", "age: 99\r\n"});
  CHECK(head.seen());
  CHECK(head.complete());
  CHECK(head.content_type == "application/dns-message");
  CHECK(head.age == 41s);
  CHECK(head.cache_control.max_age == 7s);
  CHECK(head.cache_control.no_store);
  CHECK(head.retry_after == "5");
  CHECK_FALSE(head.coded);
}

TEST_CASE("interim answers do not count") {
  const ReplyHead head = head_of({"HTTP/2 103 \r\n", "age: 9\r\n", "content-type: text/html\r\n", "\r\n", "HTTP/2 200 \r\n", "\r\n"});
  CHECK(head.complete());
  CHECK(head.age == 0s);
  CHECK(head.content_type.empty());
  const ReplyHead only = head_of({"HTTP/1.1 100 Continue\r\n", "\r\n"});
  CHECK(only.seen());
  CHECK_FALSE(only.complete());
}

TEST_CASE("a body coded in any way but identity is noticed") {
  CHECK(head_of({"HTTP/2 200", "content-encoding: gzip"}).coded);
  CHECK(head_of({"HTTP/2 200", "Content-Encoding: br, identity"}).coded);
  CHECK_FALSE(head_of({"HTTP/2 200", "content-encoding: Identity"}).coded);
  CHECK_FALSE(head_of({"HTTP/2 200", "content-encoding:"}).coded);
}

TEST_CASE("lines that are no fields are ignored, and clear() forgets everything") {
  ReplyHead head = head_of({"HTTP/2 200", "nonsense", ":", "age: x", "age", "content-encoding: gzip", ""});
  CHECK(head.age == 0s);
  head.clear();
  CHECK_FALSE(head.seen());
  CHECK_FALSE(head.coded);
}

}  // namespace dohmux::transport
