// The query log: one JSON object a line, the only place where names and client addresses are written (log.queries).
#pragma once

#include <string>

#include "base/scheduler.h"
#include "dns/query.h"
#include "resolver/client.h"
#include "upstream/exchanger.h"

namespace dohmux {

struct QueryLogEntry {
  const Client& client;
  const dns::Query& query;
  const upstream::Trail& trail;
  std::uint16_t rcode = 0;
  std::string_view source;  // as in metrics
  std::string_view error;   // stage of the failure; empty if none
  Duration took{};
};

[[nodiscard]] std::string query_log_line(const QueryLogEntry& entry);

}  // namespace dohmux
