// The proxy process: listener, command channel, list of tunnels.
// Must not know the parent process or resolvers beyond their ports.
#include "support/lab/proxy_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "support/lab/tunnel.h"

namespace lab {

class ProxyServer::Channel final : public Pollable {
 public:
  Channel(ProxyServer& server, UniqueFd fd) : server_(server), fd_(std::move(fd)) { server_.loop_.watch(fd_.get(), EPOLLIN, *this); }

  void on_ready(std::uint32_t /*events*/) override {
    std::array<char, 4096> buffer{};
    const ssize_t length = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (length <= 0) {
      server_.loop_.stop();
      return;
    }
    const std::string reply = server_.execute(split_words({buffer.data(), static_cast<std::size_t>(length)}));
    [[maybe_unused]] const ssize_t sent = ::send(fd_.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
  }

 private:
  ProxyServer& server_;
  UniqueFd fd_;
};

ProxyServer::ProxyServer(ProxySetup setup, UniqueFd listener, UniqueFd channel)
    : setup_(setup),
      name_(fmt::format("p{}", setup.index)),
      listener_(std::move(listener)),
      channel_(std::make_unique<Channel>(*this, std::move(channel))) {
  loop_.watch(listener_.get(), EPOLLIN, *this);
}

ProxyServer::~ProxyServer() = default;

void ProxyServer::on_ready(std::uint32_t /*events*/) {
  for (;;) {
    sockaddr_in peer{};
    UniqueFd fd = accept_from(listener_.get(), peer);
    if (!fd.valid()) {
      return;
    }
    const TunnelId id = next_tunnel_++;
    auto tunnel = std::make_unique<Tunnel>(*this, id, std::move(fd));
    Tunnel& started = *tunnel;
    tunnels_.emplace(id, std::move(tunnel));
    started.start();
  }
}

Tunnel* ProxyServer::find(TunnelId id) {
  const auto found = tunnels_.find(id);
  return found != tunnels_.end() ? found->second.get() : nullptr;
}

void ProxyServer::forget(TunnelId id) {
  loop_.defer([this, id] { tunnels_.erase(id); });
}

std::string ProxyServer::execute(const Words& words) {
  setup_.log->write(LogEntry(name_, "fault").add("what", fmt::format("{}", fmt::join(words, " "))));
  const std::string word = words.empty() ? std::string() : words[0];
  if (word == "cut-all" || word == "freeze-all") {
    for (auto& [id, tunnel] : tunnels_) {
      if (word == "cut-all") {
        tunnel->cut("cut-all");
      } else {
        tunnel->freeze();
      }
    }
    return "ok";
  }
  if (auto done = set_proxy_fault(faults_, words); !done) {
    return "error: " + done.error();
  }
  return update_listener();
}

std::string ProxyServer::update_listener() {
  if (faults_.mode == ProxyMode::Refuse) {
    loop_.unwatch(listener_.get());
    listener_.reset();
  } else if (!listener_.valid()) {
    auto listener = listen_on(setup_.port);
    if (!listener) {
      return "error: " + listener.error();
    }
    listener_ = std::move(*listener);
    loop_.watch(listener_.get(), EPOLLIN, *this);
  }
  return "ok";
}

}  // namespace lab
