// Names that mean something to every resolver and must not leave this one (RFC 6761, 6303, 6762, 7686, 7793, 8375, 9462, 9665).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dns/local_answer.h"
#include "dns/query.h"

namespace dohmux::dns {

enum class SpecialAction : std::uint8_t {
  Loopback,         // this host's own addresses (RFC 6761 §6.3)
  NxDomain,         // nothing there
  NoData,           // the name may exist, whatever is asked does not
  LoopbackReverse,  // PTR localhost for the address itself, nothing beside it
};

struct SpecialZone {
  std::string name;  // presentation form, lower case, without the final dot
  SpecialAction action = SpecialAction::NxDomain;
  bool ds_from_parent = false;  // the zone is delegated: its DS belongs to the parent, and validators need that (RFC 8375 §4)
};

/// All of them, none inside another.
[[nodiscard]] std::vector<SpecialZone> special_zones();

/// The answer to a question in `zone`, whose name takes the last `zone_size` octets of the question's. Nothing for a DS that
/// the parent has.
[[nodiscard]] std::optional<LocalAnswer> special_answer(const Query& query, const SpecialZone& zone, std::size_t zone_size);

}  // namespace dohmux::dns
