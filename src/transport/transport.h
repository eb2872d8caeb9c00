// "Bytes to an origin by one way": what upstream asks of a transport, and what a transport reports.
// Both transports (curl now, native later) implement exactly this; one contract suite tests both.
#pragma once

#include <dohmux/config.h>

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/call.h"
#include "base/scheduler.h"

namespace dohmux::transport {

/// How far a dial or an exchange had come. In the order of time.
enum class Phase : std::uint8_t { ProxyConnect, Connect, Tunnel, TlsHandshake, Send, Receive };

/// What went wrong. One enumerator per row of contract.md §3, so that upstream/rules.cpp is a table.
enum class FailureKind : std::uint8_t {
  // A dial, or a request that was never sent:
  ProxyRefused,   // TCP to the proxy refused or unreachable
  ProxySilent,    // TCP to the proxy not up in time
  ProxyClosed,    // proxy closed or reset before a reply to CONNECT
  ProxyAuth,      // 407
  TunnelRefused,  // CONNECT answered with another status than 2xx (http_status has it)
  TunnelSilent,   // no reply to CONNECT in time
  TunnelBroken,   // cut, TLS alert or garbage behind an open tunnel; TLS not finished in time
  OriginRefused,  // direct only: TCP to the origin refused or unreachable
  OriginSilent,   // direct only: TCP to the origin not up in time
  TlsFailed,      // direct only: handshake failed, cut or not finished in time (certificate excepted)
  Certificate,    // chain, name, date or pin wrong
  NotConnected,   // a request found no live connection: nothing was sent; dial first
  // A request that was sent:
  ConnectionLost,  // connection reset, cut, framing error, or evicted as dead
  Orderly,         // GOAWAY above its last id, REFUSED_STREAM, idle connection found closed
  StreamReset,     // RST_STREAM with another code, this stream only
  Timeout,         // the caller's limit passed without a complete answer
  TooLarge,        // body above 65,535 octets
  BadHttp,         // answer that is no valid HTTP, cut body, unknown encoding
  Internal,        // the library refused (out of memory, bad option); text says which
};

/// Durations from the start of the dial; zero where the stage was not reached or not needed.
struct StageTimes {
  Duration proxy_connect{};  // TCP to the proxy (or to the origin when direct)
  Duration tunnel{};         // CONNECT answered
  Duration tls{};            // handshake finished
  Duration first_byte{};     // exchange only: request sent to first octet of the answer
  Duration total{};
};

struct Failure {
  FailureKind kind = FailureKind::Internal;
  Phase phase = Phase::Connect;
  int http_status = 0;       // of the proxy (TunnelRefused, ProxyAuth); else 0
  bool header_seen = false;  // an octet of the answer's header had arrived
  std::string detail;        // short, without URLs, names of queries or credentials: "tls: certificate has expired"
};

/// Which connection carried a request. Ids are unique per transport and never reused.
struct ConnectionUse {
  std::uint64_t connection = 0;  // 0: none
  bool sent = false;             // octets of the request were handed to the connection
  bool reused = false;           // the connection had carried a request before
  bool received_since = false;   // anything at all arrived on that connection since this request was sent
};

struct DialInfo {
  std::uint64_t connection = 0;
  bool http2 = true;  // false: HTTP/1.1 only
  std::string certificate_issuer;
  StageTimes times;
};

struct DohRequest {
  Bytes message;  // wire-format query, id 0
  HttpMethod method = HttpMethod::Post;
  std::string path;  // origin-form, as in UpstreamConfig::path
  Duration limit{};  // from the moment it is sent; Timeout after it
};

struct DohReply {
  int status = 0;
  std::string content_type;     // as received; empty when missing
  Bytes body;                   // ≤ 65,535 octets
  std::chrono::seconds age{0};  // HTTP Age
  std::optional<std::chrono::seconds> max_age;
  bool no_store = false;
  std::optional<std::chrono::seconds> retry_after;
};

struct ExchangeReport {
  std::expected<DohReply, Failure> result;
  ConnectionUse use;
  StageTimes times;
  bool http2 = true;
};

/// One origin reached by one exit, fixed for life.
struct LaneSpec {
  std::string host;  // SNI, certificate name, authority; numeric or a name
  std::uint16_t port = 443;
  std::optional<ProxyConfig> proxy;  // nullopt: direct
  OriginSettings origin;             // addresses (direct only), ca, caps
};

/// A lane's connections. Nothing completes inside the call that started it; destroying the lane cancels
/// all its calls and closes all its connections. Single-threaded.
class Lane {
 public:
  using DialDone = std::move_only_function<void(std::expected<DialInfo, Failure>)>;
  using SendDone = std::move_only_function<void(ExchangeReport)>;

  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  virtual ~Lane() = default;

  /// Opens one more connection, up to HTTP/2 (or HTTP/1.1) readiness, sending no request.
  [[nodiscard]] virtual std::unique_ptr<Call> dial(Duration limit, DialDone done) = 0;
  /// One request on a live connection. Only call it when ready().
  [[nodiscard]] virtual std::unique_ptr<Call> send(DohRequest request, SendDone done) = 0;
  /// True while a request handed over now would leave at once: a live connection exists, nothing handed
  /// over still waits to be sent, and a connection that has not yet answered carries only one request.
  [[nodiscard]] virtual bool ready() const = 0;
  /// Called (never inline in send/dial) when ready() may have become true, or connected() false.
  virtual void on_change(std::move_only_function<void()> changed) = 0;
  /// Connections past their handshake that are not known to be dead; asks the kernel for their state.
  [[nodiscard]] virtual std::size_t connected() const = 0;
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  /// Connections that this lane ever brought past their handshake, those opened for more streams included.
  [[nodiscard]] virtual std::uint64_t opened() const = 0;
  /// Ends one connection as dead: its requests fail with ConnectionLost.
  virtual void evict(std::uint64_t connection) = 0;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Errors: text naming what cannot be used (a CA file, for instance).
  [[nodiscard]] virtual std::expected<std::unique_ptr<Lane>, std::string> open(const LaneSpec& spec) = 0;
};

}  // namespace dohmux::transport
