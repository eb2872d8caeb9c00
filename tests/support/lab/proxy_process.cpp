// Starts, commands, stops and kills a proxy's process.
// Must not know what a proxy does. Counters are in shared memory, so that they survive a kill.
#include "support/lab/proxy_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

namespace lab {

namespace {

constexpr int kReplyMillis = 3000;

ProxyCounters* shared_counters() {
  void* memory = ::mmap(nullptr, sizeof(ProxyCounters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) ProxyCounters();
}

// Everything but stdio and what the proxy needs; the parent's sockets must not stay open in its children.
void close_others(std::array<int, 3> keep) {
  const auto limit = static_cast<int>(::sysconf(_SC_OPEN_MAX));
  std::ranges::sort(keep);
  int from = STDERR_FILENO + 1;
  for (const int fd : keep) {
    if (fd > from) {
      ::close_range(static_cast<unsigned>(from), static_cast<unsigned>(fd - 1), 0);
    }
    from = std::max(from, fd + 1);
  }
  ::close_range(static_cast<unsigned>(from), static_cast<unsigned>(std::max(limit, from)), 0);
}

}  // namespace

void ProxyProcess::Unmap::operator()(ProxyCounters* counters) const {
  ::munmap(counters, sizeof(ProxyCounters));
}

ProxyProcess::ProxyProcess(ProxySetup setup, ReservedPort port)
    : setup_(setup), name_(fmt::format("p{}", setup.index)), port_(std::move(port)), counters_(shared_counters()) {
  setup_.port = port_.port;
  setup_.counters = counters_.get();
}

ProxyProcess::~ProxyProcess() {
  kill();
}

Result<void> ProxyProcess::start() {
  auto listener = listen_on(port_.port);
  if (!listener || !counters_) {
    return std::unexpected(listener ? "no shared memory" : listener.error());
  }
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return std::unexpected(fmt::format("socketpair: {}", std::strerror(errno)));
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return std::unexpected(fmt::format("fork: {}", std::strerror(errno)));
  }
  if (child == 0) {
    run_child(std::move(*listener), std::move(theirs));
  }
  pid_ = child;
  stopped_ = false;
  channel_ = std::move(ours);
  setup_.log->write(LogEntry(name_, "started").add("pid", pid_));
  return {};
}

void ProxyProcess::run_child(UniqueFd listener, UniqueFd channel) const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, name_.c_str());
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGINT, SIG_IGN);  // a terminal's ^C is for the parent, which then kills us
  close_others({listener.get(), channel.get(), setup_.log->fd()});
  {
    ProxyServer server(setup_, std::move(listener), std::move(channel));
    server.run();
  }
  ::_exit(0);
}

Result<void> ProxyProcess::tell(const Words& words) {
  const std::string line = fmt::format("{}", fmt::join(words, " "));
  if (::send(channel_.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) {
    return std::unexpected(fmt::format("{} does not listen: {}", name_, std::strerror(errno)));
  }
  pollfd ready{.fd = channel_.get(), .events = POLLIN, .revents = 0};
  std::array<char, 512> buffer{};
  if (::poll(&ready, 1, kReplyMillis) != 1) {
    return std::unexpected(name_ + " does not reply");
  }
  const ssize_t length = ::recv(channel_.get(), buffer.data(), buffer.size(), 0);
  const std::string reply(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  if (reply != "ok") {
    return std::unexpected(reply.starts_with("error: ") ? reply.substr(7) : name_ + " has ended");
  }
  return {};
}

Result<void> ProxyProcess::apply(const Words& words) {
  const std::string word = words.empty() ? std::string() : words[0];
  if (word == "kill") {
    kill();
    return {};
  }
  if (word == "restart") {
    kill();
    return start();
  }
  if (word == "stop") {
    if (pid_ > 0) {
      ::kill(pid_, SIGSTOP);
      stopped_ = true;
      setup_.log->write(LogEntry(name_, "stopped"));
    }
    return {};
  }
  resume();
  if (word == "cont") {
    return {};
  }
  if (pid_ <= 0) {
    if (auto started = start(); !started) {
      return started;
    }
  }
  return tell(words);
}

void ProxyProcess::resume() {
  if (stopped_ && pid_ > 0) {
    ::kill(pid_, SIGCONT);
    setup_.log->write(LogEntry(name_, "continued"));
  }
  stopped_ = false;
}

void ProxyProcess::kill() {
  if (pid_ <= 0) {
    return;
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  on_exit(pid_);
}

void ProxyProcess::on_exit(pid_t pid) {
  if (pid != pid_) {
    return;
  }
  setup_.log->write(LogEntry(name_, "ended").add("pid", pid_));
  pid_ = 0;
  stopped_ = false;
  channel_ = UniqueFd();
  counters_->open.store(0);
}

}  // namespace lab
