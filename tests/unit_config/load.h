// Short ways to load a configuration in a test.
#pragma once

#include <dohmux/config_load.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace dohmux::test {

/// The Config of a text that must be good.
inline LoadedConfig good(const std::string& text) {
  auto loaded = parse_config(text, "f");
  if (!loaded) {
    for (const auto& error : loaded.error()) {
      UNSCOPED_INFO(error.to_string());
    }
  }
  REQUIRE(loaded.has_value());
  return *std::move(loaded);
}

/// The printed errors of a text that must be bad.
inline std::vector<std::string> bad(const std::string& text) {
  const auto loaded = parse_config(text, "f");
  REQUIRE_FALSE(loaded.has_value());
  std::vector<std::string> lines;
  for (const auto& error : loaded.error()) {
    lines.push_back(error.to_string());
  }
  return lines;
}

/// A complete file whose first line is `line`.
inline std::string with(const std::string& line) {
  return line + "\nupstreams: https://192.0.2.1/dns-query\n";
}

/// A folder that is removed at the end of the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dohmux-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  /// Writes a file with the given permission bits and returns its full name.
  [[nodiscard]] std::string write(const std::string& name, const std::string& content, unsigned mode = 0600) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary) << content;
    std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
    return file.string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// An environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace dohmux::test
