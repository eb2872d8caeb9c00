// The command line of dohmux.
#pragma once

#include <dohmux/config_load.h>

#include <cstdint>
#include <expected>
#include <string>

namespace dohmux::program {

enum class Command : std::uint8_t { Run, Check, Version, Help };

struct Options {
  Command command = Command::Run;
  std::string file;           // of the configuration: -c, else DOHMUX_CONFIG, else kDefaultFile
  CommandLineConfig words;    // of `run` without a file
  bool without_file = false;  // some option of words was given
  std::string help;           // the text, for Command::Help
};

inline constexpr const char* kDefaultFile = "/etc/dohmux/dohmux.yaml";

/// Error: what is wrong with the words, ready to print.
[[nodiscard]] std::expected<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace dohmux::program
