// The lab's own view of DNS messages: reads queries, makes answers. Independent of the daemon's code on purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

struct DnsQuery {
  std::size_t size = 0;  // octets of the whole message
  std::uint16_t id = 0;
  std::uint16_t flags = 0;
  std::string question;  // octets: name, type, class
  std::string name;      // lower case, without the last dot; odd octets as \DDD
  std::uint16_t type = 0;
  std::uint16_t klass = 0;
  bool has_opt = false;
  bool dnssec_ok = false;
  std::uint16_t udp_size = 0;
  std::vector<std::uint16_t> options;  // codes, in order
  std::size_t trailing = 0;            // octets after the last record

  [[nodiscard]] bool checking_disabled() const { return (flags & 0x0010U) != 0; }
};

/// Nothing if it is not one question with well-formed records behind it.
[[nodiscard]] std::optional<DnsQuery> parse_query(std::string_view message);

/// First label's wishes: d250 delays, size3000 grows, nx… and nodata… deny; any label ttl60 sets the TTL.
struct NameWishes {
  std::uint32_t delay_ms = 0;
  std::size_t size = 0;
  std::uint32_t ttl = 300;
  bool nxdomain = false;
  bool nodata = false;
};
[[nodiscard]] NameWishes wishes_of(std::string_view name);

/// How an answer departs from the plain one.
struct AnswerShape {
  std::optional<std::uint8_t> rcode;  // no answer section then
  std::size_t size = 0;               // 0: natural; else the message is filled to exactly that many octets
  std::string ede;                    // the option's data: code and text
  std::uint16_t id_xor = 0;
  std::uint16_t flags_set = 0;
  std::uint16_t flags_cleared = 0;
  bool other_question = false;
};
[[nodiscard]] std::string build_answer(const DnsQuery& query, const AnswerShape& shape);

/// "A", "AAAA", … or TYPE123.
[[nodiscard]] std::string type_name(std::uint16_t type);

}  // namespace lab
