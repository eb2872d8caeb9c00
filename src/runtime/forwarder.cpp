// include/dohmux/forwarder.h over one worker: sockets first, so that a start fails before anything is asked of the network.
#include <dohmux/forwarder.h>
#include <dohmux/report.h>

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/log.h"
#include "runtime/worker.h"

namespace dohmux {
namespace {

/// 1024 TCP clients alone would use up the usual soft limit, and leave none for the connections upstream.
void raise_descriptor_limit() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < std::min(limit.rlim_max, kEnough)) {
    limit.rlim_cur = std::min(limit.rlim_max, kEnough);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

std::expected<runtime::Sockets, StartError> open_sockets(const Config& config) {
  runtime::Sockets sockets;
  for (const ListenConfig& listen : config.listen) {
    auto pair = server::bind_dns(listen.endpoint);
    if (pair) {
      sockets.dns.push_back(std::move(*pair));
    } else if (pair.error().fault == server::BindFault::Missing && !listen.required) {
      log::warning("server", "not listening on {}: this host lacks the address family", listen.endpoint.to_string());
    } else {
      return std::unexpected(StartError{pair.error().text});
    }
  }
  if (sockets.dns.empty()) {
    return std::unexpected(StartError{"no address to listen on is left"});
  }
  for (const ListenConfig& listen : config.web_listen) {
    auto socket = server::bind_tcp(listen.endpoint);
    if (socket) {
      sockets.web.push_back(std::move(*socket));
    } else if (listen.required) {
      return std::unexpected(StartError{fmt::format("web.listen: {}", socket.error().text)});
    } else {
      log::warning("web", "no metrics are served: {}; set web.listen to another address, or to []", socket.error().text);
    }
  }
  return sockets;
}

class SingleWorkerForwarder final : public Forwarder {
 public:
  explicit SingleWorkerForwarder(Config config) : worker_(std::move(config)) {}

  std::expected<void, StartError> prepare(runtime::Sockets sockets) { return worker_.prepare(std::move(sockets)); }
  int run(std::function<void()> on_ready, std::function<void()> on_stopping) override {
    worker_.run(std::move(on_ready), std::move(on_stopping));
    return 0;
  }
  [[nodiscard]] Stats stats() override { return worker_.stats(); }

 private:
  runtime::Worker worker_;
};

}  // namespace

std::expected<std::unique_ptr<Forwarder>, StartError> Forwarder::start(Config config) {
  apply_log(config.log);
  if (const auto checked = check_libraries(); !checked) {
    return std::unexpected(checked.error());
  }
  raise_descriptor_limit();
  auto sockets = open_sockets(config);
  if (!sockets) {
    return std::unexpected(sockets.error());
  }
  auto forwarder = std::make_unique<SingleWorkerForwarder>(std::move(config));
  if (const auto prepared = forwarder->prepare(std::move(*sockets)); !prepared) {
    return std::unexpected(prepared.error());
  }
  return forwarder;
}

}  // namespace dohmux
