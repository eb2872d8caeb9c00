// The strict reader of request heads, row by row.
#include "web/request_head.h"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using dohmux::web::AfterReply;
using dohmux::web::HeadFault;
using dohmux::web::Method;
using dohmux::web::parse_request_head;

namespace {

std::optional<HeadFault> fault_of(std::string_view octets) {
  const auto head = parse_request_head(octets);
  return head ? std::nullopt : std::optional(head.error());
}

struct Row {
  std::string octets;
  HeadFault fault;
};

}  // namespace

TEST_CASE("a usual request") {
  const std::string octets = "GET /metrics?x=1 HTTP/1.1\r\nHost: 127.0.0.1:9153\r\nAccept: */*\r\n\r\n";
  const auto head = parse_request_head(octets + "GET /next");
  REQUIRE(head.has_value());
  CHECK(head->method == Method::Get);
  CHECK(head->path == "/metrics");
  CHECK(head->after == AfterReply::KeepAlive);
  CHECK(head->length == octets.size());
}

TEST_CASE("every prefix of a request is incomplete") {
  const std::string octets = "HEAD / HTTP/1.1\r\nHost: [::1]:80\r\nConnection: foo, Close\r\n\r\n";
  for (std::size_t size = 0; size < octets.size(); ++size) {
    REQUIRE(fault_of(std::string_view(octets).substr(0, size)) == HeadFault::Incomplete);
  }
  const auto head = parse_request_head(octets);
  REQUIRE(head.has_value());
  CHECK(head->method == Method::Head);
  CHECK(head->after == AfterReply::Close);
}

TEST_CASE("HTTP/1.0: no Host needed, closes unless asked") {
  CHECK(parse_request_head("GET / HTTP/1.0\r\n\r\n")->after == AfterReply::Close);
  CHECK(parse_request_head("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")->after == AfterReply::KeepAlive);
}

TEST_CASE("names in Host: addresses and localhost only") {
  for (const char* good : {"127.0.0.1", "192.0.2.1:80", "[::1]", "[2001:db8::1]:9153", "localhost", "LocalHost:1", "localhost:"}) {
    CHECK(parse_request_head(std::string("GET / HTTP/1.1\r\nHost: ") + good + "\r\n\r\n").has_value());
  }
  for (const char* bad : {"evil.example", "evil.example:9153", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1", "::1]",
                          "[::1]x", "127.0.0.1:99999999", "127.0.0.1:8x", "[]", "a@127.0.0.1", "127.0.0.1/x", "[127.0.0.1", ":80"}) {
    CHECK(fault_of(std::string("GET / HTTP/1.1\r\nHost: ") + bad + "\r\n\r\n") == HeadFault::Misdirected);
  }
  CHECK(fault_of("GET http://evil.example/metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == HeadFault::Misdirected);
  CHECK(parse_request_head("GET http://127.0.0.1:1/metrics?q HTTP/1.1\r\nHost: evil.example\r\n\r\n")->path == "/metrics");
  CHECK(parse_request_head("GET http://127.0.0.1?q HTTP/1.1\r\nHost: x\r\n\r\n")->path == "/");
}

TEST_CASE("faults") {
  const std::string host = "Host: 127.0.0.1\r\n";
  const std::vector<Row> rows = {
      {"POST /metrics HTTP/1.1\r\n" + host + "\r\n", HeadFault::MethodNotAllowed},
      {"get / HTTP/1.1\r\n" + host + "\r\n", HeadFault::MethodNotAllowed},
      {"OPTIONS /x HTTP/1.1\r\n" + host + "\r\n", HeadFault::MethodNotAllowed},
      {"GET / HTTP/2.0\r\n" + host + "\r\n", HeadFault::Version},
      {"GET / HTTP/1.2\r\n" + host + "\r\n", HeadFault::Version},
      {"GET / http/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1 \r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET  / HTTP/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET /a b HTTP/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET /\r\n" + host + "\r\n", HeadFault::Malformed},
      {" GET / HTTP/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"\r\nGET / HTTP/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET metrics HTTP/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET * HTTP/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET /\x01 HTTP/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET /\xff HTTP/1.1\r\n" + host + "\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + host + "\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + " folded: x\r\n\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + "X : y\r\n\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + "no colon\r\n\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + "X: a\rb\r\n\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + "X: a\nb: c\r\n\r\n", HeadFault::Malformed},
      {std::string("GET / HTTP/1.1\r\n") + host + std::string("X: a\0b\r\n\r\n", 10), HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n", HeadFault::Malformed},
      {"GET / HTTP/1.1\r\n" + host + "Content-Length: 0\r\nTransfer-Encoding: x\r\n\r\n", HeadFault::Malformed},
      {"GET /" + std::string(5000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", HeadFault::UriTooLong},
      {std::string(5000, 'G'), HeadFault::UriTooLong},
      {"GET / HTTP/1.1\r\n" + host + "X: " + std::string(9000, 'a') + "\r\n\r\n", HeadFault::TooLarge},
      {std::string("\x16\x03\x01\x00\x01\r\n", 7), HeadFault::Malformed},
  };
  for (const Row& row : rows) {
    CAPTURE(row.octets.substr(0, 60));
    CHECK(fault_of(row.octets) == row.fault);
  }
}

TEST_CASE("a request line without headers after it does not read past its end") {
  CHECK(fault_of("GET / HTTP/1.0\r\n") == HeadFault::Incomplete);
  CHECK(parse_request_head("GET / HTTP/1.0\r\n\r\n")->length == 18);
  CHECK(parse_request_head("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").has_value());
}
