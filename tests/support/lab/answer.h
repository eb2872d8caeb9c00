// From a request and the faults in force to what happens to it.
#pragma once

#include <optional>
#include <string>

#include "support/lab/dns.h"
#include "support/lab/faults.h"
#include "support/lab/http.h"

namespace lab {

struct AnswerPlan {
  enum class Fate : std::uint8_t { Reply, Silence, Reset, Drop };

  Fate fate = Fate::Reply;
  Millis delay{0};
  std::uint32_t reset_code = 0;
  HttpReply reply;
  std::optional<DnsQuery> query;  // if there was one
  std::string fault;              // its name, for the log
};

/// Faults of the query's name win over those of the resolver. Uses faults up.
[[nodiscard]] AnswerPlan plan_answer(const HttpRequest& request, AnswerFaults& by_resolver, NameFaults& names);

}  // namespace lab
