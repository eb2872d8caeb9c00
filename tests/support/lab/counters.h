// What a party of the lab has counted. Tests compare these exactly.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lab {

using CounterRow = std::vector<std::pair<std::string, long>>;

struct ResolverCounters {
  long accepts = 0;
  long handshakes = 0;
  long resumed = 0;
  long tls_failures = 0;
  long requests = 0;         // HTTP requests seen, refused ones included
  long queries = 0;          // those that held a DNS query and were not refused by stream limit or GOAWAY
  long answered = 0;         // whole replies given, whatever their status
  long refused_streams = 0;  // REFUSED_STREAM, or behind a GOAWAY
  long resets = 0;           // other RST_STREAM on purpose
  long cancelled = 0;        // the stream was gone when its reply was due
  long direct = 0;           // connections not from a proxy
  std::vector<long> via;     // connections through each proxy
  long open = 0;
  long max_open = 0;
  long max_streams_seen = 0;  // at one time on one connection
  long id_nonzero = 0;
  long unpadded = 0;  // message length not a multiple of 128
  long with_opt = 0;
  long trailing = 0;    // octets behind the last record
  long http1 = 0;       // connections that speak HTTP/1.1
  long wrong_name = 0;  // TLS server name or authority is not this resolver's

  /// Everything but `open` starts again.
  void reset();
  [[nodiscard]] CounterRow row() const;
};

/// Lives in memory shared with the proxy's process and outlives it.
struct ProxyCounters {
  std::atomic<long> accepts{0};
  std::atomic<long> connects{0};  // CONNECT requests read
  std::atomic<long> ok{0};        // answered 200
  std::atomic<long> refused{0};   // answered otherwise
  std::atomic<long> auth_failed{0};
  std::atomic<long> unknown{0};  // CONNECT to something that is no resolver
  std::atomic<long> open{0};     // client connections

  void reset();
  [[nodiscard]] CounterRow row() const;
};

}  // namespace lab
