// EDNS(0): reading and building OPT records and options. Must not decide which options go where: that is
// for query.cpp (upstream) and reply.cpp (clients).
#include "dns/edns.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dohmux::dns {
namespace {

constexpr std::size_t kMaxEdeText = 64;  // docs/conformance.md E16

struct Utf8Lead {
  std::size_t following = 0;
  std::uint32_t least = 0;  // the smallest value that needs this many octets
  std::uint32_t bits = 0;
};

std::optional<Utf8Lead> utf8_lead(std::uint8_t octet) noexcept {
  if (octet < 0x80) {
    return Utf8Lead{.following = 0, .least = 0, .bits = octet};
  }
  if ((octet & 0xE0U) == 0xC0) {
    return Utf8Lead{.following = 1, .least = 0x80, .bits = octet & 0x1FU};
  }
  if ((octet & 0xF0U) == 0xE0) {
    return Utf8Lead{.following = 2, .least = 0x800, .bits = octet & 0x0FU};
  }
  if ((octet & 0xF8U) == 0xF0) {
    return Utf8Lead{.following = 3, .least = 0x10000, .bits = octet & 0x07U};
  }
  return std::nullopt;
}

bool is_continuation(char c) noexcept {
  return (static_cast<std::uint8_t>(c) & 0xC0U) == 0x80;
}

std::string_view cut_at_character(std::string_view text) noexcept {
  std::size_t end = std::min(text.size(), kMaxEdeText);
  while (end > 0 && end < text.size() && is_continuation(text[end])) {
    --end;
  }
  return text.substr(0, end);
}

}  // namespace

OptFields opt_fields(const Record& opt) noexcept {
  return {.udp_size = opt.rclass,
          .extended_rcode = static_cast<std::uint8_t>(opt.ttl >> 24U),
          .version = static_cast<std::uint8_t>((opt.ttl >> 16U) & 0xFFU),
          .flags = static_cast<std::uint16_t>(opt.ttl & 0xFFFFU)};
}

std::optional<Option> OptionWalk::next() noexcept {
  if (reader_.remaining() == 0) {
    return std::nullopt;
  }
  Option option;
  option.code = reader_.u16();
  option.data = reader_.take(reader_.u16());
  return reader_.ok() ? std::optional(option) : std::nullopt;
}

Bytes option_octets(const Option& option) {
  WireWriter writer;
  writer.u16(option.code);
  writer.u16(static_cast<std::uint16_t>(option.data.size()));
  writer.octets(option.data);
  return std::move(writer).take();
}

void write_opt(WireWriter& writer, std::uint8_t extended_rcode, std::uint16_t flags, ByteView options) {
  writer.u8(0);
  writer.u16(kTypeOpt);
  writer.u16(kMaxUdpPayload);
  writer.u8(extended_rcode);
  writer.u8(0);
  writer.u16(flags);
  writer.u16(static_cast<std::uint16_t>(options.size()));
  writer.octets(options);
}

Bytes ede_option(std::uint16_t code, std::string_view text) {
  WireWriter data;
  data.u16(code);
  if (is_utf8(text)) {
    for (const char c : cut_at_character(text)) {
      data.u8(static_cast<std::uint8_t>(c));
    }
  }
  return option_octets({.code = kOptionEde, .data = data.view()});
}

void append_option(Bytes& reply, const Option& option, std::size_t limit) {
  std::optional<Record> last;
  RecordWalk walk(reply);
  while (const auto record = walk.next()) {
    last = record;
  }
  const std::size_t size = option.data.size() + 4;
  if (!last || last->type != kTypeOpt || last->end() != reply.size() || reply.size() + size > std::min(limit, kMaxMessage)) {
    return;
  }
  const std::size_t rdlength = last->rdata.size() + size;
  const std::size_t rdlength_offset = last->rdata_offset() - 2;
  reply[rdlength_offset] = static_cast<std::uint8_t>(rdlength >> 8U);
  reply[rdlength_offset + 1] = static_cast<std::uint8_t>(rdlength & 0xFFU);
  const Bytes octets = option_octets(option);
  reply.insert(reply.end(), octets.begin(), octets.end());
}

bool valid_client_subnet(ByteView data) noexcept {
  WireReader reader(data);
  const std::uint16_t family = reader.u16();
  const std::uint8_t prefix = reader.u8();
  const std::uint8_t scope = reader.u8();
  constexpr std::array<unsigned, 3> kLongestPrefix{0, 32, 128};  // family 0 is "none given"
  if (!reader.ok() || scope != 0 || family >= kLongestPrefix.size() || prefix > kLongestPrefix[family]) {
    return false;
  }
  const ByteView address = reader.take(reader.remaining());
  if (address.size() != (static_cast<std::size_t>(prefix) + 7) / 8) {
    return false;
  }
  const unsigned spare_bits = (8U - (prefix % 8U)) % 8U;
  return address.empty() || (address.back() & ((1U << spare_bits) - 1U)) == 0;
}

ByteView answered_client_subnet(ByteView answer, ByteView asked) noexcept {
  constexpr std::size_t kScope = 3;
  RecordWalk walk(answer);
  while (const auto record = walk.next()) {
    if (record->type != kTypeOpt) {
      continue;
    }
    OptionWalk options(record->rdata);
    while (const auto option = options.next()) {
      const ByteView data = option->data;
      if (option->code == kOptionClientSubnet && data.size() == asked.size() && data.size() > kScope &&
          std::ranges::equal(data.first(kScope), asked.first(kScope)) &&
          std::ranges::equal(data.subspan(kScope + 1), asked.subspan(kScope + 1))) {
        return data;
      }
    }
  }
  return {};
}

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = utf8_lead(static_cast<std::uint8_t>(text[i]));
    if (!lead || lead->following >= text.size() - i) {
      return false;
    }
    std::uint32_t value = lead->bits;
    for (std::size_t k = 1; k <= lead->following; ++k) {
      if (!is_continuation(text[i + k])) {
        return false;
      }
      value = (value << 6U) | (static_cast<std::uint8_t>(text[i + k]) & 0x3FU);
    }
    if (value < lead->least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
      return false;
    }
    i += lead->following + 1;
  }
  return true;
}

}  // namespace dohmux::dns
