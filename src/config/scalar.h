// The small value languages of the file: durations, sizes, numbers.
#pragma once

#include <dohmux/config.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dohmux::config {

/// "250ms", "5s", "1m30s", "1d": whole numbers with the units d h m s ms, each at most once, largest first. At most ten years.
[[nodiscard]] std::optional<Milliseconds> parse_duration(std::string_view text);
/// A text that parse_duration() turns into `duration` (which must not be negative): "4500ms", "1m30s".
[[nodiscard]] std::string format_duration(Milliseconds duration);

/// "0B", "64KiB", "32MiB", "1GiB", "1TiB".
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// Decimal digits only: no sign, no leading zeros, no separators.
[[nodiscard]] std::optional<std::uint64_t> parse_integer(std::string_view text);

}  // namespace dohmux::config
