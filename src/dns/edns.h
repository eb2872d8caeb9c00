// The OPT record and its options (RFC 6891 §6.1). Each side of the forwarder has an OPT of its own; none is passed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "dns/query.h"
#include "dns/records.h"
#include "dns/wire_writer.h"

namespace dohmux::dns {

inline constexpr std::uint16_t kOptionClientSubnet = 8;  // RFC 7871
inline constexpr std::uint16_t kOptionKeepalive = 11;    // RFC 7828
inline constexpr std::uint16_t kOptionPadding = 12;      // RFC 7830
inline constexpr std::uint16_t kOptionEde = 15;          // RFC 8914

inline constexpr std::size_t kOptBaseSize = 11;  // an OPT without options
inline constexpr std::uint16_t kDnssecOk = 0x8000;

/// The fixed fields of an OPT, unpacked from class and TTL (RFC 6891 §6.1.2-3).
struct OptFields {
  std::uint16_t udp_size = 0;
  std::uint8_t extended_rcode = 0;
  std::uint8_t version = 0;
  std::uint16_t flags = 0;  // DO and Z
};
[[nodiscard]] OptFields opt_fields(const Record& opt) noexcept;

struct Option {
  std::uint16_t code = 0;
  ByteView data;
};

/// Walks the options of an OPT's RDATA.
class OptionWalk {
 public:
  explicit OptionWalk(ByteView rdata) noexcept : reader_(rdata) {}
  /// The next option; nothing behind the last or at one that is cut short: see ok().
  [[nodiscard]] std::optional<Option> next() noexcept;
  [[nodiscard]] bool ok() const noexcept { return reader_.ok(); }

 private:
  WireReader reader_;
};

/// The octets of one option: code, length, data.
[[nodiscard]] Bytes option_octets(const Option& option);

/// An OPT of ours: root, udp size 1232, version 0, Z clear.
void write_opt(WireWriter& writer, std::uint8_t extended_rcode, std::uint16_t flags, ByteView options);

/// An EDE option (RFC 8914 §2). `text` is cut to 64 octets at a character's border and left out if it is not UTF-8.
[[nodiscard]] Bytes ede_option(std::uint16_t code, std::string_view text);

/// Adds one option to a reply whose last record is our OPT; nothing happens if there is none or the result would pass `limit`.
void append_option(Bytes& reply, const Option& option, std::size_t limit);

/// A client subnet option as a query may carry it: family 0 (prefix 0), 1 or 2, prefix in range, scope 0, no more address
/// octets than the prefix needs, no bits behind it (RFC 7871 §6, §7.1.1).
[[nodiscard]] bool valid_client_subnet(ByteView data) noexcept;

/// The client subnet option of a checked answer, if it is about the subnet that `asked` (a query's option) told, as RFC 7871
/// §7.3 demands; else nothing. Its scope prefix may be anything.
[[nodiscard]] ByteView answered_client_subnet(ByteView answer, ByteView asked) noexcept;

/// `text` is UTF-8 without overlong forms, surrogates or values past U+10FFFF (RFC 3629 §4).
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace dohmux::dns
