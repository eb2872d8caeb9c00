// Reads the command line and explains the commands.
// Must not know how anything is done.
#include "support/lab/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

namespace lab {

namespace {

constexpr const char* kFooter = R"(
Resolver i is rI.lab.example on 127.0.0.1; proxies know these names and nothing else, and come from 127.0.1.J.
Written to DIR: ca.pem, dohmux.yaml (a daemon for this lab), log.jsonl, control.sock.

Commands, in the script and on the control socket, one a line (replies end with a line "."):
  resolver R|* FAULT     proxy P|* FAULT     name SUFFIX FAULT     at DURATION COMMAND
  clear     stats [json|reset]     pids     quit
Faults of one party add up until "ok"; faults that can wear out take times=N as their last word.
  of resolvers, connections: ok refuse stall close stall-tls h1 rtt D max-streams N idle-close D cut N goaway [N] goaway-close [N]
      cert good|expired|wrong-name|self-signed     at once: goaway-all drop-all reset-all freeze-all
  of resolvers and names, answers: delay D hang half rst CODE [COUNT] half-rst CODE [COUNT] drop status CODE [HEADER: VALUE]
      retry-after V header NAME: VALUE type [CT] age N empty junk big N wrong-id wrong-question qr0 tc ad rcode N servfail ede CODE [TEXT]
  of proxies: ok refuse stall stall-connect close close-after-200 garbage 407 auth USER:PASS status CODE [R] delay D cut N
      at once: cut-all freeze-all kill restart stop cont
Names ask for themselves: first label d250 (delay in ms), size3000 (octets), nx..., nodata...; any label ttl60.
)";

std::optional<std::string> make_directory(const std::string& wanted) {
  if (wanted.empty()) {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = (base != nullptr && *base != '\0' ? std::string(base) : std::string("/tmp")) + "/dohmux-lab-XXXXXX";
    return ::mkdtemp(pattern.data()) != nullptr ? std::optional(pattern) : std::nullopt;
  }
  std::error_code error;
  std::filesystem::create_directories(wanted, error);
  const std::string absolute = std::filesystem::absolute(wanted, error).string();
  return error ? std::nullopt : std::optional(absolute);
}

}  // namespace

std::optional<LabOptions> read_options(int argc, const char* const* argv, int& status) {
  LabOptions options;
  std::string rtt = "0ms";
  CLI::App app("A laboratory on loopback: DoH resolvers and CONNECT proxies with faults on demand.", "dohmux-lab");
  app.footer(kFooter);
  app.add_option("--resolvers", options.resolvers, "how many resolvers")->capture_default_str()->check(CLI::Range(1, 200));
  app.add_option("--proxies", options.proxies, "how many proxies")->capture_default_str()->check(CLI::Range(0, 100));
  app.add_option("--port", options.base_port, "first port; 0: any free ones")->capture_default_str();
  app.add_option("--rtt", rtt, "emulated round trip to every resolver, e.g. 25ms")->capture_default_str();
  app.add_option("--script", options.script, "commands to run at start");
  app.add_option("--dir", options.dir, "where files go; default: a new temporary directory, removed at the end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  const auto duration = to_millis(rtt);
  const auto directory = duration ? make_directory(options.dir) : std::nullopt;
  if (!directory) {
    fmt::print(stderr, "dohmux-lab: {}\n", duration ? "cannot make the directory" : "--rtt: a duration such as 25ms is needed");
    status = 2;
    return std::nullopt;
  }
  options.rtt = *duration;
  options.remove_dir = options.dir.empty();
  options.dir = *directory;
  return options;
}

}  // namespace lab
