// Log lines. fmt is the formatter of the whole program (docs/decisions/0001).
// Names of queries and client addresses never go here; they go to the query log (log.queries).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace dohmux::log {

enum class Level : std::uint8_t { Error, Warning, Info, Debug, Trace };
enum class Format : std::uint8_t { Text, Json };

/// Before the first line; again at will. Lines go to standard error.
void configure(Level level, Format format);
[[nodiscard]] bool enabled(Level level);
/// One line. In JSON: {"ts":…,"level":…,"component":…,"msg":…}.
void write(Level level, std::string_view component, std::string_view message);
/// One line as it is, whatever the level: a query-log object.
void write_raw(std::string_view line);
/// `text` as the inside of a JSON string.
[[nodiscard]] std::string json_escape(std::string_view text);

template <typename... Args>
void error(std::string_view component, fmt::format_string<Args...> text, Args&&... args) {
  write(Level::Error, component, fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(std::string_view component, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::Warning)) {
    write(Level::Warning, component, fmt::format(text, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void info(std::string_view component, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::Info)) {
    write(Level::Info, component, fmt::format(text, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void debug(std::string_view component, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::Debug)) {
    write(Level::Debug, component, fmt::format(text, std::forward<Args>(args)...));
  }
}

}  // namespace dohmux::log
