// accept4 in batches, and what to do when there are no descriptors left.
// It must not know what the connections are for.
#include "event/tcp_acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/sockaddr.h"
#include "event/callback_slot.h"

namespace dohmux::event {

namespace {

constexpr int kMaxAccepts = 64;  // per turn: queries of others come in between
constexpr auto kPause = std::chrono::milliseconds(100);

bool out_of_resources(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

UniqueFd open_spare() noexcept {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

struct TcpAcceptor::Impl {
  Impl(Loop& owner_loop, UniqueFd listening, Callback on_connection)
      : loop(owner_loop),
        socket(std::move(listening)),
        callback(std::move(on_connection)),
        poll(loop, socket.get(), [this](Ready, int) { accept_some(); }) {
    poll.watch(Ready::Read);
  }

  void accept_some();
  void give_up_for_now();

  Loop& loop;
  UniqueFd socket;
  CallbackSlot<UniqueFd, Endpoint> callback;
  UniqueFd spare = open_spare();  // given up for a moment to be able to turn a client away
  std::uint64_t pauses = 0;
  std::unique_ptr<Timer> resume;
  Poll poll;  // last: dies before the socket
};

void TcpAcceptor::Impl::accept_some() {
  for (int i = 0; i < kMaxAccepts; ++i) {
    SocketAddress from;
    from.length = sizeof from.storage;
    UniqueFd connection(::accept4(socket.get(), reinterpret_cast<sockaddr*>(&from.storage), &from.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection) {
      if (out_of_resources(errno)) {
        give_up_for_now();
      } else if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) {
        continue;  // that one client's affair (accept(2), "Error handling")
      }
      return;
    }
    const auto peer = from_sockaddr(from.get());
    if (peer && !callback(std::move(connection), *peer)) {
      return;  // the callback destroyed us
    }
  }
}

void TcpAcceptor::Impl::give_up_for_now() {
  ++pauses;
  spare.reset();
  UniqueFd(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC)).reset();
  spare = open_spare();
  poll.watch(Ready::None);
  resume = loop.after(kPause, [this] { poll.watch(Ready::Read); });
}

TcpAcceptor::TcpAcceptor(Loop& loop, UniqueFd listening, Callback callback)
    : impl_(std::make_unique<Impl>(loop, std::move(listening), std::move(callback))) {}

TcpAcceptor::~TcpAcceptor() = default;

std::uint64_t TcpAcceptor::pauses() const noexcept {
  return impl_->pauses;
}

}  // namespace dohmux::event
