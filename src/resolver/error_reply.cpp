// Cause to EDE code, in one table (RFC 8914 §4). Knows nothing of how a query is forwarded.
#include "resolver/error_reply.h"

#include <fmt/format.h>

#include "dns/header.h"

namespace dohmux {

dns::EdeCode ede_code(upstream::Cause cause) {
  switch (cause) {
    case upstream::Cause::NoReachableExit:
      return dns::EdeCode::NoReachableAuthority;
    case upstream::Cause::NetworkError:
    case upstream::Cause::BadAnswer:
      return dns::EdeCode::NetworkError;
    case upstream::Cause::ShuttingDown:
      return dns::EdeCode::NotReady;
    case upstream::Cause::Overload:
      return dns::EdeCode::Other;
  }
  return dns::EdeCode::Other;
}

Bytes truncated_reply(const dns::Query& query) {
  Bytes reply = dns::error_reply(query, dns::Rcode::NoError);
  reply[2] |= dns::kFlagTc >> 8U;
  return reply;
}

Bytes servfail(const dns::Query& query, const upstream::ExchangeError& error, const Client& client) {
  std::string text = error.stage;
  if (error.trail.sendings > 1) {
    text += ", sent twice";
  }
  if (client.peer.address.is_loopback() && !error.trail.exit.empty()) {
    const bool plain = error.trail.upstream == "route";  // a server of a route has no name but its address
    text = fmt::format("{}: {}", plain ? error.trail.host : error.trail.exit, text);
  }
  return dns::error_reply(query, dns::Rcode::ServFail, dns::Ede{.code = ede_code(error.cause), .text = text});
}

}  // namespace dohmux
