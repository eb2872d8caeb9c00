// Framing in every split; what breaks it; how much memory it keeps.
#include "server/tcp_framer.h"

#include <catch2/catch_test_macros.hpp>
#include <string_view>
#include <vector>

#include "unit_server/support.h"

using dohmux::Bytes;
using dohmux::ByteView;
using dohmux::server::append_frame;
using dohmux::server::TcpFramer;
using dohmux::test::append_framed;
using dohmux::test::framed;
using dohmux::test::message;

namespace {

std::vector<Bytes> take_all(TcpFramer& framer) {
  std::vector<Bytes> messages;
  while (const auto one = framer.next()) {
    messages.emplace_back(one->begin(), one->end());
  }
  return messages;
}

}  // namespace

TEST_CASE("framer: two messages, split into three parts at every pair of places") {
  Bytes stream = framed(1, 12);
  append_framed(stream, message(2, 17));
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    for (std::size_t second = first; second <= stream.size(); ++second) {
      TcpFramer framer;
      std::vector<Bytes> messages;
      const ByteView all(stream);
      for (const ByteView part : {all.subspan(0, first), all.subspan(first, second - first), all.subspan(second)}) {
        framer.push(part);
        for (Bytes& one : take_all(framer)) {
          messages.push_back(std::move(one));
        }
      }
      REQUIRE(messages.size() == 2);
      REQUIRE(messages[0] == message(1, 12));
      REQUIRE(messages[1] == message(2, 17));
      REQUIRE_FALSE(framer.broken());
      REQUIRE_FALSE(framer.holds_octets());
    }
  }
}

TEST_CASE("framer: octet by octet") {
  TcpFramer framer;
  int messages = 0;
  for (std::uint16_t id = 0; id < 20; ++id) {
    for (const std::uint8_t octet : framed(id)) {
      framer.push(ByteView(&octet, 1));
      while (const auto one = framer.next()) {
        CHECK(Bytes(one->begin(), one->end()) == message(id));
        ++messages;
      }
    }
  }
  CHECK(messages == 20);
}

TEST_CASE("framer: a hundred messages in one piece; taking may stop and go on") {
  Bytes stream;
  for (std::uint16_t id = 0; id < 100; ++id) {
    append_framed(stream, message(id));
  }
  TcpFramer framer;
  framer.push(stream);
  for (std::uint16_t id = 0; id < 50; ++id) {
    REQUIRE(framer.next().has_value());
  }
  framer.push(framed(100));
  CHECK(take_all(framer).size() == 51);
}

TEST_CASE("framer: the shortest and the longest message") {
  TcpFramer framer;
  framer.push(framed(1, 12));
  framer.push(framed(2, 65535));
  const auto messages = take_all(framer);
  REQUIRE(messages.size() == 2);
  CHECK(messages[1] == message(2, 65535));
  CHECK(framer.capacity() <= 4096);  // a finished big message leaves no big buffer behind
}

TEST_CASE("framer: the buffer grows with what comes, not with what is announced") {
  TcpFramer framer;
  framer.push(Bytes{0xFF, 0xFF, 1, 2, 3});
  CHECK_FALSE(framer.next().has_value());
  CHECK(framer.holds_octets());
  CHECK(framer.capacity() < 1024);
}

TEST_CASE("framer: lengths below a header break the stream, for good, as soon as they are seen") {
  for (std::uint8_t length = 0; length < 12; ++length) {
    TcpFramer framer;
    framer.push(framed(1));
    framer.push(Bytes{0, length});
    CHECK(framer.next().has_value());
    CHECK_FALSE(framer.next().has_value());
    CHECK(framer.broken());
    framer.push(framed(2));
    CHECK_FALSE(framer.next().has_value());
  }
}

TEST_CASE("framer: HTTP and TLS greetings are long messages that never come, or junk") {
  for (const std::string_view text : {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02", "\n\n\n\n"}) {
    TcpFramer framer;
    framer.push(Bytes(text.begin(), text.end()));
    CHECK_FALSE(framer.next().has_value());
  }
}

TEST_CASE("framer: append_frame is the reverse") {
  Bytes out;
  append_frame(out, message(1));
  append_frame(out, message(2, 65535));
  Bytes expected = framed(1);
  append_framed(expected, message(2, 65535));
  CHECK(out == expected);
}
