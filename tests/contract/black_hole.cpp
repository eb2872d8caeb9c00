// A listener that never accepts, its queue filled: Linux drops further SYNs silently.
#include "contract/black_hole.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <catch2/catch_test_macros.hpp>

namespace dohmux::contract {

BlackHole::BlackHole() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  REQUIRE(::bind(listener_.get(), generic, length) == 0);
  REQUIRE(::listen(listener_.get(), 0) == 0);
  REQUIRE(::getsockname(listener_.get(), generic, &length) == 0);
  port_ = ntohs(address.sin_port);
  constexpr int kMostFillers = 8;
  constexpr int kSettleMs = 50;
  for (int i = 0; i < kMostFillers; ++i) {  // until one of them stays unanswered
    fillers_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(fillers_.back().get(), generic, length);
    pollfd waiting{.fd = fillers_.back().get(), .events = POLLOUT, .revents = 0};
    if (::poll(&waiting, 1, kSettleMs) == 0) {
      return;
    }
  }
  FAIL("the queue of the listener does not fill");
}

}  // namespace dohmux::contract
