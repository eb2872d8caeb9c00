// Copies between Endpoint and sockaddr_in / sockaddr_in6, without type punning.
// It must not know sockets: nothing here makes a system call.
#include "base/sockaddr.h"

#include <netinet/in.h>

#include <cstring>

namespace dohmux {

const sockaddr* SocketAddress::get() const noexcept {
  return reinterpret_cast<const sockaddr*>(&storage);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): the kernel's own idiom
}

SocketAddress to_sockaddr(const Endpoint& endpoint) noexcept {
  SocketAddress result;
  if (endpoint.address.family == Family::V4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(endpoint.port);
    std::memcpy(&in.sin_addr, endpoint.address.octets.data(), sizeof in.sin_addr);
    std::memcpy(&result.storage, &in, sizeof in);
    result.length = sizeof in;
  } else {
    sockaddr_in6 in6{};
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(endpoint.port);
    std::memcpy(&in6.sin6_addr, endpoint.address.octets.data(), sizeof in6.sin6_addr);
    std::memcpy(&result.storage, &in6, sizeof in6);
    result.length = sizeof in6;
  }
  return result;
}

std::optional<Endpoint> from_sockaddr(const sockaddr* address) noexcept {
  Endpoint endpoint;
  if (address != nullptr && address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    std::memcpy(endpoint.address.octets.data(), &in.sin_addr, sizeof in.sin_addr);
    endpoint.port = ntohs(in.sin_port);
    return endpoint;
  }
  if (address != nullptr && address->sa_family == AF_INET6) {
    sockaddr_in6 in6{};
    std::memcpy(&in6, address, sizeof in6);
    endpoint.address.family = Family::V6;
    std::memcpy(endpoint.address.octets.data(), &in6.sin6_addr, sizeof in6.sin6_addr);
    endpoint.port = ntohs(in6.sin6_port);
    return endpoint;
  }
  return std::nullopt;
}

}  // namespace dohmux
