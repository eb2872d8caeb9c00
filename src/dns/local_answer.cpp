// Builds answers out of nothing and has reply.cpp turn them into replies, so that one place knows what clients get.
// Must not know why a name is answered here.
#include "dns/local_answer.h"

#include <algorithm>
#include <utility>

#include "dns/header.h"
#include "dns/name.h"
#include "dns/wire_writer.h"

namespace dohmux::dns {
namespace {

constexpr std::uint16_t kPointer = 0xC000;
// RFC 6303 §3: nobody.invalid, serial 1, refresh 3600, retry 1200, expire 604800.
constexpr std::uint32_t kSerial = 1;
constexpr std::uint32_t kRefresh = 3600;
constexpr std::uint32_t kRetry = 1200;
constexpr std::uint32_t kExpire = 604800;
constexpr std::string_view kMailbox = "nobody.invalid";

void write_record(WireWriter& writer, std::size_t owner_offset, const LocalRecord& record, std::uint32_t ttl) {
  writer.u16(static_cast<std::uint16_t>(kPointer | owner_offset));
  writer.u16(record.type);
  writer.u16(kClassIn);
  writer.u32(ttl);
  writer.u16(static_cast<std::uint16_t>(record.rdata.size()));
  writer.octets(record.rdata);
}

/// The zone is its own primary server (RFC 6303 §3). The name is written out: RDATA of ours holds no pointers.
LocalRecord soa(ByteView zone, std::uint32_t ttl) {
  WireWriter rdata;
  rdata.octets(zone);
  rdata.octets(name_from_text(kMailbox).value_or(Bytes{0}));
  rdata.u32(kSerial);
  rdata.u32(kRefresh);
  rdata.u32(kRetry);
  rdata.u32(kExpire);
  rdata.u32(ttl);
  return {.type = kTypeSoa, .rdata = std::move(rdata).take()};
}

}  // namespace

Bytes local_reply(const Query& query, const LocalAnswer& answer, std::size_t limit) {
  const ByteView name = query.name();
  Header header;
  header.flags = static_cast<std::uint16_t>(kFlagQr | static_cast<std::uint32_t>(answer.rcode));
  header.question_count = 1;
  WireWriter records;
  for (const LocalRecord& record : answer.records) {
    if (record.type == query.type || query.type == kTypeAny) {
      write_record(records, kHeaderSize, record, answer.ttl);
      ++header.answer_count;
    }
  }
  if (header.answer_count == 0) {
    const std::size_t zone_at = name.size() - std::min(answer.zone_size, name.size());
    write_record(records, kHeaderSize + zone_at, soa(name.subspan(zone_at), answer.ttl), answer.ttl);
    header.authority_count = 1;
  }
  WireWriter message;
  write_header(message, header);
  message.octets(query.question);
  message.octets(records.view());
  return client_reply(query, message.view(), limit, answer.ede);
}

LocalRecord address_record(const IpAddress& address) {
  const bool v4 = address.family == Family::V4;
  const auto octets = ByteView(address.octets).first(v4 ? 4 : 16);
  return {.type = v4 ? kTypeA : kTypeAaaa, .rdata = Bytes(octets.begin(), octets.end())};
}

Bytes reverse_name(const IpAddress& address) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  if (address.family == Family::V4) {
    for (std::size_t i = 4; i-- > 0;) {
      text += std::to_string(address.octets.at(i)) + '.';
    }
    text += "in-addr.arpa";
  } else {
    for (std::size_t i = 16; i-- > 0;) {
      const std::uint8_t octet = address.octets.at(i);
      text += {kHex[octet & 0x0FU], '.', kHex[octet >> 4U], '.'};
    }
    text += "ip6.arpa";
  }
  return name_from_text(text).value_or(Bytes{0});
}

}  // namespace dohmux::dns
