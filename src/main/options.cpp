// Words of the command line to Options, with CLI11.
// It must not act: printing, loading and running are main.cpp's.
#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace dohmux::program {
namespace {

void add_file(CLI::App& app, Options& options) {
  app.add_option("-c,--config", options.file, std::string("The YAML file; else $DOHMUX_CONFIG, else ") + kDefaultFile)
      ->type_name("FILE")
      ->take_last();
}

void add_words(CLI::App& app, CommandLineConfig& words) {
  // Each use takes one word, so that no option swallows what follows it.
  const auto add = [&app](const std::string& name, std::vector<std::string>& out, const std::string& help) {
    return app.add_option(name, out, help)->allow_extra_args(false)->take_all();
  };
  add("--upstream", words.upstreams, "Without a file: a resolver, https://HOST/dns-query (may be repeated)")->type_name("URL");
  add("--address", words.addresses, "Its numeric address, one for each --upstream")->type_name("IP");
  add("--proxy", words.proxies, "An HTTP CONNECT proxy, http://HOST:PORT (may be repeated)")->type_name("URL");
  add("--listen", words.listen, "Where to answer; 127.0.0.1:5053 and [::1]:5053 by default (may be repeated)")->type_name("ADDRESS");
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before threads
  return value == nullptr ? std::string() : std::string(value);
}

std::expected<Options, std::string> finish(Options options) {
  const CommandLineConfig& words = options.words;
  options.without_file = !words.upstreams.empty() || !words.addresses.empty() || !words.proxies.empty() || !words.listen.empty();
  if (options.without_file && options.command == Command::Check) {
    return std::unexpected("check reads a file: --upstream, --address, --proxy and --listen belong to run");
  }
  if (options.without_file && !options.file.empty()) {
    return std::unexpected("-c FILE and --upstream, --address, --proxy, --listen exclude each other: put all of it into the file");
  }
  if (options.file.empty()) {
    options.file = environment("DOHMUX_CONFIG");
  }
  if (options.file.empty()) {
    options.file = kDefaultFile;
  }
  return options;
}

}  // namespace

std::expected<Options, std::string> parse_options(int argc, const char* const* argv) {
  Options options;
  bool version = false;
  CLI::App app("DNS-over-HTTPS forwarding resolver with pinned CONNECT proxies", "dohmux");
  app.require_subcommand(0, 1);
  app.add_flag("-V,--version", version, "Print the versions of dohmux and its libraries");
  add_file(app, options);
  add_words(app, options.words);
  CLI::App* run = app.add_subcommand("run", "Answer queries until stopped (the default)");
  add_file(*run, options);
  add_words(*run, options.words);
  CLI::App* check = app.add_subcommand("check", "Check a configuration: exit code 0 good, 2 bad");
  add_file(*check, options);
  app.footer("Exit codes: 0 good, 1 run-time failure, 2 usage or configuration. See dohmux(8) and dohmux.yaml(5).");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.command = Command::Help;
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& fault) {  // CLI11 knows no other way to say it
    return std::unexpected(fault.what());
  }
  if (version) {
    options.command = Command::Version;
    return options;
  }
  options.command = *check ? Command::Check : Command::Run;
  return finish(std::move(options));
}

}  // namespace dohmux::program
