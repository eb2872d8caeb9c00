// Wiring of one worker, its signals and its drain (architecture.md §8). Logic about queries belongs elsewhere.
#include "runtime/worker.h"

#include <dohmux/version.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/log.h"
#include "runtime/routes.h"
#include "transport/curl/curl_transport.h"

namespace dohmux::runtime {
namespace {

using namespace std::chrono_literals;
constexpr Duration kLinger = 200ms;  // for the last TCP answers to leave after the drain
constexpr int kSmallReceiveBuffer = 1024 * 1024;

std::vector<std::string> upstream_names(const Config& config) {
  std::vector<std::string> names;
  names.reserve(config.upstreams.size());
  for (const UpstreamConfig& upstream : config.upstreams) {
    names.push_back(upstream.name);
  }
  return names;
}

}  // namespace

Worker::Worker(Config config) : config_(std::move(config)), metrics_(upstream_names(config_), upstream::exit_names(config_)) {}

Worker::~Worker() = default;

std::expected<void, StartError> Worker::prepare(Sockets sockets) {
  transport_ = transport::make_curl_transport(loop_);
  auto pool = upstream::Pool::build(config_, loop_, *transport_, metrics_);
  if (!pool) {
    return std::unexpected(StartError{pool.error()});
  }
  pool_ = std::move(*pool);
  auto routes = build_routes(config_, loop_, *pool_);
  if (!routes) {
    return std::unexpected(StartError{routes.error()});
  }
  forwarders_ = std::move(routes->forwarders);
  resolver_ =
      std::make_unique<Resolver>(loop_, std::move(routes->targets), metrics_, resolver_settings(config_, std::move(routes->routes)));
  watch_signals();  // before anybody can read that we listen, and stop us
  listen(std::move(sockets));
  return {};
}

void Worker::listen(Sockets sockets) {
  for (server::BoundSocket& socket : sockets.web) {
    log::info("web", "listening on {} web", socket.endpoint.to_string());
    web_.push_back(
        std::make_unique<web::WebEndpoint>(loop_, std::move(socket.fd), [this](std::string_view path) { return serve_web(path); }));
  }
  server::TcpLimits limits;
  limits.idle = config_.timeouts.tcp_idle;
  limits.connections = std::max<std::size_t>(1, config_.limits.tcp_clients / std::max<std::size_t>(1, sockets.dns.size()));
  limits.connections_per_address = config_.limits.tcp_clients_per_address;
  for (server::DnsSockets& pair : sockets.dns) {
    udp_.push_back(std::make_unique<server::UdpListener>(loop_, std::move(pair.udp), *resolver_));
    tcp_.push_back(std::make_unique<server::TcpListener>(loop_, std::move(pair.tcp), *resolver_, limits));
    log::info("server", "listening on {} udp", udp_.back()->endpoint().to_string());
    log::info("server", "listening on {} tcp", tcp_.back()->endpoint().to_string());
  }
  if (!udp_.empty() && udp_.front()->receive_buffer() < kSmallReceiveBuffer) {
    log::warning("server",
                 "the kernel grants {} KiB of UDP receive buffer of 4096 wanted: bursts may be lost; raise the sysctl net.core.rmem_max "
                 "to 4194304",
                 udp_.front()->receive_buffer() / 1024);
  }
}

void Worker::run(std::function<void()> on_ready, std::function<void()> on_stopping) {
  on_stopping_ = std::move(on_stopping);
  pool_->warm();
  if (on_ready) {
    on_ready();
  }
  loop_.run();
  // The handlers go with this object; a stop signal that comes meanwhile must not end the process by force.
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);
}

void Worker::watch_signals() {
  for (const int number : {SIGTERM, SIGINT}) {
    signals_.push_back(std::make_unique<event::Signal>(loop_, number, [this] { stop_signal(); }));
  }
  signals_.push_back(std::make_unique<event::Signal>(loop_, SIGUSR1, [this] { log_statistics(); }));
  for (const int number : {SIGHUP, SIGUSR2}) {
    signals_.push_back(std::make_unique<event::Signal>(loop_, number, [number] {
      log::warning("main", "signal {} is not used by this version: restart to read a changed configuration", number);
    }));
  }
}

void Worker::stop_signal() {
  if (stopping_) {
    log::warning("main", "second stop signal: ends at once, {} queries unanswered", resolver_->in_flight());
    std::_Exit(0);
  }
  drain();
}

void Worker::drain() {
  stopping_ = true;
  if (on_stopping_) {
    on_stopping_();
  }
  for (const auto& listener : udp_) {
    listener->stop_reading();
  }
  for (const auto& listener : tcp_) {
    listener->stop_reading();
  }
  log::info("main", "stopping: {} queries under way", resolver_->in_flight());
  drain_limit_ = loop_.after(config_.timeouts.drain, [this] { resolver_->abandon_all(); });
  resolver_->when_idle([this] { drained(); });
}

/// Every query has its reply; what is still in our buffers gets a moment to leave.
void Worker::drained() {
  drain_limit_.reset();
  for (const auto& listener : udp_) {
    listener->flush();
  }
  std::size_t open = 0;
  for (const auto& listener : tcp_) {
    listener->flush();
    open += listener->open_connections();
  }
  if (open == 0) {
    loop_.stop();
    return;
  }
  linger_ = loop_.after(kLinger, [this] { loop_.stop(); });
}

Stats Worker::stats() {
  pool_->fill_gauges();
  return {.queries_udp = metrics_.requests(stats::Proto::Udp),
          .queries_tcp = metrics_.requests(stats::Proto::Tcp),
          .in_flight = metrics_.in_flight(),
          .prometheus = metrics_.render(DOHMUX_VERSION)};
}

void Worker::log_statistics() {
  const Stats now = stats();
  log::info("main", "statistics: {} queries over udp, {} over tcp, {} in flight", now.queries_udp, now.queries_tcp, now.in_flight);
}

web::WebReply Worker::serve_web(std::string_view path) {
  if (path == "/metrics") {
    return {.status = 200, .content_type = "text/plain; version=0.0.4; charset=utf-8", .body = stats().prometheus};
  }
  if (path == "/healthz") {
    return {.status = 200, .content_type = "text/plain; charset=utf-8", .body = "ok\n"};
  }
  return {.status = 404, .content_type = "text/plain; charset=utf-8", .body = "not found: /metrics and /healthz are served here\n"};
}

}  // namespace dohmux::runtime
