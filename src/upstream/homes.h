// Which exit is whose home: rendezvous hashing of (host, exit, instance), balanced. Pure (contract.md §3, Pinning).
#pragma once

#include <string>
#include <vector>

#include "upstream/exits.h"

namespace dohmux::upstream {

/// A host and the exits that it may use.
struct Placement {
  std::string host;  // "dns.quad9.net:443"
  std::vector<ExitId> allowed;
};

/// For each host its allowed exits, the home first, then in the order in which they are tried. The same input gives
/// the same result, whatever the order of `hosts`. No exit is the home of more than ceil(hosts / exits) hosts while
/// the allowed sets permit.
[[nodiscard]] std::vector<std::vector<ExitId>> assign_homes(const std::vector<Placement>& hosts, const std::vector<std::string>& exits,
                                                            const std::string& instance);

}  // namespace dohmux::upstream
