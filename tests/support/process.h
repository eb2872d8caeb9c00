// Starts a program, keeps what it prints, signals it by its process id, and never leaves it behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dohmux::test {

class Process {
 public:
  using Millis = std::chrono::milliseconds;
  struct Command {
    std::string program;  // path, or a name to be found in PATH
    std::vector<std::string> arguments;
    std::map<std::string, std::string> environment;  // added to ours; an empty value removes the variable
  };

  explicit Process(const Command& command);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills it if it still runs.
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running();
  void signal(int number) const;
  /// Its exit code, 128 + signal if one ended it (127: could not be started), or nothing after `limit`.
  [[nodiscard]] std::optional<int> wait(Millis limit);
  /// The first whole line on stdout or stderr that contains `text`; nothing if it does not come or the program ends without it.
  [[nodiscard]] std::optional<std::string> wait_for_line(std::string_view text, Millis limit);

  [[nodiscard]] std::string output() const;  // stdout so far
  [[nodiscard]] std::string errors() const;  // stderr so far

 private:
  void reap(int options);

  int output_ = -1;  // files in memory: a program that prints much is never held up by us
  int errors_ = -1;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

/// Runs a program to its end.
struct Outcome {
  std::optional<int> status;  // nothing: it was killed after the limit
  std::string output;
  std::string errors;
};
[[nodiscard]] Outcome run(const Process::Command& command, Process::Millis limit = std::chrono::seconds(30));

[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);

}  // namespace dohmux::test
