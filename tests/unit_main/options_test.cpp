// The command line: commands, where the file's name comes from, and misuse.
#include "main/options.h"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>
#include <vector>

using dohmux::program::Command;
using dohmux::program::kDefaultFile;
using dohmux::program::Options;

namespace {

std::expected<Options, std::string> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "dohmux");
  return dohmux::program::parse_options(static_cast<int>(words.size()), words.data());
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("no word at all runs the daemon with the default file") {
  ::unsetenv("DOHMUX_CONFIG");
  for (const std::vector<const char*>& words : {std::vector<const char*>{}, std::vector<const char*>{"run"}}) {
    const auto options = parse(words);
    REQUIRE(options.has_value());
    CHECK(options->command == Command::Run);
    CHECK(options->file == kDefaultFile);
    CHECK_FALSE(options->without_file);
  }
}

TEST_CASE("the file: -c, then DOHMUX_CONFIG, then the default") {
  ::setenv("DOHMUX_CONFIG", "/env.yaml", 1);
  CHECK(parse({})->file == "/env.yaml");
  CHECK(parse({"-c", "/a.yaml"})->file == "/a.yaml");
  CHECK(parse({"run", "-c", "/a.yaml"})->file == "/a.yaml");
  CHECK(parse({"check", "--config", "/a.yaml"})->file == "/a.yaml");
  CHECK(parse({"-c", "/a.yaml", "check"})->file == "/a.yaml");
  ::setenv("DOHMUX_CONFIG", "", 1);
  CHECK(parse({"check"})->file == kDefaultFile);
  CHECK(parse({"check"})->command == Command::Check);
  ::unsetenv("DOHMUX_CONFIG");
}

TEST_CASE("words instead of a file may be repeated, with and without `run`") {
  const std::vector<const char*> words{"--upstream", "https://a/d", "--address",  "192.0.2.1", "--upstream", "https://b/d", "--address",
                                       "192.0.2.2",  "--proxy",     "http://p:1", "--listen",  ":0",         "--listen",    "127.0.0.1:1"};
  std::vector<const char*> run = words;
  run.insert(run.begin(), "run");
  for (const auto& each : {words, run}) {
    const auto options = parse(each);
    REQUIRE(options.has_value());
    CHECK(options->without_file);
    CHECK(options->words.upstreams == Strings{"https://a/d", "https://b/d"});
    CHECK(options->words.addresses == Strings{"192.0.2.1", "192.0.2.2"});
    CHECK(options->words.proxies == Strings{"http://p:1"});
    CHECK(options->words.listen == Strings{":0", "127.0.0.1:1"});
  }
}

TEST_CASE("misuse is refused") {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"serve"},
                                                {"run", "extra"},
                                                {"--unknown"},
                                                {"-c"},
                                                {"run", "check"},
                                                {"check", "--upstream", "https://a/d"},
                                                {"--upstream", "https://a/d", "check"},
                                                {"-c", "f", "--upstream", "https://a/d"},
                                                {"--upstream"},
                                                {"run", "-x"}}) {
    const auto options = parse(words);
    CHECK_FALSE(options.has_value());
  }
}

TEST_CASE("version and help") {
  CHECK(parse({"--version"})->command == Command::Version);
  CHECK(parse({"-V"})->command == Command::Version);
  const auto help = parse({"--help"});
  REQUIRE(help.has_value());
  CHECK(help->command == Command::Help);
  CHECK(help->help.find("--upstream") != std::string::npos);
  CHECK(parse({"run", "--help"})->command == Command::Help);
}
