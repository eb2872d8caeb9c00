// Values by domain name, found by the longest suffix of a name that is a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/bytes.h"
#include "dns/name.h"

namespace dohmux {

/// Names are uncompressed and in wire form; letter case does not matter. A lookup allocates nothing and costs one hash per
/// label. Keys come from the configuration, so nobody outside can make them collide.
template <typename Value>
class NameMap {
 public:
  struct Match {
    const Value* value = nullptr;
    std::size_t size = 0;  // octets at the end of the name that are the key
    explicit operator bool() const { return value != nullptr; }
  };

  /// False if the name is there already; then nothing changes.
  bool add(ByteView name, const Value& value) { return values_.try_emplace(std::string(view(dns::lower_case(name))), value).second; }
  /// The value of this very name, made if it is not there.
  [[nodiscard]] Value& operator[](ByteView name) { return values_[std::string(view(dns::lower_case(name)))]; }

  [[nodiscard]] const Value* find(ByteView name) const {
    const auto found = values_.find(view(name));
    return found == values_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] Match find_longest(ByteView name) const {
    while (!values_.empty() && !name.empty()) {
      if (const Value* value = find(name)) {
        return {.value = value, .size = name.size()};
      }
      const std::size_t label = static_cast<std::size_t>(name.front()) + 1;
      if (label > name.size()) {
        break;
      }
      name = name.subspan(label);
    }
    return {};
  }

  [[nodiscard]] bool empty() const { return values_.empty(); }

 private:
  // The octets of a name as characters: what the standard's transparent lookups take.
  static std::string_view view(ByteView name) {
    return {reinterpret_cast<const char*>(name.data()), name.size()};  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  }
  static std::uint8_t folded(char c) { return dns::ascii_lower(static_cast<std::uint8_t>(c)); }

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
      for (const char c : name) {
        hash = (hash ^ folded(c)) * 0x100000001b3;
      }
      return hash;
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view left, std::string_view right) const {
      return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) { return folded(a) == folded(b); });
    }
  };

  std::unordered_map<std::string, Value, Hash, Equal> values_;
};

}  // namespace dohmux
