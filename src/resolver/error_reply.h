// Why a client gets SERVFAIL, in the words of RFC 8914.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "dns/reply.h"
#include "resolver/client.h"
#include "upstream/exchanger.h"

namespace dohmux {

/// SERVFAIL for a query whose exchange failed. The EDE text names the stage; the exit's label only to loopback clients.
[[nodiscard]] Bytes servfail(const dns::Query& query, const upstream::ExchangeError& error, const Client& client);

/// TC=1 and nothing else: whoever asked for real asks again over TCP.
[[nodiscard]] Bytes truncated_reply(const dns::Query& query);

[[nodiscard]] dns::EdeCode ede_code(upstream::Cause cause);

}  // namespace dohmux
