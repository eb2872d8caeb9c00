// Sorting of errors, quoting of values in messages, and nearest names. It must not know any setting.
#include "config/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

namespace dohmux {

std::string ConfigError::to_string() const {
  std::string text;
  if (!file.empty()) {
    text += file + ":";
    if (line > 0) {
      text += std::to_string(line) + ":" + std::to_string(column) + ":";
    }
    text += " ";
  }
  if (!path.empty()) {
    text += path + ": ";
  }
  return text + message;
}

}  // namespace dohmux

namespace dohmux::config {
namespace {

constexpr std::size_t kMaxShown = 60;        // octets of a value in a message
constexpr std::size_t kMaxCandidates = 256;  // names looked at for a hint

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

/// "http://user:secret@host" -> "http://…@host"
std::string without_credentials(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) {
    return std::string(text);
  }
  const std::size_t scheme = text.find("://");
  const std::size_t kept = scheme < at ? scheme + 3 : 0;
  return std::string(text.substr(0, kept)) + "…" + std::string(text.substr(at));
}

/// "${NAME:-default}" -> "${NAME:-…}"
std::string without_defaults(std::string text) {
  std::size_t from = 0;
  while ((from = text.find(":-", from)) != std::string::npos) {
    from += 2;
    if (text.rfind("${", from) == std::string::npos) {
      continue;
    }
    text.replace(from, std::min(text.find('}', from), text.size()) - from, "…");
  }
  return text;
}

/// Levenshtein distance without case, where swapping two neighbours counts as one step. Both at most kMaxShown long.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  using Row = std::array<std::size_t, kMaxShown + 1>;
  Row before{};  // two letters of `a` ago
  Row previous{};
  Row row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(previous, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::size_t gap(std::size_t a, std::size_t b) {
  return a > b ? a - b : b - a;
}

bool is_word(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

}  // namespace

bool Diagnostics::failed_about(std::string_view key) const {
  const std::string meant = fmt::format("(did you mean \"{}\"?)", key);
  return std::ranges::any_of(errors_, [&](const ConfigError& error) {
    return error.path.starts_with(key) || (error.path.find('.') == std::string::npos && error.message.ends_with(meant));
  });
}

void Diagnostics::error(const Where& where, std::string message) {
  errors_.push_back({file_, where.place.line, where.place.column, where.path, std::move(message)});
}

void Diagnostics::warning(std::string message, WarningKind kind) {
  warnings_.push_back({std::move(message), kind});
}

std::vector<ConfigError> Diagnostics::take_errors() {
  std::stable_sort(errors_.begin(), errors_.end(),
                   [](const ConfigError& a, const ConfigError& b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); });
  return std::move(errors_);
}

std::string shown(std::string_view text) {
  std::string value = without_defaults(without_credentials(text));
  if (value.size() > kMaxShown) {
    std::size_t end = kMaxShown;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0U) == 0x80U) {  // not inside a UTF-8 sequence
      --end;
    }
    value = value.substr(0, end) + "…";
  }
  return "\"" + escaped(value) + "\"";
}

std::string did_you_mean(std::string_view text, std::span<const std::string> candidates) {
  if (text.empty() || text.size() > kMaxShown) {
    return {};
  }
  std::size_t best = std::max<std::size_t>(1, text.size() / 3) + 1;
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates.first(std::min(candidates.size(), kMaxCandidates))) {
    if (candidate.size() > kMaxShown || candidate == text || gap(candidate.size(), text.size()) >= best) {
      continue;
    }
    if (const std::size_t steps = distance(text, candidate); steps < best && steps < candidate.size()) {
      best = steps;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? std::string() : fmt::format(" (did you mean \"{}\"?)", escaped(*nearest));
}

std::string join(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? word : ", " + word;
  }
  return text;
}

std::string join_path(std::string_view parent, std::string_view key) {
  const std::string shown_key = is_word(key) ? std::string(key) : shown(key);
  return parent.empty() ? shown_key : std::string(parent) + "." + shown_key;
}

}  // namespace dohmux::config
