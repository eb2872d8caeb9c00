// Domain names on the wire: reading with decompression, comparing, folding case (RFC 1035 §3.1, §4.1.4; RFC 4343).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "dns/wire_reader.h"

namespace dohmux::dns {

inline constexpr std::size_t kMaxName = 255;      // octets on the wire, RFC 1035 §2.3.4
inline constexpr std::size_t kMaxLabel = 63;      // RFC 1035 §2.3.4
inline constexpr std::size_t kMaxPointers = 126;  // more than a name of 255 octets can use

/// An uncompressed name in wire form. Empty only after a failed read.
class Name {
 public:
  [[nodiscard]] ByteView wire() const noexcept { return ByteView(octets_).first(size_); }
  /// Adds one label with its length octet (the root label is empty); false if the name would pass 255 octets.
  bool append(ByteView label) noexcept;

 private:
  std::array<std::uint8_t, kMaxName> octets_{};
  std::uint8_t size_ = 0;
};

/// The name at the cursor, decompressed. Only pointers to a run of labels that lies behind the header and ends
/// before the pointing run begins are followed, at most 126; at most 255 octets. So a name never depends on octets
/// behind its own. The cursor then stands behind the name as it was written. On any violation the reader fails and
/// the name is empty.
[[nodiscard]] Name read_name(WireReader& reader) noexcept;

/// As read_name, with the same checks, for a name nobody needs.
void skip_name(WireReader& reader) noexcept;

/// Equal but for ASCII letter case (RFC 4343 §3). For uncompressed names and for questions' names; length
/// octets are below 'A', so that whole names can be compared octet by octet.
[[nodiscard]] bool equal_ignoring_case(ByteView left, ByteView right) noexcept;

[[nodiscard]] std::uint8_t ascii_lower(std::uint8_t octet) noexcept;

/// A name in lower case: the form for keys.
[[nodiscard]] Bytes lower_case(ByteView wire_name);

/// Is `name` the same as `zone` or below it? Both uncompressed.
[[nodiscard]] bool is_within(ByteView name, ByteView zone) noexcept;

/// Wire form of presentation text, with or without the final dot, \DDD and \x escapes (RFC 1035 §5.1);
/// nothing if it is no name. An empty text and "." are the root.
[[nodiscard]] std::optional<Bytes> name_from_text(std::string_view text);

}  // namespace dohmux::dns
