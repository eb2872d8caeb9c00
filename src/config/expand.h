// ${NAME} inside one scalar, after parsing, so that a value can never change the structure of the file.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace dohmux::config {

struct Expansion {
  std::string value;
  bool from_environment = false;  // some part came from a variable or its default: never print `value`
  bool literal = false;           // some part is written in the file itself
};

/// `${NAME}` the variable, an error if unset; `${NAME:-x}` x if unset or empty; `$$` a dollar; any other `$` stays.
/// The result is not scanned again. The error names the variable and the remedy, never a value.
[[nodiscard]] std::expected<Expansion, std::string> expand(std::string_view text);

}  // namespace dohmux::config
