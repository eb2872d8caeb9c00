// Passwords from files and variables. Values never reach a message.
#pragma once

#include <optional>

#include "config/field.h"

namespace dohmux::config {

inline constexpr std::size_t kMaxSecretBytes = 4096;

/// The content of the file without one final line break. Warns if others may read the file.
[[nodiscard]] std::optional<std::string> read_secret_file(const Field& field);

/// The value of the environment variable that the field names.
[[nodiscard]] std::optional<std::string> read_secret_variable(const Field& field);

/// The text in the field itself; an error if others may read the file that holds it.
[[nodiscard]] std::optional<std::string> read_inline_secret(const Field& field);

}  // namespace dohmux::config
