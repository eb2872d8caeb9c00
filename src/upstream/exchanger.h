// What the resolver sees of everything upstream: a query in, a checked answer or a cause out.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/call.h"
#include "base/scheduler.h"
#include "dns/query.h"

namespace dohmux::upstream {

/// Why there is no answer; each maps to one EDE code in resolver/error_reply.cpp.
enum class Cause : std::uint8_t {
  NoReachableExit,  // every allowed exit failed or is known to be down (EDE 22)
  NetworkError,     // sent, but lost, timed out or refused by HTTP (EDE 23)
  BadAnswer,        // HTTP fine, DNS message not ours or malformed (EDE 23)
  Overload,         // shed (EDE 0)
  ShuttingDown,     // drain ended first (EDE 14)
};

/// How a query went; for the query log, metrics and `query --explain`.
struct Trail {
  std::string upstream;  // name; empty if none was chosen
  std::string host;      // of its URL
  std::string exit;      // "direct" or the proxy's name; empty if it never had one
  int sendings = 0;      // 0..2
  int http_status = 0;
};

struct Answer {
  Bytes message;  // passed dns::check_answer
  Trail trail;
  std::chrono::seconds age{0};  // HTTP Age (RFC 8484 §5.1)
  std::optional<std::chrono::seconds> max_age;
  bool no_store = false;
};

struct ExchangeError {
  Cause cause = Cause::NetworkError;
  std::string stage;  // for EDE text and logs: "tunnel: http 503"; never a URL, name or credential
  Trail trail;
};

class Exchanger {
 public:
  using Done = std::move_only_function<void(std::expected<Answer, ExchangeError>)>;

  Exchanger() = default;
  Exchanger(const Exchanger&) = delete;
  Exchanger& operator=(const Exchanger&) = delete;
  virtual ~Exchanger() = default;

  /// Asks with `message` (id 0) until `deadline` at the latest. `query` must outlive the call. Never completes inline.
  [[nodiscard]] virtual std::unique_ptr<Call> exchange(const dns::Query& query, Bytes message, TimePoint deadline, Done done) = 0;
};

}  // namespace dohmux::upstream
