// Strict readers for Age, Cache-Control, Retry-After and Content-Encoding.
// It must not know libcurl; a field that does not parse is as if it were absent (RFC 9111 §4.2.1, RFC 9110 §5.5).
#include "transport/curl/headers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace dohmux::transport {

namespace {

using std::chrono::seconds;

constexpr std::int64_t kLongest = std::int64_t{1} << 31U;
constexpr seconds kLeastRetry{1};
constexpr seconds kMostRetry{300};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](char x, char y) { return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y)); });
}

std::optional<int> digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

std::optional<seconds> parse_delta_seconds(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    value = std::min(kLongest, value * 10 + (c - '0'));
  }
  return seconds(value);
}

// "Sun, 06 Nov 1994 08:49:37 GMT": fixed columns.
std::optional<WallSeconds> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::size_t kLength = 29;
  if (text.size() != kLength || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' || text[16] != ' ' || text[19] != ':' ||
      text[22] != ':' || text.substr(25) != " GMT") {
    return std::nullopt;
  }
  const auto* month = std::ranges::find(kMonths, text.substr(8, 3));
  const auto day = digits(text.substr(5, 2));
  const auto year = digits(text.substr(12, 4));
  const auto hour = digits(text.substr(17, 2));
  const auto minute = digits(text.substr(20, 2));
  const auto second = digits(text.substr(23, 2));
  if (month == kMonths.end() || !day || !year || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) + seconds(*second);
}

std::optional<seconds> parse_retry_after(std::string_view text, WallSeconds now) {
  const std::string_view value = trim(text);
  if (const auto delta = parse_delta_seconds(value)) {
    return std::clamp(*delta, kLeastRetry, kMostRetry);
  }
  if (const auto date = parse_http_date(value)) {
    return std::clamp(std::chrono::duration_cast<seconds>(*date - now), kLeastRetry, kMostRetry);
  }
  return std::nullopt;
}

CacheControl parse_cache_control(std::string_view text) {
  CacheControl result;
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view directive = trim(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto equals = directive.find('=');
    const std::string_view name = trim(directive.substr(0, equals));
    std::string_view value = equals == std::string_view::npos ? std::string_view{} : trim(directive.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {  // RFC 9111 §5.2: either form is accepted
      value = value.substr(1, value.size() - 2);
    }
    if (equal_ignoring_case(name, "no-store")) {
      result.no_store = true;
    } else if (equal_ignoring_case(name, "max-age")) {
      if (const auto age = parse_delta_seconds(value)) {
        result.max_age = result.max_age ? std::min(*result.max_age, *age) : *age;
      }
    }
  }
  return result;
}

void ReplyHead::clear() {
  *this = ReplyHead{};
}

void ReplyHead::line(std::string_view raw) {
  seen_ = true;
  if (complete_) {
    return;  // a trailer
  }
  const std::string_view text = trim(raw);
  if (text.starts_with("HTTP/")) {
    const auto space = text.find(' ');
    interim_ = space != std::string_view::npos && text.substr(space + 1).starts_with('1');
    return;
  }
  if (text.empty()) {
    complete_ = !interim_;
    return;
  }
  const auto colon = text.find(':');
  if (!interim_ && colon != std::string_view::npos) {
    field(text.substr(0, colon), trim(text.substr(colon + 1)));
  }
}

void ReplyHead::field(std::string_view name, std::string_view value) {
  if (equal_ignoring_case(name, "content-type")) {
    content_type = value;
  } else if (equal_ignoring_case(name, "age")) {
    age = parse_delta_seconds(value).value_or(age);
  } else if (equal_ignoring_case(name, "cache-control")) {
    const CacheControl more = parse_cache_control(value);
    cache_control.no_store |= more.no_store;
    if (more.max_age) {
      cache_control.max_age = cache_control.max_age ? std::min(*cache_control.max_age, *more.max_age) : *more.max_age;
    }
  } else if (equal_ignoring_case(name, "retry-after")) {
    retry_after = value;
  } else if (equal_ignoring_case(name, "content-encoding")) {
    coded |= !value.empty() && !equal_ignoring_case(value, "identity");
  }
}

}  // namespace dohmux::transport
