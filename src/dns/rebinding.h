// Addresses that a public name has no business with: an answer that holds one can turn a browser against the private
// network (DNS rebinding).
#pragma once

#include "base/bytes.h"

namespace dohmux::dns {

/// Some record of the message leads to a private address: A, AAAA, or a hint of SVCB and HTTPS (RFC 9460 §7.3). For checked
/// answers; of a malformed one everything before the fault is seen.
[[nodiscard]] bool holds_private_address(ByteView message) noexcept;

/// 4 or 16 octets: this host, this link, or a private range; in IPv6 also such an IPv4 address in one of the forms that
/// carry one (mapped, compatible, NAT64).
[[nodiscard]] bool is_private_address(ByteView address) noexcept;

}  // namespace dohmux::dns
