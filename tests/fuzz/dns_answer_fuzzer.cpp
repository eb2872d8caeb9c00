// Any octets as a resolver's answer: what passes check_answer must become right replies at every limit. The first
// octet chooses the client's query; the question is taken from the message, so that the fuzzer gets behind it.
#include <algorithm>
#include <vector>

#include "dns/answer_check.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/name.h"
#include "dns/rdata.h"
#include "dns/records.h"
#include "dns/reply.h"
#include "fuzz/require.h"

using namespace dohmux;

namespace {

dns::Query client_query(std::uint8_t choice, ByteView message) {
  dns::Query query;
  query.id = 0xBEEF;
  query.recursion_desired = (choice & 1U) != 0;
  query.authentic_data = (choice & 2U) != 0;
  query.checking_disabled = (choice & 4U) != 0;
  if ((choice & 8U) != 0) {
    query.edns = dns::Edns{.udp_size = 1232, .dnssec_ok = (choice & 16U) != 0, .keepalive = false, .client_subnet = {}};
  }
  dns::WireReader reader(message);
  reader.skip(dns::kHeaderSize);
  while (const std::uint8_t length = reader.u8()) {
    reader.skip(length);
  }
  reader.skip(4);
  if (reader.ok() && reader.offset() <= dns::kHeaderSize + 259) {
    query.question.assign(message.begin() + dns::kHeaderSize, message.begin() + static_cast<std::ptrdiff_t>(reader.offset()));
    // With octets like a pointer's in a label, letter case could be part of an offset.
    if (std::any_of(query.question.begin(), query.question.end(), [](std::uint8_t octet) { return octet >= 0xC0; })) {
      return query;
    }
    for (std::size_t i = 0; i + 4 < query.question.size(); ++i) {
      const std::uint8_t octet = query.question[i];
      query.question[i] = octet >= 'a' && octet <= 'z' ? static_cast<std::uint8_t>(octet - 32) : octet;
    }
  }
  return query;
}

/// Every record that is not an OPT, each written out on its own, in lower case: names that end in the question's
/// take the client's case.
std::vector<Bytes> records_of(ByteView message, dns::Section section) {
  std::vector<Bytes> all;
  dns::RecordWalk walk(message);
  while (const auto record = walk.next()) {
    if (record->section == section && record->type != dns::kTypeOpt) {
      dns::WireWriter writer;
      dns::write_uncompressed(writer, message, *record);
      REQUIRE(writer.ok());
      all.push_back(dns::lower_case(writer.view()));
    }
  }
  REQUIRE(walk.ok() && walk.remaining() == 0);
  return all;
}

/// All of it, or all but what may be dropped, or TC=1 and nothing.
void check_sections(ByteView answer, ByteView reply) {
  using dns::Section;
  const auto answers = records_of(reply, Section::Answer);
  const auto authority = records_of(reply, Section::Authority);
  const auto additional = records_of(reply, Section::Additional);
  if (dns::is_truncated(reply) && answers.empty() && authority.empty() && additional.empty()) {
    return;
  }
  REQUIRE(dns::is_truncated(reply) == dns::is_truncated(answer));
  REQUIRE(answers == records_of(answer, Section::Answer));
  REQUIRE(authority.empty() || authority == records_of(answer, Section::Authority));
  // Whole records only, in order; those of unknown classes behind the OPT may be missing.
  const auto before = records_of(answer, Section::Additional);
  auto at = before.begin();
  for (const Bytes& record : additional) {
    at = std::find(at, before.end(), record);
    REQUIRE(at != before.end());
    ++at;
  }
}

void check_reply(const dns::Query& query, ByteView answer, std::size_t limit) {
  Bytes reply = dns::client_reply(query, answer, limit);
  REQUIRE(reply.size() <= limit);
  REQUIRE(reply[0] == 0xBE && reply[1] == 0xEF);
  REQUIRE(std::equal(query.question.begin(), query.question.end(), reply.begin() + dns::kHeaderSize));
  dns::WireReader reader(reply);
  const dns::Header header = dns::read_header(reader);
  REQUIRE(header.question_count == 1 && header.has(dns::kFlagQr) && header.has(dns::kFlagRa) && (header.flags & 0x0040U) == 0);
  REQUIRE(header.has(dns::kFlagRd) == query.recursion_desired && header.has(dns::kFlagCd) == query.checking_disabled);
  REQUIRE(!header.has(dns::kFlagAd) || query.authentic_data || (query.edns && query.edns->dnssec_ok));
  check_sections(answer, reply);

  std::optional<dns::Record> last;
  dns::RecordWalk walk(reply);
  while (const auto record = walk.next()) {
    REQUIRE(!last || last->type != dns::kTypeOpt);
    last = record;
  }
  REQUIRE(query.edns.has_value() == (last && last->type == dns::kTypeOpt));
  REQUIRE(!query.edns || dns::opt_fields(*last).flags == (query.edns->dnssec_ok ? dns::kDnssecOk : 0));
  reply[0] = reply[1] = 0;
  REQUIRE(dns::check_answer(query, reply).has_value());  // no name broken, nothing behind the end
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  Bytes answer(data + 1, data + size);
  if (answer.size() >= dns::kHeaderSize) {
    answer[0] = answer[1] = 0;
    answer[2] |= 0x80U;
  }
  const dns::Query query = client_query(data[0], answer);
  if (!dns::check_answer(query, answer)) {
    static_cast<void>(dns::client_reply(query, answer, 512));  // must not fall over either
    return 0;
  }
  for (const std::size_t limit : {512U, 700U, 1232U, 65535U}) {
    check_reply(query, answer, limit);
  }
  return 0;
}
