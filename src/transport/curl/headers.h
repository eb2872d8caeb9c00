// The few header fields of an answer that matter to a DNS resolver, read strictly.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace dohmux::transport {

/// Seconds since 1970 of the wall clock; only an HTTP-date needs it.
using WallSeconds = std::chrono::sys_seconds;

/// delta-seconds (RFC 9111 §1.2.2): digits only; beyond 2^31 clamped to it.
[[nodiscard]] std::optional<std::chrono::seconds> parse_delta_seconds(std::string_view text);
/// IMF-fixdate (RFC 9110 §5.6.7); the obsolete forms are not accepted.
[[nodiscard]] std::optional<WallSeconds> parse_http_date(std::string_view text);
/// Retry-After in either form (RFC 9110 §10.2.3), clamped to 1-300 s.
[[nodiscard]] std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, WallSeconds now);

struct CacheControl {
  std::optional<std::chrono::seconds> max_age;  // the smallest if there are several
  bool no_store = false;
};
[[nodiscard]] CacheControl parse_cache_control(std::string_view text);

/// Collects one answer's header lines as libcurl hands them over. Interim answers (1xx) and trailers are ignored.
class ReplyHead {
 public:
  void clear();
  void line(std::string_view raw);

  [[nodiscard]] bool seen() const noexcept { return seen_; }          // any octet of a header, also of an interim answer
  [[nodiscard]] bool complete() const noexcept { return complete_; }  // the final answer's header has ended

  std::string content_type;
  std::chrono::seconds age{0};
  CacheControl cache_control;
  std::string retry_after;  // as received
  bool coded = false;       // a Content-Encoding that nobody asked for

 private:
  void field(std::string_view name, std::string_view value);

  bool seen_ = false;
  bool complete_ = false;
  bool interim_ = false;
};

}  // namespace dohmux::transport
