// Replies to clients: built afresh, never the query turned round (RFC 1035 §4.1, RFC 6891, RFC 8914).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "dns/query.h"

namespace dohmux::dns {

/// Largest message this client may get: UDP min(max(512, advertised), 1232), without OPT 512; TCP 65,535.
enum class Carrier : std::uint8_t { Udp, Tcp };
[[nodiscard]] std::size_t reply_limit(const Query& query, Carrier carrier);

struct Ede {
  EdeCode code = EdeCode::Other;
  std::string_view text;  // UTF-8, cut to 64 octets at a character's border
};

/// An error reply: header (QR, opcode, RD, CD copied, RA=1), the question if readable, OPT if the client sent one.
[[nodiscard]] Bytes error_reply(const Query& query, Rcode rcode, std::optional<Ede> ede = std::nullopt);

/// The upstream's answer turned into this client's reply: own id, the question in the client's letter case,
/// RA=1, AD only if asked for (RFC 6840 §5.7-5.8), the upstream's OPT replaced by ours (EDE kept) or dropped,
/// cut to `limit` (512 or more): additional and authority records go first without TC (RFC 2181 §9), then the
/// EDEs, then TC=1 with question and OPT only. Authority records that prove something (SOA, NSEC, NSEC3) or
/// stand beside an empty answer section never go without TC. `answer` must have passed check_answer for this
/// question; one that has not becomes SERVFAIL. `own` is an EDE of ours in front of the upstream's.
[[nodiscard]] Bytes client_reply(const Query& query, ByteView answer, std::size_t limit, std::optional<Ede> own = std::nullopt);

/// Adds edns-tcp-keepalive to a reply with an OPT (RFC 7828 §3.3); for TCP, if the client's query had the option.
void add_keepalive(Bytes& reply, std::chrono::milliseconds idle_timeout);

}  // namespace dohmux::dns
