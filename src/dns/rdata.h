// The few types whose RDATA is more than octets to us: addresses, and the types whose names may be
// compressed (RFC 3597 §4). Every other type is opaque.
#pragma once

#include "base/bytes.h"
#include "dns/records.h"
#include "dns/wire_writer.h"

namespace dohmux::dns {

/// The RDATA has the form of its type: lengths right, names whole and ending inside. Opaque types always have.
[[nodiscard]] bool rdata_is_well_formed(ByteView message, const Record& record) noexcept;

/// Appends the record with every name written out, so that nothing in it refers to another place of `message`.
/// RDATA must be well-formed. The writer fails when there is no room.
void write_uncompressed(WireWriter& writer, ByteView message, const Record& record);

}  // namespace dohmux::dns
