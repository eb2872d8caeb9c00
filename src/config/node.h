// The parsed file as a plain tree with places: what the rest of src/config sees instead of YAML.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dohmux::config {

/// 1-based; 0 = unknown (the command line).
struct Place {
  int line = 0;
  int column = 0;
  auto operator<=>(const Place&) const = default;
};

enum class NodeKind : std::uint8_t { Null, Scalar, Sequence, Map };

struct Entry;

/// One value of the file. `text` is the scalar as the file has it, before ${NAME} expansion.
struct Node {
  NodeKind kind = NodeKind::Null;
  Place place;
  std::string text;
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a map, in the file's order; a key may come twice
};

struct Entry {
  std::string key;
  Place place;  // of the key
  Node value;
};

}  // namespace dohmux::config
