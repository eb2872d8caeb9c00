// Loopback sockets: reserve a port, listen, accept, connect, send and receive. IPv4 only, all non-blocking.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace lab {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

template <class T>
using Result = std::expected<T, std::string>;

struct ReservedPort {
  UniqueFd holder;  // bound, never listening: keeps the number ours while the listener is closed on purpose
  std::uint16_t port = 0;
};

/// Port 0: any free one.
[[nodiscard]] Result<ReservedPort> reserve_port(std::uint16_t port);
/// Listens on 127.0.0.1:port beside its holder.
[[nodiscard]] Result<UniqueFd> listen_on(std::uint16_t port);
/// Invalid if there is nobody. `peer` is the client's address.
[[nodiscard]] UniqueFd accept_from(int listener, sockaddr_in& peer);
/// Begins to connect to 127.0.0.1:port from 127.0.1.`source_host`.
[[nodiscard]] Result<UniqueFd> connect_from(std::uint8_t source_host, std::uint16_t port);

enum class Io : std::uint8_t { Done, Blocked, Closed, Failed };

/// Appends what can be read now to `into` (at most `limit` octets).
[[nodiscard]] Io read_some(int fd, std::string& into, std::size_t limit);
/// Sends the front of `data` and removes what was sent.
[[nodiscard]] Io write_some(int fd, std::string& data);
/// The next close() of `fd` sends RST.
void make_close_abortive(int fd);

}  // namespace lab
