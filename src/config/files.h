// Bounded reading of small files.
#pragma once

#include <expected>
#include <string>

#include "config/field.h"

namespace dohmux::config {

struct FileContent {
  std::string bytes;
  FileMode mode = FileMode::Private;  // Shared: the group or others may read it
};

/// Error: "there is no such file", "it is a folder", "permission denied", "larger than N bytes"; without the name.
[[nodiscard]] std::expected<FileContent, std::string> read_file_bytes(const std::string& name, std::size_t max_bytes);

/// `name` as seen from `folder` (empty, or with its final slash), unless absolute.
[[nodiscard]] std::string resolve_name(const std::string& folder, const std::string& name);

}  // namespace dohmux::config
