// The border between listeners and the resolver. A Client is a value: if its peer is gone,
// the listener finds no such connection and drops the reply.
#pragma once

#include <dohmux/address.h>

#include <cstdint>

#include "base/bytes.h"

namespace dohmux {

struct Client;

class ReplySink {
 public:
  ReplySink() = default;
  ReplySink(const ReplySink&) = delete;
  ReplySink& operator=(const ReplySink&) = delete;
  virtual ~ReplySink() = default;
  /// Sends one DNS message to that client; copies what it needs before it returns.
  virtual void reply(const Client& client, ByteView message) = 0;
  /// The query ends without a reply (QR=1, junk); per-connection accounting goes on.
  virtual void no_reply(const Client& client) = 0;
};

enum class Protocol : std::uint8_t { Udp, Tcp };

struct Client {
  ReplySink* via = nullptr;      // outlives every query that it handed in
  std::uint64_t connection = 0;  // TCP: id of the connection; UDP: 0
  Protocol protocol = Protocol::Udp;
  Endpoint peer;
  IpAddress local;              // UDP: the address the query was sent to, replies leave from it
  std::uint32_t interface = 0;  // UDP: index of the interface it came in by; 0 = unknown
};

class QuerySink {
 public:
  QuerySink() = default;
  QuerySink(const QuerySink&) = delete;
  QuerySink& operator=(const QuerySink&) = delete;
  virtual ~QuerySink() = default;
  /// One datagram or one TCP message; `message` is valid during the call only. Answers never come inline
  /// from upstream, but local ones (errors) may: the listener must expect reply() during submit().
  virtual void submit(const Client& client, ByteView message) = 0;
};

}  // namespace dohmux
