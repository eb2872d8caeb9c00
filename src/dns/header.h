// The twelve octets in front of every message (RFC 1035 §4.1.1, RFC 4035 §3).
#pragma once

#include <cstdint>

#include "dns/types.h"
#include "dns/wire_reader.h"
#include "dns/wire_writer.h"

namespace dohmux::dns {

inline constexpr std::uint16_t kFlagQr = 0x8000;
inline constexpr std::uint16_t kFlagAa = 0x0400;
inline constexpr std::uint16_t kFlagTc = 0x0200;
inline constexpr std::uint16_t kFlagRd = 0x0100;
inline constexpr std::uint16_t kFlagRa = 0x0080;
inline constexpr std::uint16_t kFlagAd = 0x0020;
inline constexpr std::uint16_t kFlagCd = 0x0010;

struct Header {
  std::uint16_t id = 0;
  std::uint16_t flags = 0;  // the second 16-bit word: QR, opcode, AA, TC, RD, RA, Z, AD, CD, RCODE
  std::uint16_t question_count = 0;
  std::uint16_t answer_count = 0;
  std::uint16_t authority_count = 0;
  std::uint16_t additional_count = 0;

  [[nodiscard]] bool has(std::uint16_t flag) const noexcept { return (flags & flag) != 0; }
  [[nodiscard]] std::uint8_t opcode() const noexcept { return static_cast<std::uint8_t>((flags >> 11U) & 0x0FU); }
  [[nodiscard]] std::uint8_t low_rcode() const noexcept { return static_cast<std::uint8_t>(flags & 0x0FU); }
};

[[nodiscard]] inline Header read_header(WireReader& reader) noexcept {
  Header header;
  header.id = reader.u16();
  header.flags = reader.u16();
  header.question_count = reader.u16();
  header.answer_count = reader.u16();
  header.authority_count = reader.u16();
  header.additional_count = reader.u16();
  return header;
}

inline void write_header(WireWriter& writer, const Header& header) {
  writer.u16(header.id);
  writer.u16(header.flags);
  writer.u16(header.question_count);
  writer.u16(header.answer_count);
  writer.u16(header.authority_count);
  writer.u16(header.additional_count);
}

}  // namespace dohmux::dns
