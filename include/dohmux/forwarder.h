// The life of the whole daemon: start, drain, statistics.
#pragma once

#include <dohmux/config.h>
#include <dohmux/stats.h>

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dohmux {

/// Why a start failed; `text` says what to do about it.
struct StartError {
  std::string text;
};

/// Everything between the sockets and the resolvers. Runs on the thread that calls run().
class Forwarder {
 public:
  /// Binds the listeners. Nothing is asked of the network yet.
  [[nodiscard]] static std::expected<std::unique_ptr<Forwarder>, StartError> start(Config config);

  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;
  virtual ~Forwarder() = default;

  /// Serves until TERM or INT has been drained. `on_ready` is called once the listeners serve,
  /// `on_stopping` when the drain begins. Returns the exit code of the process (contract.md §4).
  virtual int run(std::function<void()> on_ready, std::function<void()> on_stopping) = 0;

  [[nodiscard]] virtual Stats stats() = 0;

 protected:
  Forwarder() = default;
};

/// "8.14.1" and so on, of the libraries that this process runs with; error if one is unusable
/// (libcurl older than 8.14 or without HTTP2).
struct LibraryVersions {
  std::string libcurl, nghttp2, openssl, libuv;
};
[[nodiscard]] LibraryVersions library_versions();
[[nodiscard]] std::expected<void, StartError> check_libraries();

/// Removes the environment variables that would change how libcurl or OpenSSL reach the network
/// (proxy, TLS and resolver variables). Returns the names of those that were set. Call before threads start.
std::vector<std::string> clear_network_environment();

}  // namespace dohmux
