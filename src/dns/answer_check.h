// Does this message answer that query? One list of rules (RFC 5452 §9.1, RFC 8484 §4.1).
#pragma once

#include <expected>
#include <string_view>

#include "base/bytes.h"
#include "dns/query.h"

namespace dohmux::dns {

enum class AnswerFault : std::uint8_t { TooShort, TooLong, NotAResponse, WrongId, WrongOpcode, WrongQuestion, Malformed };
[[nodiscard]] std::string_view to_string(AnswerFault fault);

/// `message` as it came from the resolver to a query sent with id 0.
[[nodiscard]] std::expected<void, AnswerFault> check_answer(const Query& query, ByteView message);

}  // namespace dohmux::dns
