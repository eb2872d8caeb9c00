// Numbers and their names, for logs and for people (RFC 3597 §5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dohmux::dns {

[[nodiscard]] std::string type_text(std::uint16_t type);     // "AAAA", "TYPE65280"
[[nodiscard]] std::string class_text(std::uint16_t rclass);  // "IN", "CLASS99"
[[nodiscard]] std::string rcode_text(std::uint16_t rcode);   // "NXDOMAIN", "RCODE99"
/// "aaaa", "TYPE28" or "28", in any case.
[[nodiscard]] std::optional<std::uint16_t> type_from_text(std::string_view text);

}  // namespace dohmux::dns
