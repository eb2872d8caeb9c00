// One query on its way: the first sending, and at most one more (contract.md §3). The only retry in the program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "upstream/group.h"

namespace dohmux::upstream {

class Exchange final : public Call {
 public:
  /// `query` must outlive this object.
  Exchange(Group& group, const dns::Query& query, Bytes message, TimePoint deadline);

  /// Asks the first upstream. `done` never runs inline; it may destroy this object.
  void start(std::size_t first, Exchanger::Done done);

 private:
  void ask(std::size_t index);
  void on_result(AskResult result);
  void on_unsent(const AskResult& result);
  void on_failure(const AskResult& result);
  void on_reply(AskResult result);
  void bad_answer(Cause cause, std::string stage, std::optional<std::chrono::seconds> wait);
  [[nodiscard]] bool ask_other();
  [[nodiscard]] bool may_send_again() const;
  void fail(Cause cause, std::string stage);
  [[nodiscard]] TimePoint now() const;

  Group& group_;
  const dns::Query& query_;
  Bytes message_;
  TimePoint deadline_;
  Exchanger::Done done_;
  std::size_t start_ = 0;
  std::size_t index_ = 0;            // the upstream that is asked now
  std::vector<std::uint8_t> tried_;  // per upstream
  Trail trail_;
  std::unique_ptr<Call> call_;
};

}  // namespace dohmux::upstream
