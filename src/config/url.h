// The two kinds of URL that the file holds, parsed strictly: what libraries would read in different ways is refused.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <dohmux/address.h>

namespace dohmux::config {

struct Url {
  std::string host;  // lower case, without brackets
  std::uint16_t port = 0;
  std::string path;  // origin-form, with its query; empty for a proxy
};

/// `https://HOST[:PORT]/PATH[?QUERY]`, a final "{?dns}" is stripped (RFC 8484 §4.1). Error: what is wrong and what would be right.
[[nodiscard]] std::expected<Url, std::string> parse_upstream_url(std::string_view text);

/// `http://HOST:PORT`. The port is required: 80, 1080, 3128 and 8080 are all somebody's default.
[[nodiscard]] std::expected<Url, std::string> parse_proxy_url(std::string_view text);

/// Lower-cased host name (letters, digits, '-', '_', dots, RFC 1123 lengths) or numeric address without brackets.
[[nodiscard]] std::expected<std::string, std::string> parse_host(std::string_view text);

}  // namespace dohmux::config
