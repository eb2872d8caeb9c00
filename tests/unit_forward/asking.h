// A loop, a forwarder over scripted servers, and questions whose outcomes are kept.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dns/query.h"
#include "forward/plain_forwarder.h"
#include "support/message_builder.h"
#include "support/plain_dns.h"
#include "unit_event/pump.h"

namespace dohmux::test {

using Outcome = std::expected<upstream::Answer, upstream::ExchangeError>;

/// One question; destroying it cancels the call.
struct Question {
  dns::Query query;
  std::unique_ptr<Call> call;
  std::optional<Outcome> outcome;

  [[nodiscard]] bool answered() const { return outcome && outcome->has_value(); }
  [[nodiscard]] const Bytes& message() const { return (*outcome)->message; }
  [[nodiscard]] unsigned rcode() const { return message().at(3) & 0x0FU; }
  [[nodiscard]] unsigned records() const { return message().at(7); }
  [[nodiscard]] std::string stage() const { return outcome && !*outcome ? outcome->error().stage : ""; }
  /// The address in the first answer record of an answer to an A question, and "" without one.
  [[nodiscard]] Octets address() const {
    const std::size_t at = 12 + query.question.size() + query.name().size() + 10;
    return records() == 0
               ? Octets{}
               : Octets(message().begin() + static_cast<std::ptrdiff_t>(at), message().begin() + static_cast<std::ptrdiff_t>(at) + 4);
  }
};

class Asking {
 public:
  explicit Asking(const std::vector<const PlainDns*>& servers, TimeoutsConfig timeouts = {})
      : forwarder(loop, endpoints(servers), timeouts, Random(1)) {}

  Question& ask(const std::string& name = "www.corp.example", std::chrono::milliseconds time = std::chrono::seconds(10)) {
    Question& question = questions.emplace_back();
    question.query = *dns::parse_query(test::query(name).build());
    question.call = forwarder.exchange(question.query, dns::upstream_query(question.query, dns::Padding::None), loop.now() + time,
                                       [&question](Outcome outcome) { question.outcome = std::move(outcome); });
    return question;
  }
  /// Asks and waits for the outcome.
  Question& asked(const std::string& name = "www.corp.example", std::chrono::milliseconds time = std::chrono::seconds(10)) {
    Question& question = ask(name, time);
    pump_until(loop, [&] { return question.outcome.has_value(); }, std::chrono::seconds(20));
    return question;
  }
  bool all_over() {
    return pump_until(
        loop, [&] { return std::ranges::all_of(questions, [](const Question& one) { return one.outcome.has_value(); }); },
        std::chrono::seconds(30));
  }

  static std::vector<Endpoint> endpoints(const std::vector<const PlainDns*>& servers) {
    std::vector<Endpoint> list;
    for (const PlainDns* server : servers) {
      list.push_back(*Endpoint::parse(server->endpoint()));
    }
    return list;
  }

  event::Loop loop;
  forward::PlainForwarder forwarder;
  std::list<Question> questions;
};

inline std::size_t open_descriptors() {
  const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace dohmux::test
