// Where errors and warnings of one load are collected, and the words they are made of.
#pragma once

#include <dohmux/config.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace dohmux::config {

/// A place and the path of the setting that is there.
struct Where {
  Place place;
  std::string path;
};

/// All that is said about one file.
class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  /// `message`: "what is wrong; what would be right". It must not hold secrets or expanded values: see shown().
  void error(const Where& where, std::string message);
  void warning(std::string message, WarningKind kind = WarningKind::Risk);

  [[nodiscard]] bool failed() const { return !errors_.empty(); }
  /// An error stands at that top-level key or below it, or at an unknown key that may have been meant for it.
  [[nodiscard]] bool failed_about(std::string_view key) const;
  /// Sorted by place; what has no place comes first, in the order of discovery.
  [[nodiscard]] std::vector<ConfigError> take_errors();
  [[nodiscard]] std::vector<ConfigWarning> take_warnings() { return std::move(warnings_); }

 private:
  std::string file_;
  std::vector<ConfigError> errors_;
  std::vector<ConfigWarning> warnings_;
};

/// `text` in quotes for a message: escaped, shortened, without what stands before an '@' (credentials of a URL) and
/// without the defaults of ${NAME:-default}.
[[nodiscard]] std::string shown(std::string_view text);

/// ` (did you mean "x"?)` with the nearest of `candidates`, or nothing if none is near.
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string> candidates);

/// "a, b, c"
[[nodiscard]] std::string join(std::span<const std::string> words);

/// `parent.key`, with quotes around keys that are not plain words.
[[nodiscard]] std::string join_path(std::string_view parent, std::string_view key);

}  // namespace dohmux::config
