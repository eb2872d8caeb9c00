// The walk over the records of a message. Must not know what any RDATA means.
#include "dns/records.h"

#include "dns/name.h"

namespace dohmux::dns {

RecordWalk::RecordWalk(ByteView message) noexcept : cursor_(message) {
  header_ = read_header(cursor_);
  for (unsigned i = 0; i < header_.question_count && cursor_.ok(); ++i) {
    skip_name(cursor_);
    cursor_.skip(4);
  }
  left_ = header_.answer_count;
}

RecordWalk::RecordWalk(const Header& header, const WireReader& cursor) noexcept
    : header_(header), cursor_(cursor), left_(header.answer_count) {}

std::optional<Record> RecordWalk::next() noexcept {
  while (left_ == 0 && section_ != Section::Additional) {
    const bool was_answer = section_ == Section::Answer;
    section_ = was_answer ? Section::Authority : Section::Additional;
    left_ = was_answer ? header_.authority_count : header_.additional_count;
  }
  if (left_ == 0) {
    return std::nullopt;
  }
  --left_;
  Record record;
  record.section = section_;
  record.offset = cursor_.offset();
  skip_name(cursor_);
  record.fixed = cursor_.offset();
  record.type = cursor_.u16();
  record.rclass = cursor_.u16();
  record.ttl = cursor_.u32();
  record.rdata = cursor_.take(cursor_.u16());
  if (!cursor_.ok()) {
    return std::nullopt;
  }
  return record;
}

std::uint16_t full_rcode(ByteView message) noexcept {
  RecordWalk walk(message);
  std::uint16_t rcode = walk.header().low_rcode();
  while (const auto record = walk.next()) {
    if (record->type == kTypeOpt && record->section == Section::Additional) {
      rcode = static_cast<std::uint16_t>(((record->ttl >> 24U) << 4U) | rcode);
      break;
    }
  }
  return rcode;
}

bool is_truncated(ByteView message) noexcept {
  WireReader reader(message);
  return read_header(reader).has(kFlagTc);
}

}  // namespace dohmux::dns
