// Octets, owned and borrowed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dohmux {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;  // does not own; valid for the call unless said otherwise

}  // namespace dohmux
