// From well-formed values to a Config: defaults, references and the rules between sections.
#pragma once

#include "config/draft.h"

namespace dohmux::config {

/// Reports every broken rule. The result means something only if nothing was reported.
[[nodiscard]] Config validate(const Draft& draft, Diagnostics& diagnostics);

/// The part of validate() for `routes`; listeners must be in `config` already.
void check_routes(const Draft& draft, Diagnostics& diagnostics, Config& config);

/// What is allowed but risky, or unwise (WarningKind::Advice). For a Config without errors.
void warn(const Draft& draft, const Config& config, Diagnostics& diagnostics);

}  // namespace dohmux::config
