// What tests of the real binary need besides a House: other programs, scratch files, sockets held by hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/dns_client.h"
#include "support/process.h"

namespace dohmux::test {

/// Skips the test if `program` is not in PATH; fails it where everything must be there (DOHMUX_CI is set).
void require_tool(const std::string& program);

/// A folder of one's own, removed with all that is in it.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view text) const;

 private:
  std::string folder_;
};

[[nodiscard]] std::string content_of(const std::string& file);
[[nodiscard]] std::string replaced(std::string text, std::string_view from, std::string_view to);
[[nodiscard]] std::size_t occurrences(std::string_view text, std::string_view wanted);
/// The lines of `text` that hold `wanted`.
[[nodiscard]] std::vector<std::string> lines_with(std::string_view text, std::string_view wanted);
/// A loopback port that was free a moment ago, for programs that cannot be told to choose one.
[[nodiscard]] std::uint16_t free_port();
/// One flat JSON object: key -> value, strings unescaped, numbers as written. Nothing if it is anything else.
[[nodiscard]] std::optional<std::map<std::string, std::string>> flat_json(std::string_view line);

/// The whole HTTP response, head included, to `METHOD path`; empty if there is none.
[[nodiscard]] std::string http(std::uint16_t port, const std::string& method, const std::string& path);

/// A TCP connection to 127.0.0.1 that sends exactly what it is told, when it is told.
class TcpClient {
 public:
  explicit TcpClient(std::uint16_t port);
  TcpClient(const TcpClient&) = delete;
  TcpClient& operator=(const TcpClient&) = delete;
  ~TcpClient();
  [[nodiscard]] bool connected() const { return fd_ >= 0; }
  /// All octets in one segment, as far as the kernel allows.
  bool send(std::string_view octets) const;
  /// Nothing more will be sent.
  void finish() const;
  /// The next whole DNS message; `came` is false if none is there in time.
  [[nodiscard]] Reply receive(Millis limit = Millis(8000));
  /// Whether the other side closes within `limit`.
  [[nodiscard]] bool closed_within(Millis limit);

 private:
  [[nodiscard]] bool fill(std::chrono::steady_clock::time_point end);

  int fd_ = -1;
  std::string input_;
  bool ended_ = false;
};
/// A query as it goes over TCP, length first.
[[nodiscard]] std::string framed(const Question& question, std::uint16_t id);

/// One datagram from one loopback address to another, and where its reply came from ("127.0.0.2").
struct Addressed {
  Reply reply;
  std::string from;
};
struct Route {
  std::string from = "127.0.0.1";
  std::string to = "127.0.0.1";
  std::uint16_t port = 0;
};
[[nodiscard]] Addressed send_datagram(const Route& route, std::string_view octets, Millis limit = Millis(8000));

}  // namespace dohmux::test
