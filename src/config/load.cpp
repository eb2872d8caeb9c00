// The public door of src/config: file or text or options to LoadedConfig (include/dohmux/config_load.h).
// It must not know single settings: it reads, parses, validates, in this order, and hands out everything that was found.
#include <dohmux/config_load.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "config/files.h"
#include "config/parse_yaml.h"
#include "config/readers.h"
#include "config/validate.h"

namespace dohmux {
namespace {

using config::Context;
using config::Diagnostics;
using config::Draft;
using config::Field;
using config::FileMode;

constexpr std::string_view kExample =
    "write one, for example:\n"
    "  listen: [\"127.0.0.1:5053\", \"[::1]:5053\"]\n"
    "  proxies:\n"
    "    - {name: p1, url: \"http://192.0.2.10:3128\"}\n"
    "  upstreams:\n"
    "    - https://dns.quad9.net/dns-query\n"
    "or name another with -c FILE, or start without one: dohmux run --upstream URL";

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name.front() != '\0' ? std::string(name.data()) : std::string("dohmux");
}

std::unexpected<ConfigErrors> one_error(ConfigError error) {
  return std::unexpected(ConfigErrors{std::move(error)});
}

std::expected<LoadedConfig, ConfigErrors> finish(const Draft& draft, Diagnostics& diagnostics) {
  LoadedConfig loaded{config::validate(draft, diagnostics), {}};
  if (diagnostics.failed()) {
    return std::unexpected(diagnostics.take_errors());
  }
  config::warn(draft, loaded.config, diagnostics);
  loaded.config.instance_id = host_name();
  loaded.warnings = diagnostics.take_warnings();
  return loaded;
}

std::expected<LoadedConfig, ConfigErrors> parse(const std::string& text, const std::string& file, FileMode mode) {
  const auto tree = config::parse_yaml(text);
  if (!tree) {
    const auto& fault = tree.error();
    return one_error({file, fault.place.line, fault.place.column, {}, fault.message});
  }
  Diagnostics diagnostics(file);
  const std::size_t slash = file.rfind('/');
  Context context{diagnostics, slash == std::string::npos ? std::string() : file.substr(0, slash + 1), mode};
  Draft draft;
  config::read_file(Field(context, *tree, {}), draft);
  return finish(draft, diagnostics);
}

}  // namespace

std::expected<LoadedConfig, ConfigErrors> load_config(const std::string& file) {
  const auto content = config::read_file_bytes(file, config::kMaxFileBytes);
  if (!content) {
    const bool missing = ::access(file.c_str(), F_OK) != 0;
    return one_error({file,
                      0,
                      0,
                      {},
                      content.error() + "; " + (missing ? std::string(kExample) : std::string("give a readable YAML file with -c FILE"))});
  }
  return parse(content->bytes, file, content->mode);
}

std::expected<LoadedConfig, ConfigErrors> parse_config(const std::string& text, const std::string& file) {
  return parse(text, file, FileMode::Private);
}

std::expected<LoadedConfig, ConfigErrors> config_from_options(const CommandLineConfig& options) {
  Diagnostics diagnostics("");
  return finish(config::read_options(options, diagnostics), diagnostics);
}

}  // namespace dohmux
