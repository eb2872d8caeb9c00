// Answers that nobody is asked for: records of the configuration, special names, and the proof that there is nothing.
#pragma once

#include <dohmux/address.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "dns/query.h"
#include "dns/reply.h"

namespace dohmux::dns {

struct LocalRecord {
  std::uint16_t type = 0;
  Bytes rdata;
  bool operator==(const LocalRecord&) const = default;
};

/// What is known of the asked name. Its records of the asked type are sent; none of them: NODATA, or NXDOMAIN by `rcode`.
struct LocalAnswer {
  Rcode rcode = Rcode::NoError;
  std::vector<LocalRecord> records;  // of all types
  std::size_t zone_size = 0;         // octets at the end of the asked name that own the SOA of a negative answer
  std::uint32_t ttl = 0;             // of every record; of a negative answer too
  std::optional<Ede> ede;            // its text must outlive the call that writes it
};

/// The reply, as client_reply makes it: AA, AD and Z are 0, RA is 1. A negative one has a SOA in the form of RFC 6303 §3, so
/// that stub resolvers keep it (RFC 2308 §5).
[[nodiscard]] Bytes local_reply(const Query& query, const LocalAnswer& answer, std::size_t limit);

/// An A or AAAA record.
[[nodiscard]] LocalRecord address_record(const IpAddress& address);

/// "1.2.0.192.in-addr.arpa" or the 32 nibbles below ip6.arpa (RFC 3596 §2.5), in wire form and lower case.
[[nodiscard]] Bytes reverse_name(const IpAddress& address);

}  // namespace dohmux::dns
