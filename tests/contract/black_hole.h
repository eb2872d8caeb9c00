// A loopback port on which TCP connections are neither accepted nor refused.
#pragma once

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"

namespace dohmux::contract {

class BlackHole {
 public:
  BlackHole();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  UniqueFd listener_;
  std::vector<UniqueFd> fillers_;
  std::uint16_t port_ = 0;
};

}  // namespace dohmux::contract
