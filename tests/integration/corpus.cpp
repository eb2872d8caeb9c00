// Reads tests/corpus/odd_packets.txt and judges replies by its words. Has its own eyes for DNS messages: must not share code
// with the daemon.
#include "corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

namespace dohmux::test {
namespace {

// ---- the file ------------------------------------------------------------------------------------------------------

std::optional<std::string> from_hex(std::string_view text) {
  std::string octets;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    unsigned octet = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, octet, 16);
    if (error != std::errc{} || end != text.data() + at + 2) {
      return std::nullopt;
    }
    octets.push_back(static_cast<char>(octet));
  }
  return text.size() % 2 == 0 ? std::optional(octets) : std::nullopt;
}

/// "aabb 00*12 ."
std::optional<std::string> unpacked(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string octets;
  for (std::string word; words >> word;) {
    const std::size_t star = word.find('*');
    const auto unit = from_hex(word == "." ? std::string_view() : std::string_view(word).substr(0, star));
    if (!unit) {
      return std::nullopt;
    }
    const std::size_t times = star == std::string::npos ? 1 : std::stoul(word.substr(star + 1));
    for (std::size_t i = 0; i < times; ++i) {
      octets += *unit;
    }
  }
  return octets;
}

std::vector<std::string> alternatives(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t bar = std::min(text.find(" | "), text.size());
    all.emplace_back(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 3, text.size()));
  }
  return all;
}

std::optional<ReplyOpt> opt_from(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, ReplyOpt>, 4> kWords{
      {{"none", ReplyOpt::None}, {"plain", ReplyOpt::Plain}, {"do", ReplyOpt::DnssecOk}, {"any", ReplyOpt::Any}}};
  const auto* const found = std::ranges::find(kWords, word, &std::pair<std::string_view, ReplyOpt>::first);
  return found == kWords.end() ? std::nullopt : std::optional(found->second);
}

bool set_octets(std::string& field, std::string_view text) {
  const auto octets = unpacked(text);
  field = octets.value_or("");
  return octets.has_value();
}

bool set(OddPacket& packet, std::string_view key, std::string_view value) {
  if (key == "send" || key == "stream") {
    packet.stream = key == "stream";
    return set_octets(packet.octets, value);
  }
  if (key == "has") {
    return set_octets(packet.has, value);
  }
  if (key == "opt") {
    const auto opt = opt_from(value);
    packet.opt = opt.value_or(ReplyOpt::Any);
    return opt.has_value();
  }
  if (key == "odd") {
    packet.odd = value;
  } else if (key == "udp") {
    packet.udp = alternatives(value);
  } else if (key == "tcp") {
    packet.tcp = alternatives(value);
  } else if (key == "question") {
    packet.question = std::stoul(std::string(value));
  } else if (key == "limit") {
    packet.limit = std::stoul(std::string(value));
  } else if (key == "finish") {
    packet.finish = true;
  } else if (key == "keepalive") {
    packet.keepalive = true;
  } else {
    return false;
  }
  return true;
}

// ---- a reply -------------------------------------------------------------------------------------------------------

constexpr std::size_t kHeader = 12;
constexpr unsigned kOptType = 41;
constexpr unsigned kEde = 15;
constexpr unsigned kKeepalive = 11;
constexpr std::size_t kOptSize = 11;
constexpr unsigned kOwnUdpSize = 1232;

unsigned u8_at(std::string_view octets, std::size_t at) {
  return at < octets.size() ? static_cast<unsigned char>(octets[at]) : 0;
}
unsigned u16_at(std::string_view octets, std::size_t at) {
  return (u8_at(octets, at) << 8U) | u8_at(octets, at + 1);
}

struct Opt {
  unsigned udp_size = 0;
  unsigned extended_rcode = 0;
  unsigned version = 0;
  unsigned flags = 0;
  std::vector<unsigned> options;
};

struct Message {
  std::string question;
  std::array<unsigned, 4> counts{};
  std::vector<Opt> opts;
  unsigned rcode = 0;
};

/// Behind the name at `at`; names of replies are checked as far as this.
std::size_t after_name(std::string_view octets, std::size_t at) {
  while (at < octets.size()) {
    const unsigned length = u8_at(octets, at);
    if (length >= 0xc0) {
      return at + 2;
    }
    if (length > 63) {
      break;
    }
    at += length + 1;
    if (length == 0) {
      return at;
    }
  }
  return octets.size() + 1;
}

bool read_options(std::string_view rdata, Opt& opt) {
  std::size_t at = 0;
  while (at + 4 <= rdata.size()) {
    opt.options.push_back(u16_at(rdata, at));
    at += 4 + u16_at(rdata, at + 2);
  }
  return at == rdata.size();
}

/// Nothing: its counts and its octets do not agree.
std::optional<Message> read_message(std::string_view octets) {
  Message message;
  for (std::size_t i = 0; i < message.counts.size(); ++i) {
    message.counts.at(i) = u16_at(octets, 4 + (2 * i));
  }
  message.rcode = u8_at(octets, 3) & 0x0fU;
  std::size_t at = kHeader;
  for (unsigned i = 0; i < message.counts[0]; ++i) {
    at = after_name(octets, at) + 4;
  }
  if (at > octets.size()) {
    return std::nullopt;
  }
  message.question = octets.substr(kHeader, at - kHeader);
  const unsigned records = message.counts[1] + message.counts[2] + message.counts[3];
  for (unsigned i = 0; i < records; ++i) {
    const std::size_t fixed = after_name(octets, at);
    const std::size_t end = fixed + 10 + u16_at(octets, fixed + 8);
    if (end > octets.size()) {
      return std::nullopt;
    }
    if (u16_at(octets, fixed) == kOptType) {
      Opt opt{.udp_size = u16_at(octets, fixed + 2),
              .extended_rcode = u8_at(octets, fixed + 4),
              .version = u8_at(octets, fixed + 5),
              .flags = u16_at(octets, fixed + 6),
              .options = {}};
      if (!read_options(octets.substr(fixed + 10, end - fixed - 10), opt) || fixed != at + 1) {
        return std::nullopt;
      }
      message.rcode |= opt.extended_rcode << 4U;
      message.opts.push_back(std::move(opt));
    }
    at = end;
  }
  return at == octets.size() ? std::optional(std::move(message)) : std::nullopt;
}

// ---- the judgement -------------------------------------------------------------------------------------------------

std::string rcode_word(unsigned rcode) {
  constexpr std::array<std::string_view, 10> kWords{"NOERROR", "FORMERR",  "SERVFAIL", "NXDOMAIN", "NOTIMP",
                                                    "REFUSED", "YXDOMAIN", "YXRRSET",  "NXRRSET",  "NOTAUTH"};
  if (rcode == 16) {
    return "BADVERS";
  }
  return rcode < kWords.size() ? std::string(kWords.at(rcode)) : fmt::format("RCODE{}", rcode);
}

bool is_error(unsigned rcode) {
  return rcode != 0 && rcode != 3;
}

/// What one reply is called in the file; several names fit a good one.
std::vector<std::string> outcomes(const Message& message, std::string_view reply) {
  const bool truncated = (u8_at(reply, 2) & 0x02U) != 0;
  if (truncated) {
    const bool empty = message.counts[1] == 0 && message.counts[2] == 0 && message.counts[3] == message.opts.size();
    return {empty && message.rcode == 0 ? "TC" : "TC with records or an RCODE"};
  }
  std::vector<std::string> all{rcode_word(message.rcode)};
  if (message.rcode == 0 && message.counts[1] > 0) {
    all.emplace_back("answer");
  }
  return all;
}

/// RFC 1035 §4.1.1, RFC 5625 §4.1: what header a reply of ours has.
std::string header_fault(std::string_view query, std::string_view reply) {
  const unsigned asked = u8_at(query, 2);
  const unsigned high = u8_at(reply, 2);
  const unsigned low = u8_at(reply, 3);
  if (u16_at(reply, 0) != u16_at(query, 0)) {
    return "another id";
  }
  if ((high & 0x80U) == 0) {
    return "QR is 0";
  }
  if (((high ^ asked) & 0x79U) != 0) {
    return "opcode or RD is not that of the query";
  }
  if ((high & 0x04U) != 0) {
    return "AA is 1";
  }
  if ((low & 0xc0U) != 0x80U) {
    return "RA is 0 or Z is 1";
  }
  return ((low ^ u8_at(query, 3)) & 0x10U) != 0 ? "CD is not that of the query" : "";
}

std::string opt_fault(const OddPacket& packet, Protocol protocol, const Message& message) {
  if (message.opts.size() > 1) {
    return "more than one OPT";
  }
  if (message.opts.empty()) {
    return packet.opt == ReplyOpt::Plain || packet.opt == ReplyOpt::DnssecOk ? "no OPT" : "";
  }
  const Opt& opt = message.opts.front();
  if (packet.opt == ReplyOpt::None) {
    return "an OPT that was not asked for";
  }
  if (opt.version != 0 || opt.udp_size != kOwnUdpSize || (opt.flags & 0x7fffU) != 0) {
    return fmt::format("OPT of version {}, size {}, flags {:04x}", opt.version, opt.udp_size, opt.flags);
  }
  if (packet.opt != ReplyOpt::Any && ((opt.flags & 0x8000U) != 0) != (packet.opt == ReplyOpt::DnssecOk)) {
    return "DO is not that of the query";
  }
  const bool keepalive = packet.keepalive && protocol == Protocol::Tcp;
  for (const unsigned code : opt.options) {
    if (code != kEde && !(code == kKeepalive && keepalive)) {
      return fmt::format("option {} in the reply", code);
    }
  }
  return keepalive && std::ranges::count(opt.options, kKeepalive) != 1 ? "no keepalive" : "";
}

/// A4 and H15: an error reply is not longer than the query and an OPT, and not the query itself sent back.
std::string reflection_fault(std::string_view query, std::string_view reply, const Message& message) {
  if (!is_error(message.rcode)) {
    return {};
  }
  if (reply.size() > query.size() + kOptSize) {
    return fmt::format("{} octets of error for {} of query", reply.size(), query.size());
  }
  const bool only_question = query.size() == kHeader + message.question.size();
  return !only_question && reply.size() == query.size() && reply.substr(4) == query.substr(4) ? "the query turned round" : "";
}

std::string reply_fault(const OddPacket& packet, Protocol protocol, std::string_view reply) {
  const std::string_view query = packet.octets;
  const auto message = reply.size() < kHeader ? std::nullopt : read_message(reply);
  if (!message) {
    return fmt::format("a malformed reply of {} octets", reply.size());
  }
  const auto names = outcomes(*message, reply);
  if (std::ranges::none_of(names, [&](const std::string& name) { return packet.accepts(protocol, name); })) {
    return names.back();
  }
  if (std::string fault = header_fault(query, reply); !fault.empty()) {
    return fault;
  }
  const bool asked_back = message->question == query.substr(kHeader, packet.question);
  if (message->counts[0] > 1 || !(asked_back || (message->question.empty() && is_error(message->rcode)))) {
    return "another question than asked";
  }
  if (std::string fault = opt_fault(packet, protocol, *message); !fault.empty()) {
    return fault;
  }
  if (protocol == Protocol::Udp && reply.size() > packet.limit) {
    return fmt::format("{} octets, of which {} are allowed", reply.size(), packet.limit);
  }
  if (reply.find(packet.has) == std::string_view::npos) {
    return "RDATA has changed";
  }
  return reflection_fault(query, reply, *message);
}

/// How often the octets hold one of these questions.
std::size_t occurrences_in(std::string_view octets, const std::set<std::string>& questions) {
  std::size_t count = 0;
  for (const std::string& question : questions) {
    for (std::size_t at = octets.find(question); at != std::string_view::npos; at = octets.find(question, at + 1)) {
      ++count;
    }
  }
  return count;
}

std::string stream_fault(const OddPacket& packet, const Observed& observed) {
  if (!observed.closed) {
    return "the connection stays open";
  }
  std::set<std::string> questions;
  for (const std::string& reply : observed.messages) {
    const auto message = read_message(reply);
    if (!message || message->counts[1] == 0 || (u8_at(reply, 2) & 0x80U) == 0) {
      return "a reply that is no answer";
    }
    questions.insert(message->question);
  }
  const std::size_t same = occurrences_in(packet.octets, questions);
  const std::string count = same == observed.messages.size() ? fmt::format("{} answers", same) : "answers to something else than was asked";
  return packet.accepts(Protocol::Tcp, count) || packet.accepts(Protocol::Tcp, "close") ? "" : count;
}

}  // namespace

bool OddPacket::accepts(Protocol protocol, std::string_view outcome) const {
  return std::ranges::find(accepted(protocol), outcome) != accepted(protocol).end();
}

std::optional<std::vector<OddPacket>> read_corpus(const std::string& file, std::string& error) {
  std::vector<OddPacket> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line[begin] == '#') {
      continue;
    }
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string key = line.substr(begin, end - begin);
    const std::string value = line.substr(std::min(end + 1, line.size()));
    if (key == "case") {
      all.push_back(OddPacket{.id = value});
    } else if (all.empty() || !set(all.back(), key, value)) {
      error = line;
      return std::nullopt;
    }
  }
  return all;
}

std::string judge(const OddPacket& packet, Protocol protocol, const Observed& observed) {
  if (packet.stream) {
    return stream_fault(packet, observed);
  }
  if (observed.messages.empty()) {
    const std::string outcome = observed.closed ? "close" : "silent";
    return packet.accepts(protocol, outcome) ? "" : outcome;
  }
  if (observed.messages.size() > 1) {
    return "more than one reply";
  }
  return reply_fault(packet, protocol, observed.messages.front());
}

}  // namespace dohmux::test
