// Times to live: how long an answer may be kept, and counting down in place (RFC 1035 §3.2.1, RFC 2181 §5.2
// and §8, RFC 2308 §5). All for messages that passed check_answer; a TTL of 2^31 or more counts as 0; the OPT,
// whose TTL field is no TTL, is never read or written. A message that cannot be walked is left as it is from
// the first broken record on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace dohmux::dns {

/// What kind of answer it is for a cache.
enum class AnswerKind : std::uint8_t {
  Positive,  // NOERROR with a record of the asked type (any record for ANY)
  NxDomain,  // RFC 2308 §2.1, also at the end of a CNAME chain
  NoData,    // NOERROR without such a record, RFC 2308 §2.2
  Failure,   // any other RCODE, extended ones included
};
[[nodiscard]] AnswerKind answer_kind(ByteView message) noexcept;

/// The lowest TTL of all records of all sections; nothing if there is none.
[[nodiscard]] std::optional<std::chrono::seconds> lowest_ttl(ByteView message) noexcept;

/// min(TTL, MINIMUM) of the SOA in the authority section; nothing without one.
[[nodiscard]] std::optional<std::chrono::seconds> negative_ttl(ByteView message) noexcept;

/// How long the answer may be kept. Positive: lowest_ttl. NxDomain, NoData: the lower of negative_ttl and
/// lowest_ttl, nothing without a SOA. Failure and TC=1: nothing. A value of 0 means: hand it out, keep it not.
[[nodiscard]] std::optional<std::chrono::seconds> cache_ttl(ByteView message) noexcept;

/// Each TTL becomes max(0, TTL - age); also what HTTP's Age demands (RFC 8484 §5.1).
void age_ttls(std::span<std::uint8_t> message, std::chrono::seconds age) noexcept;

/// Each TTL is raised to `low` and cut to `high`; low = high sets them all (stale answers, RFC 8767 §4).
void clamp_ttls(std::span<std::uint8_t> message, std::chrono::seconds low, std::chrono::seconds high) noexcept;

/// A negative answer's SOA gets min(TTL, MINIMUM), so that nobody behind us keeps the answer for longer than
/// we do (RFC 2308 §5); TTLs of 2^31 or more become 0. Once, before an answer is stored or handed out.
void normalise_ttls(std::span<std::uint8_t> message) noexcept;

}  // namespace dohmux::dns
