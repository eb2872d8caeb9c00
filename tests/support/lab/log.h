// The lab's log: one JSON object a line, each written by one write(2), so that all processes may share the file.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "support/lab/net.h"

namespace lab {

class LogEntry {
 public:
  LogEntry(std::string_view who, std::string_view event);

  LogEntry& add(std::string_view key, std::string_view text);
  LogEntry& add(std::string_view key, const char* text) { return add(key, std::string_view(text)); }
  LogEntry& add(std::string_view key, std::integral auto number) { return add_raw(key, std::to_string(number)); }

  /// The finished line with its newline.
  [[nodiscard]] std::string line() const { return text_ + "}\n"; }

 private:
  LogEntry& add_raw(std::string_view key, std::string_view value);

  std::string text_;
};

class Log {
 public:
  [[nodiscard]] bool open(const std::string& path);
  void write(const LogEntry& entry) const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

/// `text` as a JSON string with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace lab
