// Replaces ${NAME} and ${NAME:-default} by the environment's values.
// It must not print a value: what comes from the environment may be a secret.
#include "config/expand.h"

#include <fmt/format.h>

#include <cstdlib>

#include "config/diagnostics.h"

namespace dohmux::config {
namespace {

bool is_name(std::string_view text) {
  constexpr std::string_view kFirst = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  constexpr std::string_view kRest = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  return !text.empty() && kFirst.find(text.front()) != std::string_view::npos && text.find_first_not_of(kRest) == std::string_view::npos;
}

/// Appends what `${inside}` stands for.
std::expected<void, std::string> append_variable(std::string_view inside, Expansion& out) {
  const std::size_t dash = inside.find(":-");
  const std::string name(inside.substr(0, dash));
  if (!is_name(name)) {
    return std::unexpected("holds a ${…} without a proper variable name; write ${NAME} or ${NAME:-default}, and $$ for a dollar");
  }
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): read at start, before threads
  const bool usable = value != nullptr && (*value != '\0' || dash == std::string_view::npos);
  if (!usable && dash == std::string_view::npos) {
    return std::unexpected(fmt::format("the environment variable {0} is not set; set it, or give a default with ${{{0}:-value}}", name));
  }
  out.from_environment = true;
  if (usable) {
    out.value += value;
  } else {
    const std::string_view fallback = inside.substr(dash + 2);
    out.value += fallback;
    out.literal = out.literal || !fallback.empty();
  }
  return {};
}

}  // namespace

std::expected<Expansion, std::string> expand(std::string_view text) {
  Expansion out;
  while (!text.empty()) {
    const std::size_t dollar = text.find('$');
    out.value += text.substr(0, dollar);
    out.literal = out.literal || dollar != 0;
    if (dollar == std::string_view::npos) {
      break;
    }
    text.remove_prefix(dollar);
    if (!text.starts_with("${")) {
      out.value += '$';
      out.literal = true;
      text.remove_prefix(text.starts_with("$$") ? 2 : 1);
      continue;
    }
    const std::size_t end = text.find('}');
    if (end == std::string_view::npos) {
      return std::unexpected("holds a ${ without its }; close it, or write $$ for a dollar");
    }
    if (auto done = append_variable(text.substr(2, end - 2), out); !done) {
      return std::unexpected(done.error());
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace dohmux::config
