// Parses durations, sizes and whole numbers, strictly: what could be read in two ways is refused.
// It must not know which setting it reads.
#include "config/scalar.h"

#include <array>
#include <charconv>

namespace dohmux::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 5> kTimeUnits{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 5> kSizeUnits{
    {{"B", 1}, {"KiB", 1ULL << 10U}, {"MiB", 1ULL << 20U}, {"GiB", 1ULL << 30U}, {"TiB", 1ULL << 40U}}};
constexpr std::uint64_t kMaxDuration = 3650ULL * 86'400'000;
constexpr std::string_view kDigits = "0123456789";

}  // namespace

std::optional<std::uint64_t> parse_integer(std::string_view text) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (text.empty() || (text.size() > 1 && text.front() == '0') || error != std::errc{} || end != last) {
    return std::nullopt;
  }
  return value;
}

std::optional<Milliseconds> parse_duration(std::string_view text) {
  std::uint64_t total = 0;
  std::size_t next_unit = 0;  // units must come in this order
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
    const auto number = parse_integer(text.substr(0, digits));
    text.remove_prefix(digits);
    const std::string_view name = text.substr(0, text.find_first_of(kDigits));
    text.remove_prefix(name.size());
    while (next_unit < kTimeUnits.size() && kTimeUnits.at(next_unit).name != name) {
      ++next_unit;
    }
    if (!number || next_unit == kTimeUnits.size() || *number > kMaxDuration / kTimeUnits.at(next_unit).factor) {
      return std::nullopt;
    }
    total += *number * kTimeUnits.at(next_unit++).factor;
  }
  return total > kMaxDuration ? std::nullopt : std::optional(Milliseconds(total));
}

std::string format_duration(Milliseconds duration) {
  auto rest = static_cast<std::uint64_t>(duration.count());
  if (rest % 1000 != 0) {
    return std::to_string(rest) + "ms";
  }
  std::string text;
  for (const Unit& unit : kTimeUnits) {
    if (const std::uint64_t whole = rest / unit.factor; whole > 0) {
      text += std::to_string(whole) + std::string(unit.name);
      rest %= unit.factor;
    }
  }
  return text.empty() ? "0s" : text;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const auto number = parse_integer(text.substr(0, digits));
  for (const Unit& unit : kSizeUnits) {
    if (number && text.substr(digits) == unit.name && *number <= UINT64_MAX / unit.factor) {
      return *number * unit.factor;
    }
  }
  return std::nullopt;
}

}  // namespace dohmux::config
