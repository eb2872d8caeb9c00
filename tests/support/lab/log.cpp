// Writes the lab's JSON lines.
// Must not know what the events mean; knows JSON escaping and the clock.
#include "support/lab/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace lab {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (octet < 0x20 || octet >= 0x7f) {
      out += fmt::format("\\u{:04x}", octet);
    } else {
      out += c;
    }
  }
  return out + '"';
}

LogEntry::LogEntry(std::string_view who, std::string_view event) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  text_ = fmt::format(R"({{"ts":{}.{:06},"who":"{}","event":"{}")", micros / 1'000'000, micros % 1'000'000, who, event);
}

LogEntry& LogEntry::add(std::string_view key, std::string_view text) {
  return add_raw(key, json_string(text));
}

LogEntry& LogEntry::add_raw(std::string_view key, std::string_view value) {
  text_ += fmt::format(",\"{}\":{}", key, value);
  return *this;
}

bool Log::open(const std::string& path) {
  fd_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  return fd_.valid();
}

void Log::write(const LogEntry& entry) const {
  if (!fd_.valid()) {
    return;
  }
  const std::string line = entry.line();
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), line.data(), line.size());
}

}  // namespace lab
