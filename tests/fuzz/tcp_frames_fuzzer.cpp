// A TCP stream in any split. Input: octets of splits (each: so many octets are pushed next; the list is used again when it
// ends), a 0, the stream. The messages must be those that a reading of the whole stream finds.
#include <algorithm>
#include <vector>

#include "dns/types.h"
#include "fuzz/require.h"
#include "server/tcp_framer.h"

using namespace dohmux;

namespace {

struct Expected {
  std::vector<Bytes> messages;
  bool broken = false;
  bool rest = false;  // a message has begun
};

Expected read_whole(ByteView stream) {
  Expected expected;
  while (stream.size() >= 2) {
    const std::size_t length = (std::size_t{stream[0]} << 8U) | stream[1];
    expected.broken = length < dns::kHeaderSize;
    if (expected.broken || stream.size() - 2 < length) {
      break;
    }
    const ByteView message = stream.subspan(2, length);
    expected.messages.emplace_back(message.begin(), message.end());
    stream = stream.subspan(2 + length);
  }
  expected.rest = !expected.broken && !stream.empty();
  return expected;
}

void take_all(server::TcpFramer& framer, std::vector<Bytes>& messages) {
  while (const auto message = framer.next()) {
    REQUIRE(message->size() >= dns::kHeaderSize && message->size() <= dns::kMaxMessage);
    messages.emplace_back(message->begin(), message->end());
  }
}

void check_split(ByteView splits, ByteView stream, const Expected& expected) {
  server::TcpFramer framer;
  std::vector<Bytes> messages;
  std::size_t turn = 0;
  while (!stream.empty()) {
    const std::size_t wanted = splits.empty() ? stream.size() : splits[turn++ % splits.size()];
    const ByteView part = stream.first(std::min(wanted, stream.size()));
    framer.push(part);
    stream = stream.subspan(part.size());
    if (turn % 3 != 2 || stream.empty()) {  // a paused reader leaves messages in the buffer
      take_all(framer, messages);
    }
  }
  REQUIRE(messages == expected.messages);
  REQUIRE(framer.broken() == expected.broken);
  REQUIRE(framer.broken() || framer.holds_octets() == expected.rest);
}

/// What append_frame writes, the framer reads.
void check_return(const std::vector<Bytes>& messages) {
  Bytes stream;
  for (const Bytes& message : messages) {
    server::append_frame(stream, message);
  }
  const Expected again = read_whole(stream);
  REQUIRE(again.messages == messages && !again.broken && !again.rest);
  check_split({}, stream, again);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  const auto end = std::find(input.begin(), input.end(), std::uint8_t{0});
  const auto splits = static_cast<std::size_t>(end - input.begin());
  const ByteView stream = splits == size ? ByteView() : input.subspan(splits + 1);
  const Expected expected = read_whole(stream);
  check_split(input.first(splits), stream, expected);
  check_split({}, stream, expected);
  check_return(expected.messages);
  return 0;
}
