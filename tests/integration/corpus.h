// The odd packets of tests/corpus, and whether what came of one is among what its case accepts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/dns_client.h"

namespace dohmux::test {

enum class ReplyOpt : std::uint8_t { None, Plain, DnssecOk, Any };

struct OddPacket {
  std::string id;
  std::string odd;
  std::string octets;
  bool stream = false;  // octets of a TCP connection, not a message
  bool finish = false;  // the client ends its side behind them
  std::vector<std::string> udp;
  std::vector<std::string> tcp;
  std::size_t question = 0;
  ReplyOpt opt = ReplyOpt::Any;
  std::size_t limit = 512;
  std::string has;
  bool keepalive = false;

  [[nodiscard]] const std::vector<std::string>& accepted(Protocol protocol) const { return protocol == Protocol::Udp ? udp : tcp; }
  [[nodiscard]] bool accepts(Protocol protocol, std::string_view outcome) const;
};

/// Nothing, and a line in `error`, if the file is not as it should be.
[[nodiscard]] std::optional<std::vector<OddPacket>> read_corpus(const std::string& file, std::string& error);

/// What came back for one packet.
struct Observed {
  bool closed = false;
  std::vector<std::string> messages;
};

/// What is wrong with it; empty: nothing.
[[nodiscard]] std::string judge(const OddPacket& packet, Protocol protocol, const Observed& observed);

}  // namespace dohmux::test
