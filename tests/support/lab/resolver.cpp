// A resolver's listener and the faults that concern it as a whole.
// Must not know HTTP or DNS: connections do the talking.
#include "support/lab/resolver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>

#include <algorithm>

#include "support/lab/connection.h"

namespace lab {

namespace {

constexpr std::uint32_t kDefaultStreams = 100;

}  // namespace

Resolver::Resolver(Surroundings& around, std::size_t index, ReservedPort port)
    : around_(around), name_(fmt::format("r{}", index)), host_(fmt::format("r{}.lab.example", index)), port_(std::move(port)) {
  counters_.via.resize(around.proxies);
}

Resolver::~Resolver() {
  around_.loop.unwatch(listener_.get());
}

Result<void> Resolver::start() {
  auto listener = listen_on(port_.port);
  if (!listener) {
    return std::unexpected(listener.error());
  }
  listener_ = std::move(*listener);
  around_.loop.watch(listener_.get(), EPOLLIN, *this);
  return {};
}

SSL_CTX* Resolver::context() {
  ContextPtr& context = contexts_[{faults_.cert, faults_.alpn}];
  if (!context) {
    context = around_.authority.server_context(faults_.cert, faults_.alpn);
  }
  return context.get();
}

void Resolver::on_ready(std::uint32_t /*events*/) {
  for (;;) {
    sockaddr_in peer{};
    UniqueFd fd = accept_from(listener_.get(), peer);
    if (!fd.valid()) {
      return;
    }
    accept_one(std::move(fd), peer);
  }
}

void Resolver::accept_one(UniqueFd fd, const sockaddr_in& peer) {
  constexpr std::uint32_t kProxySources = 0x7f000100;  // 127.0.1.0
  const std::uint32_t proxy = ntohl(peer.sin_addr.s_addr) - kProxySources;
  std::string exit = "direct";
  if (proxy >= 1 && proxy <= counters_.via.size()) {
    exit = fmt::format("p{}", proxy);
    ++counters_.via[proxy - 1];
  } else {
    ++counters_.direct;
  }
  ++counters_.accepts;
  ++counters_.open;
  counters_.max_open = std::max(counters_.max_open, counters_.open);
  const ConnectionId id = next_connection_++;
  auto connection = std::make_unique<Connection>(*this, Connection::Identity{id, exit}, std::move(fd));
  Connection& started = *connection;
  connections_.emplace(id, std::move(connection));
  started.start();
}

Connection* Resolver::find(ConnectionId id) {
  const auto found = connections_.find(id);
  return found != connections_.end() ? found->second.get() : nullptr;
}

void Resolver::forget(ConnectionId id) {
  around_.loop.defer([this, id] { connections_.erase(id); });
}

template <class Action>
void Resolver::each_connection(Action action) {
  for (auto& [id, connection] : connections_) {
    action(*connection);
  }
}

Result<void> Resolver::apply(const Words& words) {
  const std::string word = words.empty() ? std::string() : words[0];
  around_.log.write(LogEntry(name_, "fault").add("what", fmt::format("{}", fmt::join(words, " "))));
  if (word == "goaway-all") {
    each_connection([](Connection& connection) { connection.send_goaway(); });
  } else if (word == "drop-all") {
    each_connection([](Connection& connection) { connection.close_orderly("drop-all"); });
  } else if (word == "reset-all") {
    each_connection([](Connection& connection) { connection.close_abruptly("reset-all"); });
  } else if (word == "freeze-all") {
    each_connection([](Connection& connection) { connection.freeze(); });
  } else {
    const auto before = faults_.max_streams;
    if (auto done = set_resolver_fault(faults_, words); !done) {
      return done;
    }
    if (before != faults_.max_streams) {
      each_connection([this](Connection& connection) { connection.limit_streams(stream_limit()); });
    }
    if (word == "cut" || word.starts_with("goaway") || word == "idle-close" || word == "ok") {
      each_connection([](Connection& connection) { connection.faults_changed(); });
    }
    return update_listener();
  }
  return {};
}

std::uint32_t Resolver::stream_limit() const {
  return faults_.max_streams.value_or(kDefaultStreams);
}

Result<void> Resolver::update_listener() {
  if (faults_.accept != AcceptMode::Refuse) {
    return listener_.valid() ? Result<void>{} : start();
  }
  around_.loop.unwatch(listener_.get());
  listener_.reset();
  return {};
}

}  // namespace lab
