// Sets a lab up: ports, certificates, processes, files.
// Must not know the words of the commands; commands.cpp has them.
#include "support/lab/laboratory.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <fstream>

namespace lab {

Result<void> Decoy::start(std::uint16_t port) {
  auto reserved = reserve_port(port);
  if (!reserved) {
    return std::unexpected(reserved.error());
  }
  port_ = std::move(*reserved);
  auto listener = listen_on(port_.port);
  if (!listener) {
    return std::unexpected(listener.error());
  }
  listener_ = std::move(*listener);
  loop_.watch(listener_.get(), EPOLLIN, *this);
  return {};
}

void Decoy::on_ready(std::uint32_t /*events*/) {
  sockaddr_in peer{};
  while (accept_from(listener_.get(), peer).valid()) {
    ++accepts_;
    log_.write(LogEntry("decoy", "accept"));
  }
}

Laboratory::Laboratory(LabOptions options, Loop& loop) : options_(std::move(options)), loop_(loop), decoy_(loop, log_) {}

Laboratory::~Laboratory() = default;

std::uint16_t Laboratory::port_number(std::size_t offset) const {
  return options_.base_port == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(options_.base_port + offset);
}

Result<void> Laboratory::make_parties() {
  for (std::size_t i = 1; i <= options_.resolvers; ++i) {
    auto port = reserve_port(port_number(i - 1));
    if (!port) {
      return std::unexpected(port.error());
    }
    resolvers_.push_back(std::make_unique<Resolver>(*around_, i, std::move(*port)));
    const Resolver& resolver = *resolvers_.back();
    destinations_[fmt::format("{}:{}", resolver.host(), resolver.port())] = {resolver.name(), resolver.port()};
  }
  for (std::size_t i = 1; i <= options_.proxies; ++i) {
    auto port = reserve_port(port_number(options_.resolvers + i - 1));
    if (!port) {
      return std::unexpected(port.error());
    }
    ProxySetup setup;
    setup.index = i;
    setup.destinations = &destinations_;
    setup.log = &log_;
    proxies_.push_back(std::make_unique<ProxyProcess>(setup, std::move(*port)));
  }
  return decoy_.start(port_number(options_.resolvers + options_.proxies));
}

Result<void> Laboratory::start() {
  if (!log_.open(options_.dir + "/log.jsonl")) {
    return std::unexpected("cannot write " + options_.dir + "/log.jsonl");
  }
  std::vector<std::string> names = {"*.lab.example"};
  for (std::size_t i = 1; i <= options_.resolvers; ++i) {
    names.push_back(fmt::format("r{}.lab.example", i));
  }
  auto authority = CertificateAuthority::create(names);
  if (!authority) {
    return std::unexpected(authority.error());
  }
  authority_ = std::make_unique<CertificateAuthority>(std::move(*authority));
  around_ = std::make_unique<Surroundings>(Surroundings{loop_, log_, *authority_, names_, options_.rtt, options_.proxies});
  if (auto made = make_parties(); !made) {
    return made;
  }
  for (auto& proxy : proxies_) {
    if (auto started = proxy->start(); !started) {
      return started;
    }
  }
  for (auto& resolver : resolvers_) {
    if (auto started = resolver->start(); !started) {
      return started;
    }
  }
  if (auto written = write_files(); !written) {
    return written;
  }
  return run_script();
}

Result<void> Laboratory::write_files() const {
  std::ofstream(options_.dir + "/ca.pem") << authority_->root_pem();
  std::ofstream config(options_.dir + "/dohmux.yaml");
  config << daemon_config();
  config.close();
  return config ? Result<void>{} : std::unexpected("cannot write " + options_.dir + "/dohmux.yaml");
}

std::string Laboratory::daemon_config() const {
  std::string text = "# Written by dohmux-lab: a daemon for its resolvers and proxies.\nlisten: [\"127.0.0.1:0\"]\n";
  text += proxies_.empty() ? "" : "proxies:\n";
  for (const auto& proxy : proxies_) {
    text += fmt::format("  - {{name: {}, url: \"http://127.0.0.1:{}\"}}\n", proxy->name(), proxy->port());
  }
  text += "upstreams:\n";
  std::string names;
  for (const auto& resolver : resolvers_) {
    text += fmt::format("  - {{name: {}, url: \"https://{}:{}/dns-query\", addresses: [127.0.0.1], tls: {{ca: [\"{}/ca.pem\"]}}}}\n",
                        resolver->name(), resolver->host(), resolver->port(), options_.dir);
    names += (names.empty() ? "" : ", ") + resolver->name();
  }
  text += fmt::format("groups:\n  - {{name: default, upstreams: [{}], strategy: round_robin}}\n", names);
  return text + "web: {listen: [\"127.0.0.1:0\"]}\n";
}

Result<void> Laboratory::run_script() {
  if (options_.script.empty()) {
    return {};
  }
  std::ifstream script(options_.script);
  if (!script) {
    return std::unexpected("cannot read " + options_.script);
  }
  std::string line;
  for (int number = 1; std::getline(script, line); ++number) {
    const std::string first = execute(line).front();
    if (first != "ok") {
      return std::unexpected(fmt::format("{}:{}: {}", options_.script, number, first));
    }
  }
  return {};
}

void Laboratory::reap() {
  for (;;) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid <= 0) {
      return;
    }
    for (auto& proxy : proxies_) {
      proxy->on_exit(pid);
    }
  }
}

}  // namespace lab
