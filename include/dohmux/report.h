// Lines that the program itself has to say (warnings of the configuration, refusals of a start), in the log's form.
// Part of the public door: standard headers only.
#pragma once

#include <dohmux/config.h>

#include <string>

namespace dohmux {

/// Puts the level and format of `log` in force for every line from now on.
void apply_log(const LogConfig& log);

/// Puts the level and format of `log` in force and writes one line to standard error.
void report(const LogConfig& log, LogLevel level, const std::string& message);

}  // namespace dohmux
