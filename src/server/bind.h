// Opens the sockets of listeners.
#pragma once

#include <dohmux/address.h>

#include <cstdint>
#include <expected>
#include <string>

#include "base/unique_fd.h"

namespace dohmux::server {

/// A bound, non-blocking socket and the address it really got.
struct BoundSocket {
  UniqueFd fd;
  Endpoint endpoint;
};

/// One `listen` entry: both transports on one port.
struct DnsSockets {
  BoundSocket udp;
  BoundSocket tcp;  // listening
};

enum class BindFault : std::uint8_t {
  Missing,  // the host lacks this family or address: a default listener may be left out
  InUse,
  Forbidden,
  Other,
};

struct BindError {
  BindFault fault = BindFault::Other;
  std::string text;  // address, error and remedy
};

/// UDP and TCP, or neither. Port 0: a port that is free for both.
[[nodiscard]] std::expected<DnsSockets, BindError> bind_dns(const Endpoint& endpoint);

/// A listening TCP socket.
[[nodiscard]] std::expected<BoundSocket, BindError> bind_tcp(const Endpoint& endpoint);

}  // namespace dohmux::server
