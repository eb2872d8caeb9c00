// One loop with its listeners and everything behind them. Introductions only: constructors in order, no decisions.
#pragma once

#include <dohmux/config.h>
#include <dohmux/forwarder.h>

#include <functional>
#include <memory>
#include <vector>

#include "event/loop.h"
#include "event/signal.h"
#include "resolver/resolver.h"
#include "server/bind.h"
#include "server/tcp_listener.h"
#include "server/udp_listener.h"
#include "stats/metrics.h"
#include "transport/transport.h"
#include "upstream/pool.h"
#include "web/endpoint.h"

namespace dohmux::runtime {

/// The sockets of one `listen` entry and of the web endpoints, bound before anything else exists.
struct Sockets {
  std::vector<server::DnsSockets> dns;
  std::vector<server::BoundSocket> web;
};

class Worker {
 public:
  explicit Worker(Config config);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  /// Builds the upstream side, then the listeners over `sockets`.
  [[nodiscard]] std::expected<void, StartError> prepare(Sockets sockets);
  /// Returns when the drain is over.
  void run(std::function<void()> on_ready, std::function<void()> on_stopping);
  [[nodiscard]] Stats stats();

 private:
  void listen(Sockets sockets);
  void watch_signals();
  void stop_signal();
  void drain();
  void drained();
  void log_statistics();
  [[nodiscard]] web::WebReply serve_web(std::string_view path);

  // Destroyed from the bottom up: listeners before the resolver, the resolver before what it asks, the loop last.
  const Config config_;
  event::Loop loop_;
  stats::Metrics metrics_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<upstream::Pool> pool_;
  std::vector<std::unique_ptr<upstream::Exchanger>> forwarders_;  // of `routes`
  std::unique_ptr<Resolver> resolver_;
  std::vector<std::unique_ptr<server::UdpListener>> udp_;
  std::vector<std::unique_ptr<server::TcpListener>> tcp_;
  std::vector<std::unique_ptr<web::WebEndpoint>> web_;
  std::vector<std::unique_ptr<event::Signal>> signals_;
  std::unique_ptr<Timer> drain_limit_;
  std::unique_ptr<Timer> linger_;
  std::function<void()> on_stopping_;
  bool stopping_ = false;
};

}  // namespace dohmux::runtime
