// Between Endpoint and the kernel's sockaddr.
#pragma once

#include <dohmux/address.h>
#include <sys/socket.h>

#include <optional>

namespace dohmux {

/// A filled sockaddr with the length that bind(), connect() and sendto() want.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const noexcept;
};

[[nodiscard]] SocketAddress to_sockaddr(const Endpoint& endpoint) noexcept;

/// nullopt for null and for families other than AF_INET and AF_INET6. An IPv6 zone is dropped.
[[nodiscard]] std::optional<Endpoint> from_sockaddr(const sockaddr* address) noexcept;

}  // namespace dohmux
