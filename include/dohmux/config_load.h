// From a file or from command-line words to a Config, or to the list of all that is wrong.
#pragma once

#include <dohmux/config.h>

#include <expected>
#include <string>
#include <vector>

namespace dohmux {

using ConfigErrors = std::vector<ConfigError>;

/// Reads, parses and checks one YAML file. Errors: every one found, sorted by place
/// (a YAML syntax error alone). Reads password files; never opens a socket, never looks up a name.
[[nodiscard]] std::expected<LoadedConfig, ConfigErrors> load_config(const std::string& file);

/// Same, from text; `file` is only used in messages.
[[nodiscard]] std::expected<LoadedConfig, ConfigErrors> parse_config(const std::string& text, const std::string& file);

/// `dohmux run --upstream URL [--address IP] [--proxy URL] [--listen ADDR]`: the way without a file.
struct CommandLineConfig {
  std::vector<std::string> upstreams;
  std::vector<std::string> addresses;  // one per upstream, or none
  std::vector<std::string> proxies;
  std::vector<std::string> listen;
};
[[nodiscard]] std::expected<LoadedConfig, ConfigErrors> config_from_options(const CommandLineConfig& options);

}  // namespace dohmux
