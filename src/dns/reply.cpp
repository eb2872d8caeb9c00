// What clients get. An upstream's answer keeps its records byte for byte and at their offsets, so that its
// compression pointers stay right; only header, question and OPT are ours. Must not know caches or sockets.
#include "dns/reply.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dns/edns.h"
#include "dns/header.h"
#include "dns/rdata.h"
#include "dns/records.h"

namespace dohmux::dns {
namespace {

constexpr std::size_t kMaxEdes = 3;  // 12 + 259 + 11 + 3 * 70 octets: fits the smallest limit with any question

/// Where the parts of an answer lie.
struct Layout {
  Header header;
  std::size_t question_end = 0;
  std::size_t answers_end = 0;
  std::size_t authority_end = 0;
  std::size_t plain_end = 0;           // up to here octets are copied: to the OPT or to the end
  std::uint16_t plain_additional = 0;  // records of the additional section before plain_end
  bool proofs = false;                 // SOA, NSEC or NSEC3 in the authority section
  std::optional<Record> opt;
  std::vector<Record> behind_opt;
};

std::optional<Layout> lay_out(ByteView answer) {
  Layout layout;
  RecordWalk walk(answer);
  layout.header = walk.header();
  layout.question_end = layout.answers_end = layout.authority_end = layout.plain_end = walk.offset();
  while (const auto record = walk.next()) {
    if (record->section == Section::Answer) {
      layout.answers_end = record->end();
    }
    if (record->section != Section::Additional) {
      layout.authority_end = layout.plain_end = record->end();
      layout.proofs = layout.proofs || (record->section == Section::Authority &&
                                        (record->type == kTypeSoa || record->type == kTypeNsec || record->type == kTypeNsec3));
    } else if (record->type == kTypeOpt) {
      layout.opt = record;
    } else if (layout.opt) {
      layout.behind_opt.push_back(*record);
    } else {
      layout.plain_end = record->end();
      ++layout.plain_additional;
    }
  }
  return walk.ok() ? std::optional(std::move(layout)) : std::nullopt;
}

/// Taking the OPT out moves what stood behind it: those records are written without compression, from the old
/// message, so that no pointer of theirs has to be right in the new one. Names before the OPT depend on nothing behind.
Bytes rewritten_tail(ByteView answer, const Layout& layout, std::uint16_t& count) {
  WireWriter tail;
  for (const Record& record : layout.behind_opt) {
    if (record.rclass == kClassIn) {
      write_uncompressed(tail, answer, record);
      ++count;
    }
  }
  if (!tail.ok()) {
    count = 0;
    return {};
  }
  return std::move(tail).take();
}

/// How much of an answer goes into a reply.
struct Selection {
  std::size_t end = 0;  // of the copied octets
  std::uint16_t answers = 0;
  std::uint16_t authority = 0;
  std::uint16_t additional = 0;  // ours not counted
  ByteView tail;
  ByteView options;
  std::uint16_t tc = 0;
};

std::size_t size_of(const Selection& selection, const Query& query) {
  return selection.end + selection.tail.size() + (query.edns ? kOptBaseSize + selection.options.size() : 0);
}

/// From whole to nothing; the first that fits is sent (RFC 2181 §9).
std::vector<Selection> selections(const Layout& layout, ByteView tail, std::uint16_t tail_count, ByteView options) {
  const Header& header = layout.header;
  const Selection whole{.end = layout.plain_end,
                        .answers = header.answer_count,
                        .authority = header.authority_count,
                        .additional = static_cast<std::uint16_t>(layout.plain_additional + tail_count),
                        .tail = tail,
                        .options = options,
                        .tc = static_cast<std::uint16_t>(header.flags & kFlagTc)};
  Selection part = whole;
  part.end = layout.authority_end;
  part.additional = 0;
  part.tail = {};
  std::vector<Selection> all{whole, part};
  if (header.answer_count > 0 && !layout.proofs) {
    part.end = layout.answers_end;
    part.authority = 0;
    all.push_back(part);
  }
  part.options = {};
  all.push_back(part);
  all.push_back({.end = layout.question_end, .answers = 0, .authority = 0, .additional = 0, .tail = {}, .options = options, .tc = kFlagTc});
  return all;
}

/// The EDEs for the client: ours first, then the upstream's as far as there is room (RFC 8914 §3).
Bytes reply_options(const Layout& layout, std::optional<Ede> own) {
  Bytes options;
  std::size_t count = 0;
  const auto add = [&](std::uint16_t code, std::string_view text) {
    const Bytes octets = ede_option(code, text);
    options.insert(options.end(), octets.begin(), octets.end());
    ++count;
  };
  if (own) {
    add(static_cast<std::uint16_t>(own->code), own->text);
  }
  if (!layout.opt) {
    return options;
  }
  OptionWalk walk(layout.opt->rdata);
  while (const auto option = walk.next()) {
    if (option->code == kOptionEde && option->data.size() >= 2 && count < kMaxEdes) {
      WireReader reader(option->data);
      const std::uint16_t code = reader.u16();
      std::string text;
      for (const std::uint8_t octet : reader.take(reader.remaining())) {
        text.push_back(static_cast<char>(octet));
      }
      add(code, text);
    }
  }
  return options;
}

std::uint16_t own_flags(const Query& query) {
  return static_cast<std::uint16_t>(kFlagQr | kFlagRa | (static_cast<std::uint32_t>(query.opcode & 0x0FU) << 11U) |
                                    (query.recursion_desired ? kFlagRd : 0U) | (query.checking_disabled ? kFlagCd : 0U));
}

/// AA, TC and RCODE are the upstream's; AD too for clients that know it (RFC 6840 §5.7-5.8); Z is 0. An extended
/// RCODE concerns the upstream's hop alone (BADVERS, BADCOOKIE): SERVFAIL.
std::uint16_t relayed_flags(const Query& query, const Layout& layout) {
  const bool wants_ad = query.authentic_data || (query.edns && query.edns->dnssec_ok);
  const bool extended = layout.opt && opt_fields(*layout.opt).extended_rcode != 0;
  const std::uint32_t rcode = extended ? static_cast<std::uint32_t>(Rcode::ServFail) : layout.header.low_rcode();
  return static_cast<std::uint16_t>(own_flags(query) | (layout.header.flags & (kFlagAa | (wants_ad ? kFlagAd : 0U))) | rcode);
}

void write_client_opt(WireWriter& writer, const Query& query, std::uint8_t extended_rcode, ByteView options) {
  if (query.edns) {
    write_opt(writer, extended_rcode, query.edns->dnssec_ok ? kDnssecOk : std::uint16_t{0}, options);
  }
}

}  // namespace

std::size_t reply_limit(const Query& query, Carrier carrier) {
  if (carrier == Carrier::Tcp) {
    return kMaxMessage;
  }
  const std::size_t advertised = query.edns ? query.edns->udp_size : kMinUdpPayload;
  return std::clamp<std::size_t>(advertised, kMinUdpPayload, kMaxUdpPayload);
}

Bytes error_reply(const Query& query, Rcode rcode, std::optional<Ede> ede) {
  const auto number = static_cast<std::uint16_t>(rcode);
  Header header;
  header.id = query.id;
  header.flags = static_cast<std::uint16_t>(own_flags(query) | (number & 0x0FU));
  header.question_count = query.question.empty() ? 0 : 1;
  header.additional_count = query.edns ? 1 : 0;
  WireWriter writer;
  write_header(writer, header);
  writer.octets(query.question);
  write_client_opt(writer, query, static_cast<std::uint8_t>(number >> 4U),
                   ede ? ede_option(static_cast<std::uint16_t>(ede->code), ede->text) : Bytes{});
  return std::move(writer).take();
}

Bytes client_reply(const Query& query, ByteView answer, std::size_t limit, std::optional<Ede> own) {
  const auto layout = lay_out(answer);
  if (!layout || layout->question_end != kHeaderSize + query.question.size()) {
    return error_reply(query, Rcode::ServFail, own);
  }
  std::uint16_t tail_count = 0;
  const Bytes tail = rewritten_tail(answer, *layout, tail_count);
  const Bytes options = query.edns ? reply_options(*layout, own) : Bytes{};
  const auto choices = selections(*layout, tail, tail_count, options);
  const auto fits = [&](const Selection& selection) { return size_of(selection, query) <= limit; };
  const auto found = std::find_if(choices.begin(), choices.end(), fits);
  const Selection& chosen = found == choices.end() ? choices.back() : *found;

  Header header;
  header.id = query.id;
  header.flags = static_cast<std::uint16_t>(relayed_flags(query, *layout) | chosen.tc);
  header.question_count = 1;
  header.answer_count = chosen.answers;
  header.authority_count = chosen.authority;
  header.additional_count = static_cast<std::uint16_t>(chosen.additional + (query.edns ? 1 : 0));
  WireWriter writer;
  writer.reserve(size_of(chosen, query));
  write_header(writer, header);
  writer.octets(query.question);
  writer.octets(answer.subspan(layout->question_end, chosen.end - layout->question_end));
  writer.octets(chosen.tail);
  write_client_opt(writer, query, 0, chosen.options);
  return std::move(writer).take();
}

void add_keepalive(Bytes& reply, std::chrono::milliseconds idle_timeout) {
  const auto units = std::clamp<std::chrono::milliseconds::rep>(idle_timeout.count() / 100, 0, 65535);
  WireWriter data;
  data.u16(static_cast<std::uint16_t>(units));
  append_option(reply, {.code = kOptionKeepalive, .data = data.view()}, kMaxMessage);
}

}  // namespace dohmux::dns
