// YAML text to a tree, within bounds. The only door to yaml-cpp.
#pragma once

#include <expected>
#include <string>

#include "config/node.h"

namespace dohmux::config {

inline constexpr std::size_t kMaxFileBytes = std::size_t{1024} * 1024;
inline constexpr int kMaxDepth = 32;

struct SyntaxError {
  Place place;
  std::string message;
};

/// One document without aliases, tags, binary characters or nesting deeper than kMaxDepth; else the first fault.
/// Duplicate keys are kept: whoever reads the map reports them. An empty document is a Null node.
[[nodiscard]] std::expected<Node, SyntaxError> parse_yaml(const std::string& text);

}  // namespace dohmux::config
