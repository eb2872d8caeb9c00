// AF_UNIX server for the lab's commands.
// Must not know what the commands mean.
#include "support/lab/control.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lab {

class ControlServer::Client final : public Pollable {
 public:
  Client(ControlServer& server, UniqueFd fd) : server_(server), fd_(std::move(fd)) { server_.loop_.watch(fd_.get(), EPOLLIN, *this); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override { server_.loop_.unwatch(fd_.get()); }

  void on_ready(std::uint32_t /*events*/) override {
    const Io outcome = read_some(fd_.get(), input_, 65536);
    std::size_t end = 0;
    while ((end = input_.find('\n')) != std::string::npos) {
      for (const std::string& line : server_.laboratory_.execute(std::string_view(input_).substr(0, end))) {
        output_ += line + "\n";
      }
      output_ += ".\n";
      input_.erase(0, end + 1);
    }
    const Io sent = write_some(fd_.get(), output_);
    if (outcome == Io::Closed || outcome == Io::Failed || sent == Io::Failed) {
      server_.loop_.unwatch(fd_.get());
      server_.forget(fd_.get());
      return;
    }
    server_.loop_.watch(fd_.get(), output_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT, *this);
  }

 private:
  ControlServer& server_;
  UniqueFd fd_;
  std::string input_;
  std::string output_;
};

ControlServer::ControlServer(Laboratory& laboratory, Loop& loop) : laboratory_(laboratory), loop_(loop) {}

ControlServer::~ControlServer() {
  loop_.unwatch(listener_.get());
}

Result<void> ControlServer::start(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return std::unexpected("path too long for a socket: " + path);
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::unlink(path.c_str());
  listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener_.valid() || ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 64) != 0) {
    return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  loop_.watch(listener_.get(), EPOLLIN, *this);
  return {};
}

void ControlServer::on_ready(std::uint32_t /*events*/) {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd.valid()) {
    const int number = fd.get();
    clients_[number] = std::make_unique<Client>(*this, std::move(fd));
  }
}

// Its descriptor stays open until it is deleted, so the number cannot be another client's by then.
void ControlServer::forget(int fd) {
  loop_.defer([this, fd] { clients_.erase(fd); });
}

}  // namespace lab
