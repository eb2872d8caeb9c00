// Any octets as a client's query: the verdict, the error reply and the query that would go upstream.
#include <algorithm>

#include "dns/edns.h"
#include "dns/header.h"
#include "dns/name.h"
#include "dns/query.h"
#include "dns/records.h"
#include "dns/reply.h"
#include "fuzz/require.h"

using namespace dohmux;

namespace {

/// One OPT, last, if and only if the client sent one; nothing behind the last record.
void check_frame(const dns::Query& query, ByteView message) {
  dns::RecordWalk walk(message);
  unsigned opts = 0;
  while (const auto record = walk.next()) {
    opts += record->type == dns::kTypeOpt ? 1U : 0U;
    REQUIRE(record->type == dns::kTypeOpt && record->root_owner());
    REQUIRE(dns::opt_fields(*record).version == 0);
  }
  REQUIRE(walk.ok() && walk.remaining() == 0);
  REQUIRE(opts == (query.edns ? 1U : 0U));
}

void check_fault(const dns::QueryFault& fault, ByteView message) {
  const bool unanswerable = message.size() < dns::kHeaderSize || (message[2] & 0x80U) != 0;
  REQUIRE(fault.silent == unanswerable);
  if (fault.silent) {
    return;
  }
  std::optional<dns::Ede> ede;
  if (fault.ede) {
    ede = dns::Ede{.code = static_cast<dns::EdeCode>(*fault.ede), .text = {}};
  }
  const Bytes reply = dns::error_reply(fault.query, fault.rcode, ede);
  REQUIRE(reply.size() <= message.size() + 6);  // A4: the query and one EDE
  dns::WireReader reader(reply);
  const dns::Header header = dns::read_header(reader);
  REQUIRE(header.id == ((message[0] << 8U) | message[1]));
  REQUIRE(header.has(dns::kFlagQr) && header.has(dns::kFlagRa) && !header.has(dns::kFlagAa) && !header.has(dns::kFlagTc));
  REQUIRE(header.opcode() == ((message[2] >> 3U) & 0x0FU));
  REQUIRE(header.low_rcode() != 0 || fault.rcode == dns::Rcode::BadVers);
  check_frame(fault.query, reply);
  REQUIRE(dns::parse_query(reply).error().silent);  // H2: two of us go quiet
}

void check_upstream(const dns::Query& query, ByteView message) {
  REQUIRE(query.question.size() >= 5 && query.question.size() <= dns::kMaxName + 4);
  REQUIRE(std::equal(query.question.begin(), query.question.end(), message.begin() + dns::kHeaderSize));
  REQUIRE(dns::name_from_text(dns::name_text(query.name())) == Bytes(query.name().begin(), query.name().end()));

  const Bytes padded = dns::upstream_query(query, dns::Padding::Block128);
  REQUIRE(padded.size() % 128 == 0 && padded.size() <= 384);
  REQUIRE(dns::upstream_query(query, dns::Padding::None).size() == dns::kHeaderSize + query.question.size() + dns::kOptBaseSize);
  const auto again = dns::parse_query(padded);
  REQUIRE(again.has_value());
  REQUIRE(again->id == 0 && again->question == query.question && again->edns->udp_size == dns::kMaxUdpPayload);
  REQUIRE(again->recursion_desired == query.recursion_desired && again->checking_disabled == query.checking_disabled);
  REQUIRE(again->edns->dnssec_ok == (query.edns && query.edns->dnssec_ok) && again->edns->client_subnet.empty());
  check_frame(*again, padded);
  const Bytes with_subnet = dns::upstream_query(query, dns::Padding::Block128, dns::ClientSubnet::Pass);
  REQUIRE(with_subnet.size() % 128 == 0);
  REQUIRE(dns::parse_query(with_subnet).has_value());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView message(data, size);
  const auto parsed = dns::parse_query(message);
  if (parsed) {
    check_upstream(*parsed, message);
  } else {
    check_fault(parsed.error(), message);
  }
  return 0;
}
