// The command line of dohmux-lab.
#pragma once

#include <optional>

#include "support/lab/laboratory.h"

namespace lab {

/// Nothing if the program is to end with `status` at once.
[[nodiscard]] std::optional<LabOptions> read_options(int argc, const char* const* argv, int& status);

}  // namespace lab
