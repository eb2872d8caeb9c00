// TTLs of a message. Time comes in as an argument; must not know who keeps the message or for whom.
#include "dns/ttl.h"

#include <algorithm>

#include "dns/records.h"
#include "dns/wire_reader.h"

namespace dohmux::dns {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kTtlSign = 0x80000000U;
constexpr std::size_t kSoaNumbers = 20;  // serial, refresh, retry, expire, minimum behind the two names

/// RFC 2181 §8: with the highest bit set, a TTL is zero.
std::uint32_t meaning(std::uint32_t ttl) noexcept {
  return (ttl & kTtlSign) != 0 ? 0 : ttl;
}

std::uint32_t soa_minimum(const Record& soa) noexcept {
  if (soa.rdata.size() < kSoaNumbers) {
    return 0;
  }
  WireReader reader(soa.rdata);
  reader.seek(soa.rdata.size() - 4);
  return meaning(reader.u32());
}

std::uint32_t negative_life(const Record& soa) noexcept {
  return std::min(meaning(soa.ttl), soa_minimum(soa));
}

bool is_negative_soa(const Record& record) noexcept {
  return record.type == kTypeSoa && record.section == Section::Authority;
}

void put_ttl(std::span<std::uint8_t> message, const Record& record, std::uint32_t ttl) noexcept {
  for (std::size_t i = 0; i < 4; ++i) {
    message[record.ttl_offset() + i] = static_cast<std::uint8_t>((ttl >> (24U - (8U * i))) & 0xFFU);
  }
}

/// Replaces each TTL by change(record).
template <typename Change>
void rewrite(std::span<std::uint8_t> message, Change change) noexcept {
  RecordWalk walk(message);
  while (const auto record = walk.next()) {
    if (record->type == kTypeOpt) {
      continue;
    }
    if (const std::uint32_t ttl = change(*record); ttl != record->ttl) {
      put_ttl(message, *record, ttl);
    }
  }
}

std::uint32_t bounded(seconds value) noexcept {
  return static_cast<std::uint32_t>(std::clamp<seconds::rep>(value.count(), 0, kTtlSign - 1));
}

std::uint16_t question_type(ByteView message) noexcept {
  WireReader reader(message.first(RecordWalk(message).offset()));
  if (reader.remaining() < kHeaderSize + 4) {
    return 0;
  }
  reader.seek(reader.remaining() - 4);
  return reader.u16();
}

}  // namespace

AnswerKind answer_kind(ByteView message) noexcept {
  switch (static_cast<Rcode>(full_rcode(message))) {
    case Rcode::NoError:
      break;
    case Rcode::NxDomain:
      return AnswerKind::NxDomain;
    default:
      return AnswerKind::Failure;
  }
  const std::uint16_t asked = question_type(message);
  RecordWalk walk(message);
  while (const auto record = walk.next()) {
    if (record->section != Section::Answer) {
      break;
    }
    if (record->type == asked || asked == kTypeAny) {
      return AnswerKind::Positive;
    }
  }
  return AnswerKind::NoData;
}

std::optional<seconds> lowest_ttl(ByteView message) noexcept {
  std::optional<std::uint32_t> lowest;
  RecordWalk walk(message);
  while (const auto record = walk.next()) {
    if (record->type != kTypeOpt) {
      lowest = std::min(meaning(record->ttl), lowest.value_or(kTtlSign));
    }
  }
  return lowest ? std::optional(seconds(*lowest)) : std::nullopt;
}

std::optional<seconds> negative_ttl(ByteView message) noexcept {
  RecordWalk walk(message);
  while (const auto record = walk.next()) {
    if (is_negative_soa(*record)) {
      return seconds(negative_life(*record));
    }
  }
  return std::nullopt;
}

std::optional<seconds> cache_ttl(ByteView message) noexcept {
  if (is_truncated(message)) {
    return std::nullopt;
  }
  switch (answer_kind(message)) {
    case AnswerKind::Positive:
      return lowest_ttl(message);
    case AnswerKind::NxDomain:
    case AnswerKind::NoData: {
      const auto negative = negative_ttl(message);
      return negative ? std::optional(std::min(*negative, lowest_ttl(message).value_or(*negative))) : std::nullopt;
    }
    case AnswerKind::Failure:
      break;
  }
  return std::nullopt;
}

void age_ttls(std::span<std::uint8_t> message, seconds age) noexcept {
  const std::uint32_t past = bounded(age);
  rewrite(message, [past](const Record& record) {
    const std::uint32_t ttl = meaning(record.ttl);
    return ttl > past ? ttl - past : 0;
  });
}

void clamp_ttls(std::span<std::uint8_t> message, seconds low, seconds high) noexcept {
  const std::uint32_t floor = bounded(low);
  const std::uint32_t ceiling = std::max(floor, bounded(high));
  rewrite(message, [floor, ceiling](const Record& record) { return std::clamp(meaning(record.ttl), floor, ceiling); });
}

void normalise_ttls(std::span<std::uint8_t> message) noexcept {
  const AnswerKind kind = answer_kind(message);
  const bool negative = kind == AnswerKind::NxDomain || kind == AnswerKind::NoData;
  rewrite(message,
          [negative](const Record& record) { return negative && is_negative_soa(record) ? negative_life(record) : meaning(record.ttl); });
}

}  // namespace dohmux::dns
