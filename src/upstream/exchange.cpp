// What becomes of one query: which upstream, when again, when not. Reads verdicts of rules.cpp; must not know lanes.
#include "upstream/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "dns/answer_check.h"

namespace dohmux::upstream {
namespace {

using namespace std::chrono_literals;
constexpr int kMaxSendings = 2;         // ever (contract.md §3)
constexpr Duration kUsefulTime = 30ms;  // less is not worth a second sending

/// RFC 8484 §4.2.1, RFC 9110 §8.3.1: the media type, whatever its case and parameters.
bool is_dns_message(std::string_view content_type) {
  constexpr std::string_view kWanted = "application/dns-message";
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) {
    type.remove_suffix(1);
  }
  return std::ranges::equal(type, kWanted, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; });
}

/// Statuses that carry a DNS message: 2xx but for those without a usable body (RFC 9110 §15.3).
bool carries_message(int status) {
  return status >= 200 && status <= 299 && status != 204 && status != 205 && status != 206;
}

}  // namespace

Exchange::Exchange(Group& group, const dns::Query& query, Bytes message, TimePoint deadline)
    : group_(group), query_(query), message_(std::move(message)), deadline_(deadline) {}

TimePoint Exchange::now() const {
  return group_.world().scheduler.now();
}

void Exchange::start(std::size_t first, Exchanger::Done done) {
  done_ = std::move(done);
  start_ = first;
  ask(group_.pick(start_, tried_).value_or(0));
}

void Exchange::ask(std::size_t index) {
  index_ = index;
  const Upstream& upstream = group_.at(index);
  trail_.upstream = upstream.name;
  trail_.host = upstream.host_name;
  if (tried_.empty()) {
    tried_.resize(group_.size());
  }
  tried_[index] = 1;
  const bool others = std::ranges::find(tried_, std::uint8_t{0}) != tried_.end();
  const TimePoint give_up = others ? std::min(deadline_, now() + Duration(group_.world().timeouts.attempt)) : deadline_;
  Ask question{.request = {.message = message_, .method = upstream.method, .path = upstream.path, .limit = {}},
               .deadline = deadline_,
               .give_up = give_up,
               .upstream = upstream.metric,
               .second = trail_.sendings > 0};
  call_ = upstream.host->ask(std::move(question), [this](AskResult result) { on_result(std::move(result)); });
}

void Exchange::on_result(AskResult result) {
  trail_.exit = group_.world().exits.name(result.exit);
  if (!result.report) {
    on_unsent(result);
    return;
  }
  ++trail_.sendings;
  if (result.report->result) {
    on_reply(std::move(result));
  } else {
    on_failure(result);
  }
}

bool Exchange::may_send_again() const {
  return trail_.sendings < kMaxSendings && deadline_ - now() >= kUsefulTime;
}

bool Exchange::ask_other() {
  if (!may_send_again()) {
    return false;
  }
  const auto other = group_.pick(start_, tried_);
  if (!other) {
    return false;
  }
  ask(*other);
  return true;
}

void Exchange::on_unsent(const AskResult& result) {
  const Cause cause = result.unsent == Unsent::Certificate ? Cause::NetworkError
                      : result.unsent == Unsent::Full      ? Cause::Overload
                                                           : Cause::NoReachableExit;
  if (!ask_other()) {
    fail(cause, result.stage);
  }
}

void Exchange::on_failure(const AskResult& result) {
  const transport::Failure& failure = result.report->result.error();
  const bool again = result.verdict.again == Again::Once && may_send_again();
  const std::string_view reason = word(failure.kind);
  const bool slow_host = failure.kind == transport::FailureKind::Timeout && result.verdict.book == Book::Host;
  if (again) {
    group_.world().metrics.retry(group_.at(index_).metric, reason);
  }
  if ((slow_host || result.verdict.again == Again::OtherUpstream) && ask_other()) {
    return;
  }
  if (again) {
    ask(index_);
    return;
  }
  fail(Cause::NetworkError, result.stage);
}

void Exchange::on_reply(AskResult result) {
  const Upstream& upstream = group_.at(index_);
  transport::DohReply& reply = *result.report->result;
  const auto count = [&](stats::Outcome outcome) {
    group_.world().metrics.sending(upstream.metric, result.exit, outcome, result.report->times.total);
  };
  trail_.http_status = reply.status;
  if (!carries_message(reply.status)) {
    count(stats::Outcome::HttpStatus);
    bad_answer(Cause::NetworkError, fmt::format("http {}", reply.status), reply.retry_after);
    return;
  }
  if (!is_dns_message(reply.content_type)) {
    count(stats::Outcome::BadAnswer);
    bad_answer(Cause::BadAnswer, "http: wrong content type", std::nullopt);
    return;
  }
  if (const auto checked = dns::check_answer(query_, reply.body); !checked) {
    count(stats::Outcome::BadAnswer);
    bad_answer(Cause::BadAnswer, fmt::format("bad answer: {}", dns::to_string(checked.error())), std::nullopt);
    return;
  }
  count(stats::Outcome::Answered);
  upstream.host->behaved();
  Answer answer{
      .message = std::move(reply.body), .trail = std::move(trail_), .age = reply.age, .max_age = reply.max_age, .no_store = reply.no_store};
  auto done = std::move(done_);
  done(std::move(answer));
}

void Exchange::bad_answer(Cause cause, std::string stage, std::optional<std::chrono::seconds> wait) {
  group_.at(index_).host->misbehaved(wait);
  const std::size_t asked = index_;
  if (ask_other()) {
    group_.world().metrics.retry(group_.at(asked).metric, cause == Cause::BadAnswer ? "bad_answer" : "http_status");
    return;
  }
  fail(cause, std::move(stage));
}

void Exchange::fail(Cause cause, std::string stage) {
  ExchangeError error{.cause = cause, .stage = std::move(stage), .trail = std::move(trail_)};
  auto done = std::move(done_);
  done(std::unexpected(std::move(error)));
}

}  // namespace dohmux::upstream
