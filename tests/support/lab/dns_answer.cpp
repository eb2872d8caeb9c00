// Makes DNS answers: the plain ones, whose data follows from the name alone, and those that are wrong on purpose.
// Must not share code with the daemon, nor know HTTP or faults.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "support/lab/dns.h"

namespace lab {

namespace {

constexpr std::uint16_t kA = 1;
constexpr std::uint16_t kNs = 2;
constexpr std::uint16_t kCname = 5;
constexpr std::uint16_t kSoa = 6;
constexpr std::uint16_t kPtr = 12;
constexpr std::uint16_t kMx = 15;
constexpr std::uint16_t kTxt = 16;
constexpr std::uint16_t kAaaa = 28;
constexpr std::uint16_t kOpt = 41;
constexpr std::uint16_t kSvcb = 64;
constexpr std::uint16_t kHttps = 65;
constexpr std::uint16_t kCaa = 257;
constexpr std::uint16_t kPrivate = 65280;
constexpr std::size_t kHeader = 12;
constexpr std::size_t kRecordHead = 12;  // pointer, type, class, TTL, length

const std::map<std::uint16_t, std::string_view>& type_names() {
  static const std::map<std::uint16_t, std::string_view> kNames = {
      {kA, "A"},   {kNs, "NS"}, {kCname, "CNAME"}, {kSoa, "SOA"},   {kPtr, "PTR"},     {kMx, "MX"},  {kTxt, "TXT"}, {kAaaa, "AAAA"},
      {33, "SRV"}, {43, "DS"},  {48, "DNSKEY"},    {kSvcb, "SVCB"}, {kHttps, "HTTPS"}, {255, "ANY"}, {kCaa, "CAA"}};
  return kNames;
}

std::string u16(std::size_t value) {
  return {static_cast<char>((value >> 8U) & 0xffU), static_cast<char>(value & 0xffU)};
}
std::string u32(std::uint32_t value) {
  return u16(value >> 16U) + u16(value & 0xffffU);
}

std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash;
}

std::string wire_name(std::string_view dotted) {
  std::string wire;
  while (!dotted.empty()) {
    const std::string_view label = dotted.substr(0, dotted.find('.'));
    wire += static_cast<char>(label.size());
    wire += label;
    dotted.remove_prefix(std::min(dotted.size(), label.size() + 1));
  }
  return wire + '\0';
}

std::string record(std::uint16_t type, std::uint32_t ttl, std::string_view data) {
  std::string out = "\xc0\x0c";
  out += u16(type) + u16(1) + u32(ttl) + u16(data.size());
  out += data;
  return out;
}

std::string text_data(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}

// RDATA that follows from the name, or nothing if the lab has none of that type.
std::optional<std::string> data_for(std::uint16_t type, std::string_view name) {
  const std::uint32_t hash = hash_of(name);
  switch (type) {
    case kA:
      return std::string("\xc0\x00\x02", 3) + static_cast<char>(1 + hash % 254);
    case kAaaa:
      return std::string("\x20\x01\x0d\xb8", 4) + std::string(8, '\0') + u32(hash);
    case kTxt:
      return text_data(fmt::format("lab {:08x}", hash));
    case kNs:
    case kCname:
    case kPtr:
      return wire_name("target.lab.example");
    case kMx:
      return u16(10) + wire_name("mail.lab.example");
    case kSvcb:
    case kHttps:
      return u16(1) + std::string(1, '\0') + u16(1) + u16(3) + "\x02h2";
    case kCaa:
      return std::string("\x00\x05issue", 7) + "lab.example";
    default:
      break;
  }
  if (type >= kPrivate) {
    return std::string("\xc0\x0c\xc0\xff", 4) + u32(hash);  // looks like pointers and must come through untouched
  }
  return std::nullopt;
}

std::string soa_record(std::uint32_t ttl) {
  std::string data = wire_name("ns.lab.example") + wire_name("hostmaster.lab.example");
  data += u32(2024) + u32(3600) + u32(600) + u32(86400) + u32(ttl);
  return wire_name("lab.example") + u16(kSoa) + u16(1) + u32(ttl) + u16(data.size()) + data;
}

struct Sections {
  std::string octets;
  std::size_t answers = 0;
  std::size_t authorities = 0;
};

// Exactly `room` octets of records, if there is room for one at all.
Sections filled(std::uint16_t type, std::string_view data, std::size_t room) {
  Sections sections;
  if (room < kRecordHead) {
    return sections;
  }
  const std::string unit = record(type, 300, data);
  while (room - sections.octets.size() >= unit.size() + kRecordHead) {
    sections.octets += unit;
    ++sections.answers;
  }
  sections.octets += record(kPrivate, 300, std::string(room - sections.octets.size() - kRecordHead, 'x'));
  ++sections.answers;
  return sections;
}

Sections natural(const DnsQuery& query, const NameWishes& wishes, std::uint8_t rcode) {
  Sections sections;
  if (rcode != 0 && rcode != 3) {
    return sections;
  }
  const auto data = data_for(query.type, query.name);
  if (rcode == 0 && data && !wishes.nodata) {
    sections.octets = record(query.type, wishes.ttl, *data);
    sections.answers = 1;
  } else {
    sections.octets = soa_record(wishes.ttl);
    sections.authorities = 1;
  }
  return sections;
}

std::string opt_record(const DnsQuery& query, std::string_view ede) {
  if (!query.has_opt) {
    return {};
  }
  constexpr std::size_t kEdeOption = 15;
  const std::string options = ede.empty() ? std::string() : u16(kEdeOption) + u16(ede.size()) + std::string(ede);
  return std::string(1, '\0') + u16(kOpt) + u16(1232) + u32(query.dnssec_ok ? 0x8000U : 0U) + u16(options.size()) + options;
}

}  // namespace

std::string build_answer(const DnsQuery& query, const AnswerShape& shape) {
  const NameWishes wishes = wishes_of(query.name);
  const std::uint8_t rcode = shape.rcode.value_or(wishes.nxdomain ? 3 : 0);
  const std::string question = shape.other_question ? wire_name("other.lab.example") + u16(query.type) + u16(query.klass) : query.question;
  const std::string opt = opt_record(query, shape.ede);
  const std::size_t size = shape.size != 0 ? shape.size : wishes.size;
  const std::size_t fixed = kHeader + question.size() + opt.size();
  Sections sections = natural(query, wishes, rcode);
  if (size > fixed + kRecordHead) {
    sections = filled(query.type, data_for(query.type, query.name).value_or("x"), size - fixed);
  }
  constexpr unsigned kResponse = 0x8080;  // QR, RA
  unsigned flags = kResponse | (query.flags & 0x0110U) | rcode;
  flags = (flags | shape.flags_set) & ~static_cast<unsigned>(shape.flags_cleared);
  const auto id = static_cast<std::uint16_t>(query.id ^ shape.id_xor);
  std::string message = u16(id) + u16(flags) + u16(1) + u16(sections.answers) + u16(sections.authorities) + u16(opt.empty() ? 0 : 1);
  return message + question + sections.octets + opt;
}

std::string type_name(std::uint16_t type) {
  const auto found = type_names().find(type);
  return found != type_names().end() ? std::string(found->second) : fmt::format("TYPE{}", type);
}

}  // namespace lab
