// contract.md §3, "What happens when", as one table: failure in, consequences out. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/transport.h"

namespace dohmux::upstream {

/// What may be done for the query that met the failure.
enum class Again : std::uint8_t {
  NotSent,        // nothing was sent: it may wait for another dial
  Once,           // sent once more if it was sent only once: same host, wherever it is then
  OtherUpstream,  // only to another upstream of the group
};

/// Whose record the failure is put on.
enum class Book : std::uint8_t { Nobody, Proxy, Lane, Host };

enum class Move : std::uint8_t { Stay, Leave };

struct Verdict {
  Again again = Again::NotSent;
  Move move = Move::Stay;
  Book book = Book::Nobody;
};

/// For a dial that failed.
[[nodiscard]] Verdict judge_dial(const transport::Failure& failure);
/// For a request that was sent and got no complete HTTP answer.
[[nodiscard]] Verdict judge_exchange(const transport::Failure& failure, const transport::ConnectionUse& use);
/// For an HTTP answer that is no DNS answer (status, type, body).
[[nodiscard]] constexpr Verdict judge_bad_answer() {
  return {Again::OtherUpstream, Move::Stay, Book::Host};
}

/// Closed set of words for metrics and logs.
[[nodiscard]] std::string_view word(transport::FailureKind kind);
/// "tunnel: http 503", "proxy: connection refused": stage and cause, for logs and EDE texts.
[[nodiscard]] std::string stage_text(const transport::Failure& failure);

}  // namespace dohmux::upstream
