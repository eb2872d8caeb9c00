// Plumbing for tests of the real binary. Only require_tool() decides about a test; nothing else here asserts.
#include "tools.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace dohmux::test {
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

bool bind_to(int fd, const std::string& host) {
  const sockaddr_in address = address_of(host, 0);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool readable(int fd, Clock::time_point end) {
  const auto left = std::chrono::duration_cast<Millis>(end - Clock::now()).count();
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(std::clamp<long>(left, 0, 600000))) == 1;
}

}  // namespace

void require_tool(const std::string& program) {
  if (in_path(program)) {
    return;
  }
  if (std::getenv("DOHMUX_CI") != nullptr) {
    FAIL(program << " is not installed; ./dev setup does it");
  }
  SKIP(program << " is not installed");
}

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "dohmux-scratch-XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Scratch::write(const std::string& name, std::string_view text) const {
  std::ofstream(path(name)) << text;
  return path(name);
}

std::string content_of(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::size_t occurrences(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(wanted, at)) != std::string_view::npos; at += wanted.size()) {
    ++count;
  }
  return count;
}

std::vector<std::string> lines_with(std::string_view text, std::string_view wanted) {
  std::vector<std::string> lines = lines_of(text);
  std::erase_if(lines, [wanted](const std::string& line) { return line.find(wanted) == std::string::npos; });
  return lines;
}

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (!bind_to(fd, "127.0.0.1") || ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    address.sin_port = 0;
  }
  ::close(fd);
  return ntohs(address.sin_port);
}

std::string http(std::uint16_t port, const std::string& method, const std::string& path) {
  std::string response;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in to = address_of("127.0.0.1", port);
  const std::string request = method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
      ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    std::array<char, 16384> buffer{};
    for (ssize_t got = 0; readable(fd, Clock::now() + Millis(8000)) && (got = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      response.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(fd);
  return response;
}

TcpClient::TcpClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in to = address_of("127.0.0.1", port);
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

TcpClient::~TcpClient() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

bool TcpClient::send(std::string_view octets) const {
  return ::send(fd_, octets.data(), octets.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(octets.size());
}

void TcpClient::finish() const {
  ::shutdown(fd_, SHUT_WR);
}

bool TcpClient::fill(Clock::time_point end) {
  std::array<char, 65536> buffer{};
  if (ended_ || !readable(fd_, end)) {
    return false;
  }
  const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), 0);
  ended_ = got <= 0;
  input_.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return !ended_;
}

Reply TcpClient::receive(Millis limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    if (input_.size() >= 2) {
      const std::size_t size =
          (static_cast<std::size_t>(static_cast<unsigned char>(input_[0])) << 8U) | static_cast<unsigned char>(input_[1]);
      if (input_.size() >= size + 2) {
        Reply reply = read_reply(std::string_view(input_).substr(2, size));
        input_.erase(0, size + 2);
        return reply;
      }
    }
    if (!fill(end)) {
      return {};
    }
  }
}

bool TcpClient::closed_within(Millis limit) {
  const auto end = Clock::now() + limit;
  while (fill(end)) {
  }
  return ended_;
}

std::string framed(const Question& question, std::uint16_t id) {
  const std::string query = make_query(question, id);
  return std::string{static_cast<char>(query.size() >> 8U), static_cast<char>(query.size() & 0xffU)} + query;
}

Addressed send_datagram(const Route& route, std::string_view octets, Millis limit) {
  Addressed result;
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);  // not connected: a reply from a wrong address is seen, too
  const sockaddr_in to = address_of(route.to, route.port);
  if (bind_to(fd, route.from) && ::sendto(fd, octets.data(), octets.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) > 0 &&
      readable(fd, Clock::now() + limit)) {
    std::array<char, 65536> buffer{};
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const ssize_t got = ::recvfrom(fd, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &from.sin_addr, text.data(), text.size());
    result.from = text.data();
    result.reply = read_reply({buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0});
  }
  ::close(fd);
  return result;
}

}  // namespace dohmux::test
