// The one list of what an upstream's message must satisfy before anybody relays, keeps or looks into it.
// Everything behind it may rely on: every name decompresses within bounds, pointers only point backwards, every
// counted record is whole, at most one OPT, and that in its place. Knows nothing of HTTP.
#include "dns/answer_check.h"

#include <algorithm>

#include "dns/edns.h"
#include "dns/header.h"
#include "dns/name.h"
#include "dns/rdata.h"
#include "dns/records.h"

namespace dohmux::dns {
namespace {

using Check = std::expected<void, AnswerFault>;

/// Name equal but for case, type and class equal (RFC 5452 §9.1). The name must be written without pointers,
/// as ours was: the reply takes the question from the client and keeps all offsets behind it.
Check check_question(const Query& query, WireReader& reader) {
  const std::size_t start = reader.offset();
  skip_name(reader);
  reader.skip(4);
  if (!reader.ok()) {
    return std::unexpected(AnswerFault::Malformed);
  }
  const ByteView question = reader.whole().subspan(start, reader.offset() - start);
  const ByteView asked = query.question;
  const std::size_t name_size = query.name().size();
  const bool same = question.size() == asked.size() && equal_ignoring_case(question.first(name_size), query.name()) &&
                    std::equal(question.begin() + static_cast<std::ptrdiff_t>(name_size), question.end(),
                               asked.begin() + static_cast<std::ptrdiff_t>(name_size));
  return same ? Check{} : std::unexpected(AnswerFault::WrongQuestion);
}

bool opt_is_well_formed(const Record& opt) {
  OptionWalk options(opt.rdata);
  while (options.next()) {
  }
  return opt.root_owner() && opt.section == Section::Additional && options.ok();
}

/// The message ends with its last counted record: octets behind it mean that somebody counts differently.
Check check_records(const Header& header, const WireReader& reader, ByteView message) {
  RecordWalk walk(header, reader);
  unsigned opts = 0;
  while (const auto record = walk.next()) {
    if (record->type == kTypeOpt) {
      ++opts;
      if (opts > 1 || !opt_is_well_formed(*record)) {
        return std::unexpected(AnswerFault::Malformed);
      }
    } else if (record->type == kTypeTsig || !rdata_is_well_formed(message, *record)) {
      return std::unexpected(AnswerFault::Malformed);  // our query had no TSIG, so no answer has (RFC 8945 §5.3)
    }
  }
  return walk.ok() && walk.remaining() == 0 ? Check{} : std::unexpected(AnswerFault::Malformed);
}

}  // namespace

std::string_view to_string(AnswerFault fault) {
  switch (fault) {
    case AnswerFault::TooShort:
      return "too short";
    case AnswerFault::TooLong:
      return "too long";
    case AnswerFault::NotAResponse:
      return "not a response";
    case AnswerFault::WrongId:
      return "wrong id";
    case AnswerFault::WrongOpcode:
      return "wrong opcode";
    case AnswerFault::WrongQuestion:
      return "wrong question";
    case AnswerFault::Malformed:
      return "malformed";
  }
  return "unknown";
}

std::expected<void, AnswerFault> check_answer(const Query& query, ByteView message) {
  if (message.size() < kHeaderSize) {
    return std::unexpected(AnswerFault::TooShort);
  }
  if (message.size() > kMaxMessage) {
    return std::unexpected(AnswerFault::TooLong);
  }
  WireReader reader(message);
  const Header header = read_header(reader);
  if (!header.has(kFlagQr)) {
    return std::unexpected(AnswerFault::NotAResponse);
  }
  if (header.id != 0) {
    return std::unexpected(AnswerFault::WrongId);
  }
  if (header.opcode() != 0) {
    return std::unexpected(AnswerFault::WrongOpcode);
  }
  if (header.question_count != 1) {
    return std::unexpected(AnswerFault::WrongQuestion);
  }
  if (const auto question = check_question(query, reader); !question) {
    return question;
  }
  return check_records(header, reader, message);
}

}  // namespace dohmux::dns
