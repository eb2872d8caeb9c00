// What a proxy can be told to do wrong, as data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "support/lab/faults.h"

namespace lab {

enum class ProxyMode : std::uint8_t {
  Serve,
  Refuse,        // the listener is closed
  Stall,         // accepts, never reads
  StallConnect,  // reads CONNECT, connects, never answers
  Close,         // accepts and closes
  CloseAfter200,
  Garbage,  // plain text behind the 200
};

struct ProxyFaults {
  ProxyMode mode = ProxyMode::Serve;
  std::optional<int> status;               // instead of a 200, for every destination
  std::map<std::string, int> status_for;   // by resolver name
  std::optional<std::string> credentials;  // "user:password" in base64, as basic authentication sends it
  Fault<std::uint64_t> cut_after;          // octets from the origin, per tunnel
  std::optional<Millis> delay;             // before the reply to CONNECT
};

/// Sets the fault that `words` name. Words that act at once (cut-all, freeze-all, kill …) are not faults.
[[nodiscard]] Result<void> set_proxy_fault(ProxyFaults& faults, Words words);

}  // namespace lab
