// The records of a message, one after the other, without copying (RFC 1035 §4.1.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "dns/header.h"
#include "dns/wire_reader.h"

namespace dohmux::dns {

enum class Section : std::uint8_t { Answer, Authority, Additional };

/// One record in its message; offsets count from the message's start.
struct Record {
  Section section = Section::Answer;
  std::uint16_t type = 0;
  std::uint16_t rclass = 0;
  std::uint32_t ttl = 0;   // as written; see ttl.h for what it means
  std::size_t offset = 0;  // of the owner name
  std::size_t fixed = 0;   // of type, class, TTL, RDLENGTH, behind the owner name
  ByteView rdata;          // views the message

  [[nodiscard]] std::size_t ttl_offset() const noexcept { return fixed + 4; }
  [[nodiscard]] std::size_t rdata_offset() const noexcept { return fixed + 10; }
  [[nodiscard]] std::size_t end() const noexcept { return rdata_offset() + rdata.size(); }
  /// The owner is the root, written as one zero octet.
  [[nodiscard]] bool root_owner() const noexcept { return fixed - offset == 1; }
};

/// Walks header, questions and records. Owner names are checked as read_name does, RDATA is only bounded.
class RecordWalk {
 public:
  /// Reads the header and skips the questions; `message` must outlive the walk and its records.
  explicit RecordWalk(ByteView message) noexcept;
  /// Begins at the first record, the cursor standing there.
  RecordWalk(const Header& header, const WireReader& cursor) noexcept;

  /// The next record; nothing behind the last one or at the first that breaks the message: see ok().
  [[nodiscard]] std::optional<Record> next() noexcept;

  [[nodiscard]] bool ok() const noexcept { return cursor_.ok(); }
  /// Where the next record would begin.
  [[nodiscard]] std::size_t offset() const noexcept { return cursor_.offset(); }
  /// Octets behind what was read so far.
  [[nodiscard]] std::size_t remaining() const noexcept { return cursor_.remaining(); }
  [[nodiscard]] const Header& header() const noexcept { return header_; }

 private:
  Header header_;
  WireReader cursor_;
  Section section_ = Section::Answer;
  std::uint16_t left_ = 0;  // records of section_ not read yet
};

/// The RCODE with the upper bits of the OPT, if there is one (RFC 6891 §6.1.3). For checked answers.
[[nodiscard]] std::uint16_t full_rcode(ByteView message) noexcept;

/// The TC bit. For checked answers.
[[nodiscard]] bool is_truncated(ByteView message) noexcept;

}  // namespace dohmux::dns
