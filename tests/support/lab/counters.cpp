// Rows of counters for `stats`.
// Must not know who counts.
#include "support/lab/counters.h"

#include <fmt/format.h>

namespace lab {

void ResolverCounters::reset() {
  ResolverCounters fresh;
  fresh.open = open;
  fresh.max_open = open;
  fresh.via.resize(via.size());
  *this = fresh;
}

CounterRow ResolverCounters::row() const {
  CounterRow row = {{"accepts", accepts},
                    {"handshakes", handshakes},
                    {"resumed", resumed},
                    {"tls_failures", tls_failures},
                    {"requests", requests},
                    {"queries", queries},
                    {"answered", answered},
                    {"refused_streams", refused_streams},
                    {"resets", resets},
                    {"cancelled", cancelled},
                    {"open", open},
                    {"max_open", max_open},
                    {"id_nonzero", id_nonzero},
                    {"max_streams_seen", max_streams_seen},
                    {"unpadded", unpadded},
                    {"with_opt", with_opt},
                    {"trailing", trailing},
                    {"http1", http1},
                    {"wrong_name", wrong_name},
                    {"direct", direct}};
  for (std::size_t i = 0; i < via.size(); ++i) {
    row.emplace_back(fmt::format("via_p{}", i + 1), via[i]);
  }
  return row;
}

void ProxyCounters::reset() {
  for (std::atomic<long>* counter : {&accepts, &connects, &ok, &refused, &auth_failed, &unknown}) {
    counter->store(0);
  }
}

CounterRow ProxyCounters::row() const {
  return {{"accepts", accepts},         {"connects", connects}, {"ok", ok},    {"refused", refused},
          {"auth_failed", auth_failed}, {"unknown", unknown},   {"open", open}};
}

}  // namespace lab
