// A QuerySink that remembers and answers as told, and queries that need no DNS library.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "resolver/client.h"
#include "server/bind.h"
#include "unit_event/pump.h"

namespace dohmux::test {

/// A message of `size` octets whose first two are `id` and whose others can be told from another id's.
inline Bytes message(std::uint16_t id, std::size_t size = 30) {
  Bytes octets(size, static_cast<std::uint8_t>(id * 7));
  octets[0] = static_cast<std::uint8_t>(id >> 8);
  octets[1] = static_cast<std::uint8_t>(id & 0xFF);
  return octets;
}

inline std::uint16_t id_of(ByteView octets) {
  return static_cast<std::uint16_t>((octets[0] << 8) | octets[1]);
}

inline void append_framed(Bytes& out, ByteView octets) {
  out.push_back(static_cast<std::uint8_t>(octets.size() >> 8));
  out.push_back(static_cast<std::uint8_t>(octets.size() & 0xFF));
  out.insert(out.end(), octets.begin(), octets.end());
}

inline Bytes framed(std::uint16_t id, std::size_t size = 30) {
  Bytes out;
  append_framed(out, message(id, size));
  return out;
}

/// The whole messages at the beginning of a stream.
inline std::vector<Bytes> unframe(const Bytes& stream) {
  std::vector<Bytes> messages;
  std::size_t at = 0;
  while (at + 2 <= stream.size()) {
    const std::size_t length = static_cast<std::size_t>((stream[at] << 8) | stream[at + 1]);
    if (at + 2 + length > stream.size()) {
      break;
    }
    messages.emplace_back(stream.begin() + static_cast<std::ptrdiff_t>(at + 2),
                          stream.begin() + static_cast<std::ptrdiff_t>(at + 2 + length));
    at += 2 + length;
  }
  return messages;
}

inline std::vector<std::uint16_t> ids_of(const std::vector<Bytes>& messages) {
  std::vector<std::uint16_t> ids;
  for (const Bytes& one : messages) {
    ids.push_back(id_of(one));
  }
  return ids;
}

struct Asked {
  Client client;
  Bytes octets;
};

class TestSink final : public QuerySink {
 public:
  void submit(const Client& client, ByteView octets) override {
    asked.push_back({.client = client, .octets = Bytes(octets.begin(), octets.end())});
    if (on_query) {
      on_query(client, octets);
    }
  }
  /// Answers query `index` with its own octets.
  void echo(std::size_t index) const { asked.at(index).client.via->reply(asked.at(index).client, asked.at(index).octets); }
  void echo_at_once() {
    on_query = [](const Client& client, ByteView octets) { client.via->reply(client, octets); };
  }

  std::vector<Asked> asked;
  std::function<void(const Client&, ByteView)> on_query;
};

inline Endpoint any_port(const char* address) {
  return Endpoint{.address = *IpAddress::parse(address), .port = 0};
}

}  // namespace dohmux::test
