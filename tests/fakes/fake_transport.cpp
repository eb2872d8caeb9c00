// The fake lanes. Keeps the contracts of transport/transport.h: nothing completes inline, destroying cancels.
#include "fakes/fake_transport.h"

#include <algorithm>

namespace dohmux::test {
namespace {

Failure failure_of(const Step& step) {
  Failure failure;
  failure.kind = *step.failure;
  failure.http_status = step.http_status;
  failure.header_seen = step.header_seen;
  return failure;
}

/// The request turned into an answer without records: header, question.
Bytes answer_to(const Bytes& query) {
  std::size_t end = 12;
  while (end < query.size() && query[end] != 0) {
    end += query[end] + 1U;
  }
  Bytes answer(query.begin(), query.begin() + static_cast<std::ptrdiff_t>(end + 5));
  answer[2] = 0x81;
  answer[3] = 0x80;
  std::fill(answer.begin() + 6, answer.begin() + 12, std::uint8_t{0});
  return answer;
}

}  // namespace

class FakeLane final : public transport::Lane {
 public:
  FakeLane(FakeTransport& owner, Scheduler& scheduler, std::string name) : owner_(owner), scheduler_(scheduler), name_(std::move(name)) {}
  ~FakeLane() override { owner_.lanes_.erase(name_); }

  struct Pending final : Call {
    explicit Pending(FakeLane& lane) : owner(lane) { owner.pending_.push_back(this); }
    ~Pending() override {
      owner.dialling_ -= dial_done ? 1 : 0;
      owner.pending_.remove(this);
    }
    FakeLane& owner;
    transport::Lane::DialDone dial_done{};
    transport::Lane::SendDone send_done{};
    std::uint64_t connection = 0;
    bool reused = false;
    std::unique_ptr<Timer> timer{};
    TimePoint began{};
  };

  std::unique_ptr<Call> dial(Duration limit, DialDone done) override {
    auto call = std::make_unique<Pending>(*this);
    call->dial_done = std::move(done);
    LaneCounts& counts = owner_.counts[name_];
    ++counts.dials;
    counts.dials_at_once_max = std::max(counts.dials_at_once_max, ++dialling_);
    owner_.order.push_back("dial " + name_);
    const Step step = owner_.dial_rule(name_);
    Pending* raw = call.get();
    call->timer = scheduler_.after(step.hang ? limit : step.delay, [this, raw, step] { finish_dial(*raw, step); });
    return call;
  }

  std::unique_ptr<Call> send(transport::DohRequest request, SendDone done) override {
    auto call = std::make_unique<Pending>(*this);
    call->send_done = std::move(done);
    call->began = scheduler_.now();
    Pending* raw = call.get();
    if (stale_) {
      stale_ = false;
      connections_.clear();
      call->timer = scheduler_.after(Duration::zero(), [this, raw] { report(*raw, Step{.failure = FailureKind::NotConnected}, {}); });
      return call;
    }
    ++owner_.counts[name_].sendings;
    owner_.order.push_back("send " + name_);
    call->connection = *connections_.begin();
    call->reused = used_;
    used_ = true;
    const Step step = owner_.send_rule(name_);
    const bool late = step.hang || step.delay > request.limit;
    const Step outcome = late ? Step{.failure = FailureKind::Timeout, .received_since = step.received_since} : step;
    call->timer = scheduler_.after(late ? request.limit : step.delay,
                                   [this, raw, outcome, body = std::move(request.message)] { report(*raw, outcome, body); });
    return call;
  }

  [[nodiscard]] bool ready() const override { return (!connections_.empty() || stale_) && in_flight() < owner_.streams; }
  void on_change(std::move_only_function<void()> changed) override { changed_ = std::move(changed); }
  [[nodiscard]] std::size_t connected() const override { return connections_.size(); }
  [[nodiscard]] std::size_t in_flight() const override {
    return static_cast<std::size_t>(std::ranges::count_if(pending_, [](const Pending* one) { return one->send_done != nullptr; }));
  }
  [[nodiscard]] std::uint64_t opened() const override { return opened_; }
  void evict(std::uint64_t connection) override { lose(FailureKind::ConnectionLost, connection); }

  void lose(FailureKind kind, std::uint64_t only) {
    std::erase_if(connections_, [only](std::uint64_t one) { return only == 0 || one == only; });
    for (Pending* one : pending_) {
      if (one->send_done && (only == 0 || one->connection == only)) {
        one->timer = scheduler_.after(Duration::zero(), [this, one, kind] { report(*one, Step{.failure = kind}, {}); });
      }
    }
  }
  void go_stale() { stale_ = true; }

 private:
  void finish_dial(Pending& call, const Step& step) {
    DialDone done = std::move(call.dial_done);
    call.dial_done = nullptr;
    --dialling_;
    if (step.hang) {
      done(std::unexpected(Failure{.kind = step.failure.value_or(FailureKind::TunnelSilent)}));
    } else if (step.failure) {
      done(std::unexpected(failure_of(step)));
    } else {
      const std::uint64_t id = owner_.next_connection_++;
      connections_.insert(id);
      ++opened_;
      done(DialInfo{.connection = id});
    }
  }

  void report(Pending& call, const Step& step, const Bytes& query) {
    SendDone done = std::move(call.send_done);
    call.send_done = nullptr;
    ExchangeReport result{.result = std::unexpected(Failure{})};
    result.use = {
        .connection = call.connection, .sent = call.connection != 0, .reused = call.reused, .received_since = step.received_since};
    if (step.failure) {
      result.result = std::unexpected(failure_of(step));
    } else {
      result.result = transport::DohReply{.status = step.http_status, .content_type = step.content_type, .body = answer_to(query)};
    }
    done(std::move(result));
  }

  FakeTransport& owner_;
  Scheduler& scheduler_;
  std::string name_;
  std::list<Pending*> pending_;
  std::set<std::uint64_t> connections_;
  std::uint64_t opened_ = 0;
  int dialling_ = 0;
  bool used_ = false;
  bool stale_ = false;
  std::move_only_function<void()> changed_;
};

std::expected<std::unique_ptr<transport::Lane>, std::string> FakeTransport::open(const transport::LaneSpec& spec) {
  const std::string name = spec.host + "/" + (spec.proxy ? spec.proxy->name : "direct");
  auto lane = std::make_unique<FakeLane>(*this, scheduler_, name);
  lanes_[name] = lane.get();
  return lane;
}

void FakeTransport::lose(const std::string& lane, FailureKind kind) {
  lanes_.at(lane)->lose(kind, 0);
}
void FakeTransport::go_stale(const std::string& lane) {
  lanes_.at(lane)->go_stale();
}

}  // namespace dohmux::test
