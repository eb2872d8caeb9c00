// A client's query, parsed and judged (RFC 1035 §4, RFC 6891, RFC 9619).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "dns/types.h"

namespace dohmux::dns {

/// What the client's OPT said (RFC 6891 §6.1).
struct Edns {
  std::uint16_t udp_size = 512;  // as advertised, raised to 512 if below (§6.2.3)
  bool dnssec_ok = false;        // DO, RFC 3225
  bool keepalive = false;        // edns-tcp-keepalive present (RFC 7828)
  Bytes client_subnet;           // ECS option data as sent, empty if none (RFC 7871)
};

/// A well-formed query with opcode QUERY and one question.
struct Query {
  std::uint16_t id = 0;
  std::uint8_t opcode = 0;
  bool recursion_desired = false;
  bool authentic_data = false;
  bool checking_disabled = false;
  Bytes question;  // octets of the question as sent: uncompressed name, type, class; case kept
  std::uint16_t type = 0;
  std::uint16_t qclass = 0;
  std::optional<Edns> edns;

  /// Wire form; empty if there is no question.
  [[nodiscard]] ByteView name() const { return ByteView(question).first(question.size() < 4 ? 0 : question.size() - 4); }
};

/// A message that gets no forwarding: either silence or an error reply of our own making.
struct QueryFault {
  bool silent = false;  // no header, or QR=1: never answered
  Rcode rcode = Rcode::FormErr;
  std::optional<std::uint16_t> ede;  // EDE code to add when the client sent an OPT
  Query query;                       // id, opcode, rd, cd; question only if it was readable; edns only if an OPT was
};

/// Judges every rule of docs/conformance.md §1.1-1.4 that needs no configuration.
[[nodiscard]] std::expected<Query, QueryFault> parse_query(ByteView message);

/// The message sent upstream: id 0, same question, RD and CD as asked, AD if AD or DO was set, one fresh OPT (DO copied,
/// udp size 1232), no other option but padding to a multiple of 128 octets (RFC 8467 §4.1) and, only if it is
/// to be passed, the client's own ECS option.
enum class Padding : std::uint8_t { None, Block128 };
enum class ClientSubnet : std::uint8_t { Strip, Pass };
[[nodiscard]] Bytes upstream_query(const Query& query, Padding padding, ClientSubnet subnet = ClientSubnet::Strip);

/// The question for people: "www.example.org." with \DDD escapes (RFC 4343 §2.1); for the query log.
[[nodiscard]] std::string name_text(ByteView wire_name);

}  // namespace dohmux::dns
