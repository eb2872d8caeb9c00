// Who sits on a port, as far as /proc tells us.
#pragma once

#include <dohmux/address.h>

#include <optional>
#include <string>

#include "resolver/client.h"

namespace dohmux::server {

struct PortHolder {
  int pid = 0;
  std::string name;
};

/// For the text of an error only: slow, and nullopt when the holder belongs to somebody else and we are not root.
[[nodiscard]] std::optional<PortHolder> find_port_holder(const Endpoint& endpoint, Protocol protocol);

}  // namespace dohmux::server
