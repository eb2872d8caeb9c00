// Plumbing of the integration tests: HTTP, /proc and waiting. No assertions here.
#include "house.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace dohmux::test {
namespace fs = std::filesystem;
using namespace std::chrono_literals;

House::House(const LabOptions& lab_options, const LabConfig& wishes, const DaemonOptions& daemon_options)
    : lab(lab_options), daemon(with_config(daemon_options, wishes)) {}

DaemonOptions House::with_config(const DaemonOptions& options, const LabConfig& wishes) {
  DaemonOptions out = options;
  LabConfig with_web = wishes;
  with_web.extra += "web: {listen: [\"127.0.0.1:0\"]}\n";
  out.config = lab.config(with_web);
  return out;
}

BatchResult House::ask_many(std::size_t queries, std::size_t in_flight, Protocol protocol) {
  return run_batch({.port = protocol == Protocol::Udp ? daemon.udp_port() : daemon.tcp_port(),
                    .protocol = protocol,
                    .queries = queries,
                    .in_flight = in_flight});
}

std::string House::metrics() {
  return http_get(daemon.web_port(), "/metrics");
}

long House::metric(const std::string& start) {
  std::istringstream lines(metrics());
  long sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) {
      sum += std::stol(line.substr(line.rfind(' ') + 1));
    }
  }
  return sum;
}

std::string House::exit_of(const std::string& upstream) {
  const std::string start = "dohmux_upstream_proxy_info{upstream=\"" + upstream + "\",proxy=\"";
  std::istringstream lines(metrics());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) {
      return line.substr(start.size(), line.find('"', start.size()) - start.size());
    }
  }
  return {};
}

bool House::wait_for(const std::string& party, const std::string& key, long wanted) {
  for (int i = 0; i < 100 * kSlack; ++i) {
    if (lab.count(party, key) >= wanted) {
      return true;
    }
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

bool House::wait_for_connections(long wanted) {
  for (int i = 0; i < 100 * kSlack; ++i) {
    if (metric("dohmux_connections_open{") >= wanted) {
      return true;
    }
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

std::string http_get(std::uint16_t port, const std::string& path) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string text;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
      char buffer[16384];
      for (ssize_t got = 0; (got = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(got));
      }
    }
  }
  ::close(fd);
  const std::size_t body = text.find("\r\n\r\n");
  return body == std::string::npos ? std::string{} : text.substr(body + 4);
}

namespace {

long status_value(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key + ":")) {
      return std::stol(line.substr(key.size() + 1));
    }
  }
  return -1;
}

}  // namespace

long proc_status(pid_t pid, const std::string& key) {
  return status_value("/proc/" + std::to_string(pid) + "/status", key);
}

long voluntary_switches(pid_t pid) {
  long sum = 0;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    sum += status_value(task.path() / "status", "voluntary_ctxt_switches");
  }
  return sum;
}

long open_descriptors(pid_t pid) {
  long count = 0;
  for ([[maybe_unused]] const auto& one : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    ++count;
  }
  return count;
}

}  // namespace dohmux::test
