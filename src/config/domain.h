// Domain names of the file: route suffixes, records, exceptions.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace dohmux::config {

/// Lower case, without the final dot; "." is the root. Letters, digits, '-', '_' and '/' (RFC 2317), labels of at most 63,
/// all at most 253. Error: what is wrong; what would be right.
[[nodiscard]] std::expected<std::string, std::string> parse_domain(std::string_view text);

}  // namespace dohmux::config
