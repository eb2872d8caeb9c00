// Drives the daemon from outside: command line, configuration file, what it prints.
// Must not include anything of it.
#include "support/daemon.h"

#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace dohmux::test {

namespace {

constexpr std::chrono::seconds kStartLimit{20};

Process start(const DaemonOptions& options, const std::string& file) {
  std::vector<std::string> words = options.wrapper;
  words.push_back(daemon_program());
  words.emplace_back("run");
  if (!file.empty()) {
    words.insert(words.end(), {"-c", file});
  }
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  return Process({words.front(), {words.begin() + 1, words.end()}, options.environment});
}

// "… listening on 127.0.0.1:4711 udp …" -> 4711
std::uint16_t port_before(const std::string& line, const std::string& protocol) {
  const std::size_t end = line.find(" " + protocol, line.find("listening on "));
  const std::size_t colon = end == std::string::npos ? end : line.rfind(':', end);
  std::uint16_t port = 0;
  if (colon != std::string::npos) {
    std::from_chars(line.data() + colon + 1, line.data() + end, port);
  }
  return port;
}

std::uint16_t port_in(const std::string& printed, const std::string& protocol) {
  for (const std::string& line : lines_of(printed)) {
    const std::uint16_t port = line.find("listening on ") == std::string::npos ? std::uint16_t{0} : port_before(line, protocol);
    if (port != 0) {
      return port;
    }
  }
  return 0;
}

}  // namespace

std::string daemon_program() {
  return DOHMUX_PROGRAM;
}

std::string temporary_file(const std::string& text) {
  std::string path = (std::filesystem::temp_directory_path() / "dohmux-test-XXXXXX").string();
  const int fd = ::mkstemp(path.data());
  ::close(fd);
  std::ofstream(path) << text;
  return path;
}

Daemon::Daemon(const DaemonOptions& options)
    : file_(options.config.empty() ? "" : temporary_file(options.config)), process_(start(options, file_)) {
  udp_ = port_from_line("udp");
  tcp_ = udp_ == 0 ? std::uint16_t{0} : port_from_line("tcp");
  for (const char* word : {"web", "http"}) {
    if (web_ == 0 && printed().find(std::string(" ") + word) != std::string::npos) {
      web_ = port_in(printed(), word);
    }
  }
}

Daemon::~Daemon() {
  if (!file_.empty()) {
    std::filesystem::remove(file_);
  }
}

// Several listeners share a line's form, so every line is looked at until one names the protocol.
std::uint16_t Daemon::port_from_line(const std::string& protocol) {
  const auto end = std::chrono::steady_clock::now() + kStartLimit;
  do {
    if (!process_.wait_for_line("listening on ", std::chrono::milliseconds(20)) && !process_.running()) {
      return 0;
    }
    if (const std::uint16_t port = port_in(printed(), protocol); port != 0) {
      return port;
    }
    ::usleep(2000);
  } while (std::chrono::steady_clock::now() < end);
  return 0;
}

std::optional<int> Daemon::stop(std::chrono::milliseconds limit) {
  process_.signal(SIGTERM);
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer holds signals back until the program calls into it again; about one in a hundred that arrives just
  // before the loop sleeps is then not seen. Asked once more, the daemon hears both.
  if (const auto code = process_.wait(limit / 3)) {
    return code;
  }
  process_.signal(SIGTERM);
#endif
  return process_.wait(limit);
}

}  // namespace dohmux::test
