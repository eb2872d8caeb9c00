// What can be made to go wrong, as data. The words that set these are in fault_words.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/lab/ca.h"
#include "support/lab/loop.h"

namespace lab {

/// A fault that may wear out after so many uses.
template <class T>
class Fault {
 public:
  /// `times` < 0: for ever.
  void set(T value, long times) {
    value_ = std::move(value);
    left_ = times;
  }
  [[nodiscard]] bool armed() const { return value_.has_value(); }
  /// Uses it up once.
  std::optional<T> use() {
    std::optional<T> value = value_;
    if (value_ && left_ >= 0 && --left_ <= 0) {
      value_.reset();
    }
    return value;
  }
  [[nodiscard]] const std::optional<T>& peek() const { return value_; }

 private:
  std::optional<T> value_;
  long left_ = -1;
};

using Flag = Fault<std::monostate>;
using Header = std::pair<std::string, std::string>;

struct StatusFault {
  int status = 200;
  std::vector<Header> headers;
};

/// What one answer suffers; set for a resolver or for names.
struct AnswerFaults {
  Fault<Millis> delay;
  Flag hang;
  Flag half;  // header and half of the body, then nothing
  Fault<std::uint32_t> reset;
  Fault<std::uint32_t> half_reset;
  Flag drop;  // the whole connection, by FIN
  Fault<StatusFault> status;
  Fault<Header> header;
  Fault<std::string> type;
  Fault<std::uint32_t> age;
  Flag wrong_id;
  Flag wrong_question;
  Flag not_a_response;
  Flag truncated;
  Flag authentic;
  Fault<std::size_t> size;
  Fault<std::uint8_t> rcode;
  Fault<std::string> ede;
  Flag empty;
  Flag junk;
};

enum class AcceptMode : std::uint8_t { Serve, Refuse, Stall, Close, StallTls };

struct GoawayFault {
  enum class After : std::uint8_t { Drain, Close };
  std::uint64_t requests = 0;
  After after = After::Drain;
};

struct ResolverFaults {
  AcceptMode accept = AcceptMode::Serve;
  Fault<std::uint64_t> cut_after;
  Fault<GoawayFault> goaway;
  std::optional<Millis> idle_close;
  std::optional<std::uint32_t> max_streams;
  std::optional<Millis> rtt;
  AlpnOffer alpn = AlpnOffer::H2AndHttp1;
  CertKind cert = CertKind::Good;
  AnswerFaults answer;
};

/// Faults of query names, by suffix.
using NameFaults = std::map<std::string, AnswerFaults>;
/// The faults of the longest suffix that covers `name`, or null.
[[nodiscard]] AnswerFaults* faults_for(NameFaults& names, std::string_view name);

using Words = std::vector<std::string>;

/// Sets the answer fault that `words` name ("delay 50", "rst 7 3", "status 503 times=2").
[[nodiscard]] Result<void> set_answer_fault(AnswerFaults& faults, Words words);
/// The same for faults of a resolver, answer faults included. Words that act at once (goaway-all …) are not faults.
[[nodiscard]] Result<void> set_resolver_fault(ResolverFaults& faults, Words words);

[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view text);
/// "25ms", "2s", "25" (milliseconds).
[[nodiscard]] std::optional<Millis> to_millis(std::string_view text);
[[nodiscard]] Words split_words(std::string_view line);

}  // namespace lab
