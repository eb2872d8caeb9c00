// The libuv that this process runs with.
#pragma once

#include <string>

namespace dohmux::event {
[[nodiscard]] std::string library_version();
}  // namespace dohmux::event
