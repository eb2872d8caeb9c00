// Sockets of the plain forwarder, over Poll and TcpStream.
// Must not know ids, questions, deadlines or other servers: octets only.
#include "forward/wire.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/sockaddr.h"

namespace dohmux::forward {
namespace {

constexpr int kDatagramsPerTurn = 16;  // a flood of forgeries must not keep the loop from everything else
constexpr std::size_t kPrefix = 2;     // octets of length in front of a message, RFC 1035 §4.2.2

UniqueFd open_socket(const Endpoint& server, int type) {
  return UniqueFd(::socket(server.address.family == Family::V4 ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int connect_to(int fd, const Endpoint& server) {
  const SocketAddress address = to_sockaddr(server);
  return ::connect(fd, address.get(), address.length) == 0 ? 0 : errno;
}

}  // namespace

UdpWire::UdpWire(event::Loop& loop, const Endpoint& server, std::span<std::uint8_t> buffer, Heard heard)
    : loop_(loop), server_(server), buffer_(buffer), heard_(std::move(heard)) {}

int UdpWire::send(ByteView message) {
  socket_ = open_socket(server_, SOCK_DGRAM);
  if (!socket_) {
    return errno;
  }
  if (const int error = connect_to(socket_.get(), server_); error != 0) {
    return error;
  }
  poll_ = std::make_unique<event::Poll>(loop_, socket_.get(), [this](event::Ready, int error) { ready(error); });
  poll_->watch(event::Ready::Read);
  if (::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0) {
    const int error = errno;
    poll_.reset();
    return error;
  }
  return 0;
}

void UdpWire::ready(int watch_error) {
  for (int i = 0; i < kDatagramsPerTurn; ++i) {
    SocketAddress from;
    from.length = sizeof from.storage;
    auto* address = reinterpret_cast<sockaddr*>(&from.storage);  // the kernel's own idiom
    const ssize_t size = ::recvfrom(socket_.get(), buffer_.data(), buffer_.size(), 0, address, &from.length);
    if (size < 0) {
      // An ICMP error shows as EPOLLERR, which the watch reports as EBADF, and is read here once.
      const int error = errno == EAGAIN && watch_error != EBADF ? watch_error : errno;
      if (error != 0 && error != EAGAIN && error != EINTR) {
        heard_(std::unexpected(error));
      }
      return;
    }
    // Between the kernel's choice of the port and its connect() the socket was open to everybody.
    if (from_sockaddr(from.get()) == server_ && !heard_(ByteView(buffer_).first(static_cast<std::size_t>(size)))) {
      return;
    }
  }
}

TcpWire::TcpWire(event::Loop& loop, const Endpoint& server, Heard heard) : loop_(loop), server_(server), heard_(std::move(heard)) {}

int TcpWire::send(ByteView message) {
  socket_ = open_socket(server_, SOCK_STREAM);
  if (!socket_) {
    return errno;
  }
  if (const int error = connect_to(socket_.get(), server_); error != 0 && error != EINPROGRESS) {
    return error;
  }
  frame_.reserve(kPrefix + message.size());
  frame_.push_back(static_cast<std::uint8_t>(message.size() >> 8U));
  frame_.push_back(static_cast<std::uint8_t>(message.size() & 0xFFU));
  frame_.insert(frame_.end(), message.begin(), message.end());
  poll_ = std::make_unique<event::Poll>(loop_, socket_.get(), [this](event::Ready, int error) { connected(error); });
  poll_->watch(event::Ready::Write);
  return 0;
}

void TcpWire::connected(int watch_error) {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) {
    error = errno;
  }
  error = error == 0 ? watch_error : error;
  poll_.reset();
  if (error != 0) {
    heard_(std::unexpected(error));
    return;
  }
  stream_.emplace(loop_, std::move(socket_),
                  event::TcpStream::Handlers{
                      .data = [this](ByteView octets) { received(octets); },
                      .end = [this](int reason) { heard_(std::unexpected(reason == 0 ? ECONNRESET : reason)); },
                      .drained = {},
                  });
  stream_->start_reading();
  stream_->write(std::move(frame_));
}

void TcpWire::received(ByteView octets) {
  incoming_.insert(incoming_.end(), octets.begin(), octets.end());
  if (incoming_.size() < kPrefix) {
    return;
  }
  const std::size_t size = (static_cast<std::size_t>(incoming_[0]) << 8U) | incoming_[1];
  if (incoming_.size() - kPrefix < size) {
    return;
  }
  stream_->stop_reading();  // one question, one message: what follows is nobody's
  heard_(ByteView(incoming_).subspan(kPrefix, size));
}

}  // namespace dohmux::forward
