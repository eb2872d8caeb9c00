// The program: words -> configuration -> Forwarder -> exit code (contract.md §4: 0 good, 1 run-time failure, 2 usage or configuration).
// It must not know how queries are answered; it sees the public door only.
#include <dohmux/config_load.h>
#include <dohmux/forwarder.h>
#include <dohmux/report.h>
#include <dohmux/version.h>

#include <csignal>
#include <iostream>

#include "options.h"
#include "systemd.h"

namespace {

using dohmux::LoadedConfig;
using dohmux::LogLevel;
using dohmux::program::Command;
using dohmux::program::Options;

constexpr int kGood = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;

std::expected<LoadedConfig, dohmux::ConfigErrors> load(const Options& options) {
  return options.without_file ? dohmux::config_from_options(options.words) : dohmux::load_config(options.file);
}

int print_errors(const dohmux::ConfigErrors& errors) {
  for (const dohmux::ConfigError& error : errors) {
    std::cerr << error.to_string() << '\n';
  }
  return kUsage;
}

int print_version() {
  const dohmux::LibraryVersions versions = dohmux::library_versions();
  std::cout << "dohmux " << DOHMUX_VERSION << "\nlibcurl " << versions.libcurl << ", nghttp2 " << versions.nghttp2 << ", OpenSSL "
            << versions.openssl << ", libuv " << versions.libuv << '\n';
  return kGood;
}

int check(const Options& options) {
  const auto loaded = load(options);
  if (!loaded) {
    return print_errors(loaded.error());
  }
  for (const dohmux::ConfigWarning& warning : loaded->warnings) {
    std::cerr << options.file << ": warning: " << warning.message << '\n';
  }
  const dohmux::Config& config = loaded->config;
  std::cout << options.file << ": good; listeners " << config.listen.size() << ", proxies " << config.proxies.size() << ", upstreams "
            << config.upstreams.size() << ", groups " << config.groups.size() << '\n';
  return kGood;
}

/// What may surprise whoever starts the daemon: risky settings, and variables that other programs would obey.
void report_start(const LoadedConfig& loaded, const std::vector<std::string>& cleared) {
  for (const dohmux::ConfigWarning& warning : loaded.warnings) {
    if (warning.kind == dohmux::WarningKind::Risk) {
      dohmux::report(loaded.config.log, LogLevel::Warning, warning.message);
    }
  }
  if (!cleared.empty()) {
    std::string names;
    for (const std::string& name : cleared) {
      names += names.empty() ? name : ", " + name;
    }
    dohmux::report(loaded.config.log, LogLevel::Warning,
                   "environment variables are ignored: " + names + "; only the configuration decides the way and the certificates");
  }
}

int run(const Options& options, const std::vector<std::string>& cleared) {
  auto loaded = load(options);
  if (!loaded) {
    return print_errors(loaded.error());
  }
  const dohmux::LogConfig log = loaded->config.log;
  if (const auto usable = dohmux::check_libraries(); !usable) {
    dohmux::report(log, LogLevel::Error, usable.error().text);
    return kFailure;
  }
  report_start(*loaded, cleared);
  auto forwarder = dohmux::Forwarder::start(std::move(loaded->config));
  if (!forwarder) {
    dohmux::report(log, LogLevel::Error, forwarder.error().text);
    return kFailure;
  }
  return (*forwarder)
      ->run([] { dohmux::program::notify_systemd("READY=1\nSTATUS=answering queries"); },
            [] { dohmux::program::notify_systemd("STOPPING=1\nSTATUS=finishing the queries under way"); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> cleared = dohmux::clear_network_environment();  // before anything reads it or starts threads
  if (std::signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
    return kFailure;
  }
  const auto options = dohmux::program::parse_options(argc, argv);
  if (!options) {
    std::cerr << "dohmux: " << options.error() << "; see dohmux --help\n";
    return kUsage;
  }
  switch (options->command) {
    case Command::Help:
      std::cout << options->help;
      return kGood;
    case Command::Version:
      return print_version();
    case Command::Check:
      return check(*options);
    case Command::Run:
      return run(*options, cleared);
  }
  return kUsage;
}
