// Formatting of query-log lines with stable keys (docs/configuration.md, log.queries).
#include "resolver/query_log.h"

#include <fmt/format.h>

#include "base/log.h"
#include "dns/text.h"

namespace dohmux {

std::string query_log_line(const QueryLogEntry& entry) {
  const auto quoted = [](std::string_view text) { return '"' + log::json_escape(text) + '"'; };
  return fmt::format(
      R"({{"event":"query","client":{},"proto":"{}","name":{},"type":{},"rcode":{},"source":"{}","ms":{:.3f},"upstream":{},"host":{},"exit":{},"sendings":{},"error":{}}})",
      quoted(entry.client.peer.to_string()), entry.client.protocol == Protocol::Udp ? "udp" : "tcp",
      quoted(dns::name_text(entry.query.name())), quoted(dns::type_text(entry.query.type)), quoted(dns::rcode_text(entry.rcode)),
      entry.source, std::chrono::duration<double, std::milli>(entry.took).count(), quoted(entry.trail.upstream), quoted(entry.trail.host),
      quoted(entry.trail.exit), entry.trail.sendings, quoted(entry.error));
}

}  // namespace dohmux
