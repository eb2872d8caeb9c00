// One datagram to the service manager's socket.
// It must not know what is told.
#include "systemd.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace dohmux::program {

void notify_systemd(const std::string& state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe): nobody writes the environment by now
  const std::string_view name = path == nullptr ? "" : path;
  sockaddr_un address{};
  if (name.size() < 2 || name.size() >= sizeof address.sun_path || (name.front() != '/' && name.front() != '@')) {
    return;
  }
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path[0], name.data(), name.size());
  if (name.front() == '@') {  // abstract: a NUL in front, none at the end
    address.sun_path[0] = '\0';
  }
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return;
  }
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (name.front() == '@' ? 0 : 1));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the kernel's own idiom
  (void)::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
  ::close(fd);
}

}  // namespace dohmux::program
