// Judging a client's query, and the query that goes upstream in its place. Rows H, N, T and E of
// docs/conformance.md; must not know configuration, upstreams or sockets.
#include "dns/query.h"

#include <algorithm>
#include <utility>

#include "dns/edns.h"
#include "dns/header.h"
#include "dns/name.h"
#include "dns/records.h"

namespace dohmux::dns {
namespace {

constexpr std::size_t kPaddingBlock = 128;  // RFC 8467 §4.1

/// What the walk through a message found, beside the Query itself.
struct Findings {
  bool whole = false;            // every counted question and record is there
  bool broken_rule = false;      // readable, but FORMERR
  bool newer_edns = false;       // EDNS version above 0
  bool tsig = false;             // RFC 8945
  bool transaction_sig = false;  // SIG(0), RFC 2931
};

struct Verdict {
  Rcode rcode = Rcode::FormErr;
  std::optional<EdeCode> ede;
};

/// One question is kept, two or more are only walked over; false if the message ends before they do.
bool read_questions(WireReader& reader, const Header& header, Query& query) {
  for (unsigned i = 0; i < header.question_count && reader.ok(); ++i) {
    const std::size_t start = reader.offset();
    skip_name(reader);
    const std::uint16_t type = reader.u16();
    const std::uint16_t qclass = reader.u16();
    if (reader.ok() && header.question_count == 1) {
      // Nothing lies between the header and this name, so it cannot hold a pointer: read_name's rules forbid it.
      const ByteView octets = reader.whole().subspan(start, reader.offset() - start);
      query.question.assign(octets.begin(), octets.end());
      query.type = type;
      query.qclass = qclass;
    }
  }
  return reader.ok();
}

void read_options(ByteView rdata, Edns& edns, Findings& found) {
  OptionWalk walk(rdata);
  while (const auto option = walk.next()) {
    if (option->code == kOptionKeepalive && option->data.empty()) {
      edns.keepalive = true;
    } else if (option->code == kOptionClientSubnet && edns.client_subnet.empty()) {
      edns.client_subnet.assign(option->data.begin(), option->data.end());
    }
  }
  found.broken_rule = found.broken_rule || !walk.ok();
}

void read_opt(const Record& opt, Query& query, Findings& found) {
  if (!opt.root_owner() || opt.section != Section::Additional || query.edns) {
    found.broken_rule = true;  // RFC 6891 §6.1.1-2
    return;
  }
  const OptFields fields = opt_fields(opt);
  Edns edns;
  edns.udp_size = std::max(fields.udp_size, static_cast<std::uint16_t>(kMinUdpPayload));
  edns.dnssec_ok = (fields.flags & kDnssecOk) != 0;
  if (fields.version == 0) {
    read_options(opt.rdata, edns, found);
  } else {
    found.newer_edns = true;  // its options may look different
  }
  query.edns = std::move(edns);
}

bool is_transaction_sig(const Record& record) {
  return record.type == kTypeSig && record.rdata.size() >= 2 && record.rdata[0] == 0 && record.rdata[1] == 0;
}

void read_records(RecordWalk& walk, Query& query, Findings& found) {
  const bool wants_ixfr = query.type == kTypeIxfr;  // carries a SOA in its authority section, RFC 1995 §3
  while (const auto record = walk.next()) {
    if (record->section != Section::Additional && !wants_ixfr) {
      found.broken_rule = true;
    }
    if (found.tsig) {
      found.broken_rule = true;  // TSIG must be last, RFC 8945 §5.1
    }
    if (record->type == kTypeOpt) {
      read_opt(*record, query, found);
    } else if (record->type == kTypeTsig) {
      found.tsig = true;
    } else if (is_transaction_sig(*record)) {
      found.transaction_sig = true;
    }
  }
  found.whole = walk.ok();
  if (found.whole && walk.remaining() > 0) {
    found.broken_rule = true;
  }
}

std::optional<Verdict> judge_type(std::uint16_t type) {
  switch (type) {
    case 0:
    case kTypeOpt:
    case kTypeNxname:
      return Verdict{Rcode::FormErr, EdeCode::InvalidQueryType};
    case kTypeAny:
      return std::nullopt;
    default:
      break;
  }
  // 128-255 are question and meta types (RFC 6895 §3.1), none of which a forwarder can serve but ANY.
  if (type > kTypeNxname && type < kTypeAny) {
    return Verdict{Rcode::NotImp, EdeCode::NotSupported};
  }
  return std::nullopt;
}

/// Nothing: the query may go on.
std::optional<Verdict> judge(const Header& header, const Query& query, const Findings& found) {
  if (header.opcode() != 0) {
    return Verdict{Rcode::NotImp, EdeCode::NotSupported};
  }
  if (!found.whole || found.broken_rule || header.question_count != 1) {
    return Verdict{Rcode::FormErr, std::nullopt};
  }
  if (found.newer_edns) {
    return Verdict{Rcode::BadVers, std::nullopt};
  }
  if (found.tsig) {
    return Verdict{Rcode::NotAuth, EdeCode::NotSupported};
  }
  if (found.transaction_sig) {
    return Verdict{Rcode::NotImp, EdeCode::NotSupported};
  }
  if (query.qclass != kClassIn) {
    return Verdict{Rcode::Refused, EdeCode::NotSupported};
  }
  return judge_type(query.type);
}

Query from_header(const Header& header) {
  Query query;
  query.id = header.id;
  query.opcode = header.opcode();
  query.recursion_desired = header.has(kFlagRd);
  query.authentic_data = header.has(kFlagAd);
  query.checking_disabled = header.has(kFlagCd);
  return query;
}

Bytes upstream_options(const Query& query, Padding padding, ClientSubnet subnet) {
  Bytes options;
  if (subnet == ClientSubnet::Pass && query.edns && !query.edns->client_subnet.empty()) {
    options = option_octets({.code = kOptionClientSubnet, .data = query.edns->client_subnet});
  }
  if (padding == Padding::Block128) {
    const std::size_t bare = kHeaderSize + query.question.size() + kOptBaseSize + options.size() + 4;
    const Bytes zeros((kPaddingBlock - (bare % kPaddingBlock)) % kPaddingBlock);
    const Bytes pad = option_octets({.code = kOptionPadding, .data = zeros});
    options.insert(options.end(), pad.begin(), pad.end());
  }
  return options;
}

}  // namespace

std::expected<Query, QueryFault> parse_query(ByteView message) {
  WireReader reader(message);
  const Header header = read_header(reader);
  if (!reader.ok() || header.has(kFlagQr)) {
    return std::unexpected(QueryFault{.silent = true, .rcode = Rcode::FormErr, .ede = std::nullopt, .query = {}});
  }
  Query query = from_header(header);
  Findings found;
  if (read_questions(reader, header, query)) {
    RecordWalk walk(header, reader);
    read_records(walk, query, found);
  }
  const auto verdict = judge(header, query, found);
  if (!verdict) {
    return query;
  }
  if (!found.whole) {
    query.question.clear();  // nothing of a message that is cut short goes back
  }
  QueryFault fault{.silent = false, .rcode = verdict->rcode, .ede = std::nullopt, .query = std::move(query)};
  if (verdict->ede) {
    fault.ede = static_cast<std::uint16_t>(*verdict->ede);
  }
  return std::unexpected(std::move(fault));
}

Bytes upstream_query(const Query& query, Padding padding, ClientSubnet subnet) {
  const bool dnssec_ok = query.edns && query.edns->dnssec_ok;
  Header header;
  header.flags = static_cast<std::uint16_t>((query.recursion_desired ? kFlagRd : 0U) | (query.checking_disabled ? kFlagCd : 0U) |
                                            (query.authentic_data || dnssec_ok ? kFlagAd : 0U));
  header.question_count = 1;
  header.additional_count = 1;
  WireWriter writer;
  writer.reserve(2 * kPaddingBlock);
  write_header(writer, header);
  writer.octets(query.question);
  write_opt(writer, 0, dnssec_ok ? kDnssecOk : std::uint16_t{0}, upstream_options(query, padding, subnet));
  return std::move(writer).take();
}

}  // namespace dohmux::dns
