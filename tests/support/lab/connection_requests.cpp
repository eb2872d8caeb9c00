// A connection's requests: counting, logging, answering, and the faults that strike between requests.
// Must not know sockets or TLS; connection.cpp has that half of the class.
#include <fmt/format.h>

#include <algorithm>

#include "support/lab/connection.h"

namespace lab {

namespace {

constexpr std::uint32_t kRefusedStream = 7;  // RFC 9113 §7

}  // namespace

void Connection::limit_streams(std::uint32_t limit) {
  if (session_ && phase_ == Phase::Serving) {
    session_->limit_streams(limit);
  }
}

void Connection::faults_changed() {
  sent_since_fault_ = 0;
  requests_since_fault_ = 0;
  arm_idle_timer();
}

void Connection::send_goaway() {
  if (session_ && phase_ == Phase::Serving && !went_away_) {
    went_away_ = true;
    owner_.around().log.write(entry("goaway").add("last", last_processed_));
    session_->goaway(last_processed_);
  }
}

void Connection::arm_idle_timer() {
  Loop& loop = owner_.around().loop;
  if (idle_timer_) {
    loop.cancel(*idle_timer_);
    idle_timer_.reset();
  }
  if (!owner_.faults().idle_close || open_streams_ != 0 || !session_) {
    return;
  }
  idle_timer_ = loop.after(*owner_.faults().idle_close, [this] {
    idle_timer_.reset();
    tls_.send_close_notify();
    send_pending();
    close_orderly("idle-close");
  });
}

void Connection::on_stream_opened(std::size_t open) {
  open_streams_ = open;
  ResolverCounters& counters = owner_.counters();
  ++counters.requests;
  counters.max_streams_seen = std::max(counters.max_streams_seen, static_cast<long>(open));
  arm_idle_timer();
}

void Connection::on_stream_closed(std::size_t open) {
  open_streams_ = open;
  arm_idle_timer();
}

void Connection::on_stream_refused() {
  ++owner_.counters().refused_streams;
  owner_.around().log.write(entry("refused"));
}

// Whether a GOAWAY that is due leaves this request unprocessed.
bool Connection::goes_away_before(StreamId stream) {
  const auto& fault = owner_.faults().goaway.peek();
  const bool can = tls_.alpn() == "h2";  // HTTP/1.1 can only close after a reply
  if (!can || !fault || went_away_ || fault->requests != 0 || stream <= last_processed_) {
    return false;
  }
  goaway_by_fault();
  return true;
}

void Connection::goaway_by_fault() {
  const auto fault = owner_.faults().goaway.use();
  finish_after_send_ = fault && fault->after == GoawayFault::After::Close;
  send_goaway();
}

void Connection::on_request(HttpRequest request) {
  if (phase_ != Phase::Serving) {
    return;
  }
  if (goes_away_before(request.stream)) {
    on_stream_refused();
    return;
  }
  last_processed_ = std::max(last_processed_, request.stream);
  ++requests_since_fault_;
  AnswerPlan plan = plan_answer(request, owner_.faults().answer, owner_.around().names);
  count_query(request, plan);
  schedule(request.stream, std::move(plan));
  const auto& fault = owner_.faults().goaway.peek();
  if (fault && !went_away_ && requests_since_fault_ >= fault->requests) {
    goaway_by_fault();
  }
}

void Connection::count_query(const HttpRequest& request, const AnswerPlan& plan) {
  ResolverCounters& counters = owner_.counters();
  const std::string_view authority = request.authority;
  counters.wrong_name += authority.substr(0, authority.find(':')) == owner_.host() ? 0 : 1;
  LogEntry line = entry("query");
  line.add("stream", request.stream).add("method", request.method);
  if (plan.query) {
    const DnsQuery& query = *plan.query;
    ++counters.queries;
    counters.id_nonzero += query.id != 0 ? 1 : 0;
    counters.unpadded += query.size % 128 != 0 ? 1 : 0;
    counters.with_opt += query.has_opt ? 1 : 0;
    counters.trailing += query.trailing != 0 ? 1 : 0;
    line.add("name", query.name).add("type", type_name(query.type)).add("class", query.klass).add("id", query.id);
    line.add("flags", query.flags).add("len", query.size).add("mod128", query.size % 128);
    line.add("opt", query.has_opt ? 1 : 0).add("do", query.dnssec_ok ? 1 : 0).add("cd", query.checking_disabled() ? 1 : 0);
    std::string options;
    for (const std::uint16_t code : query.options) {
      options += fmt::format("{}{}", options.empty() ? "" : ",", code);
    }
    line.add("options", options).add("trailing", query.trailing);
  }
  line.add("content_type", request.header("content-type")).add("accept", request.header("accept"));
  line.add("user_agent", request.header("user-agent")).add("headers", request.headers.size()).add("fault", plan.fault);
  owner_.around().log.write(line);
}

void Connection::schedule(StreamId stream, AnswerPlan plan) {
  if (plan.delay.count() == 0) {
    carry_out(stream, std::move(plan));
    return;
  }
  const Millis delay = plan.delay;
  owner_.around().loop.after(delay, [owner = &owner_, id = identity_.id, stream, plan = std::move(plan)]() mutable {
    Connection* connection = owner->find(id);
    if (connection == nullptr) {
      ++owner->counters().cancelled;
    } else {
      connection->carry_out(stream, std::move(plan));
    }
  });
}

void Connection::carry_out(StreamId stream, AnswerPlan plan) {
  ResolverCounters& counters = owner_.counters();
  if (phase_ != Phase::Serving || !session_->knows(stream)) {
    ++counters.cancelled;
    return;
  }
  switch (plan.fate) {
    case AnswerPlan::Fate::Silence:
      return;
    case AnswerPlan::Fate::Drop:
      close_orderly("drop");
      return;
    case AnswerPlan::Fate::Reset:
      ++(plan.reset_code == kRefusedStream ? counters.refused_streams : counters.resets);
      session_->reset(stream, plan.reset_code);
      return;
    case AnswerPlan::Fate::Reply:
      counters.answered += plan.reply.plan == BodyPlan::Whole ? 1 : 0;
      session_->reply(stream, std::move(plan.reply));
      return;
  }
}

void Connection::on_output(std::string_view octets) {
  if (phase_ != Phase::Serving || cut_) {
    return;
  }
  const auto& cut = owner_.faults().cut_after.peek();
  if (cut && sent_since_fault_ + octets.size() >= *cut) {
    octets = octets.substr(0, *cut > sent_since_fault_ ? *cut - sent_since_fault_ : 0);
    owner_.faults().cut_after.use();
    finish_after_send_ = true;
    cut_ = true;
  }
  sent_since_fault_ += octets.size();
  tls_.write(octets);
  send_pending();
}

void Connection::on_protocol_error(std::string_view what) {
  close_abruptly(what);
}

void Connection::on_finished() {
  close_orderly("finished");
}

}  // namespace lab
