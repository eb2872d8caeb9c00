// Child processes for tests.
// Must not know which programs these are.
#include "support/process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <utility>

extern char** environ;  // NOLINT: POSIX

namespace dohmux::test {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{2};

std::string content_of(int fd) {
  struct stat info{};
  if (fd < 0 || ::fstat(fd, &info) != 0) {
    return {};
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t length = ::pread(fd, text.data(), text.size(), 0);
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    if (!changes.contains(text.substr(0, text.find('=')))) {
      merged.push_back(text);
    }
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) {
      merged.push_back(name);
      merged.back().append("=").append(value);
    }
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

// A whole line with `text` in it.
std::optional<std::string> line_with(std::string_view all, std::string_view text) {
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = all.find('\n', begin);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view line = all.substr(begin, end - begin);
    if (line.find(text) != std::string_view::npos) {
      return std::string(line);
    }
    begin = end + 1;
  }
}

// Between fork and exec only async-signal-safe calls are allowed.
[[noreturn]] void become(const std::vector<char*>& argv, const std::vector<char*>& envp, int output, int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || ::dup2(input, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0 || ::dup2(errors, STDERR_FILENO) < 0) {
    ::_exit(127);
  }
  ::execvpe(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

pid_t spawn(const Process::Command& command, int output, int errors) {
  std::vector<std::string> words = {command.program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> variables = merged_environment(command.environment);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(variables);
  const pid_t child = ::fork();
  if (child == 0) {
    become(argv, envp, output, errors);
  }
  return child;
}

int memory_file(const char* name) {
  const int fd = ::memfd_create(name, MFD_CLOEXEC);
  ::fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

}  // namespace

Process::Process(const Command& command)
    : output_(memory_file("stdout")), errors_(memory_file("stderr")), pid_(spawn(command, output_, errors_)) {}

Process::Process(Process&& other) noexcept
    : output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      pid_(std::exchange(other.pid_, -1)),
      status_(other.status_) {}

Process::~Process() {
  if (running()) {
    ::kill(pid_, SIGKILL);
    reap(0);
  }
  for (const int fd : {output_, errors_}) {
    if (fd >= 0) {
      ::close(fd);
    }
  }
}

void Process::reap(int options) {
  int status = 0;
  if (pid_ > 0 && !status_ && ::waitpid(pid_, &status, options) == pid_) {
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

bool Process::running() {
  reap(WNOHANG);
  return pid_ > 0 && !status_;
}

void Process::signal(int number) const {
  if (pid_ > 0 && !status_) {
    ::kill(pid_, number);
  }
}

std::optional<int> Process::wait(Millis limit) {
  const auto end = Clock::now() + limit;
  while (running() && Clock::now() < end) {
    std::this_thread::sleep_for(kTick);
  }
  return status_;
}

std::optional<std::string> Process::wait_for_line(std::string_view text, Millis limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    const bool last = !running() || Clock::now() >= end;  // looked at before the text: nothing printed later is missed
    for (const int fd : {output_, errors_}) {
      if (auto line = line_with(content_of(fd), text)) {
        return line;
      }
    }
    if (last) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(kTick);
  }
}

std::string Process::output() const {
  return content_of(output_);
}

std::string Process::errors() const {
  return content_of(errors_);
}

Outcome run(const Process::Command& command, Process::Millis limit) {
  Process process(command);
  const auto status = process.wait(limit);
  return {status, process.output(), process.errors()};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace dohmux::test
