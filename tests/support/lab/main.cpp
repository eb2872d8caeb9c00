// dohmux-lab: starts a laboratory, says so in one line, and serves until it is told to end.
// Must not know what is in the laboratory; only its life and the signals.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "support/lab/control.h"
#include "support/lab/laboratory.h"
#include "support/lab/options.h"

namespace lab {

namespace {

class Signals final : public Pollable {
 public:
  Signals(Laboratory& laboratory, Loop& loop) : laboratory_(laboratory), loop_(loop) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) {
      sigaddset(&set, signal);
    }
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = UniqueFd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
    loop_.watch(fd_.get(), EPOLLIN, *this);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() override { loop_.unwatch(fd_.get()); }

  void on_ready(std::uint32_t /*events*/) override {
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGCHLD) {
        laboratory_.reap();
      } else {
        loop_.stop();
      }
    }
  }

 private:
  Laboratory& laboratory_;
  Loop& loop_;
  UniqueFd fd_;
};

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int serve(const LabOptions& options) {
  Loop loop;
  Laboratory laboratory(options, loop);
  const Signals signals(laboratory, loop);
  ControlServer control(laboratory, loop);
  auto started = laboratory.start();
  if (started) {
    started = control.start(laboratory.control_path());
  }
  if (!started) {
    fmt::print(stderr, "dohmux-lab: {}\n", started.error());
    return 1;
  }
  fmt::print("ready dir={} resolvers={} proxies={} control={}\n", options.dir, options.resolvers, options.proxies,
             laboratory.control_path());
  std::fflush(stdout);
  loop.run();
  return 0;
}

}  // namespace

int run(int argc, const char* const* argv) {
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  int status = 0;
  const auto options = read_options(argc, argv, status);
  if (!options) {
    return status;
  }
  status = serve(*options);
  std::error_code ignored;
  if (options->remove_dir) {
    std::filesystem::remove_all(options->dir, ignored);
  } else {
    std::filesystem::remove(options->dir + "/control.sock", ignored);
  }
  return status;
}

}  // namespace lab

int main(int argc, char** argv) {
  return lab::run(argc, argv);
}
