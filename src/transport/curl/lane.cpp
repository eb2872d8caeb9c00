// The lane as its user sees it: dial, send, ready, evict.
// It must not interpret failures (failure.cpp) and does not retry anything.
#include "transport/curl/lane.h"

#include <sys/socket.h>

#include <algorithm>
#include <iterator>

namespace dohmux::transport {

namespace {

// Recycled handles; each keeps its buffers (curl.md §2). More save no time, but every chance burst on one lane would
// leave its handles behind, and memory would creep up for hours.
constexpr std::size_t kSpareTransfers = 4;
constexpr long kSpareConnections = 4;  // beyond the caps, so that libcurl never closes an idle one for room

}  // namespace

CurlLane::CurlLane(event::Loop& loop, OriginSettings caps, LaneOptions options)
    : loop_(loop), caps_(std::move(caps)), options_(std::move(options)), multi_(loop, [this] { settle(); }) {
  configure();
}

void CurlLane::configure() {
  multi_.set(CURLMOPT_MAX_CONCURRENT_STREAMS, caps_.max_streams);
  multi_.set(CURLMOPT_MAXCONNECTS, std::max<long>(caps_.max_connections, caps_.max_http1_connections) + kSpareConnections);
  learn_version(http2_);
}

CurlLane::~CurlLane() {
  if (gone_ != nullptr) {
    *gone_ = true;
  }
  for (Transfer::List* list : {&active_, &ended_}) {
    for (const auto& transfer : *list) {
      if (transfer->call != nullptr) {
        transfer->call->forget();
      }
      multi_.remove(transfer->easy.get());
    }
  }
  for (Dial::List* list : {&dials_, &ended_dials_}) {
    for (const auto& dial : *list) {
      if (dial->call != nullptr) {
        dial->call->forget();
      }
      multi_.remove(dial->easy.get());
    }
  }
}

std::unique_ptr<Call> CurlLane::dial(Duration limit, DialDone done) {
  if (active_.empty() && dials_.empty() && connections_.any_idle_dead()) {
    // libcurl looks for dead connections once a second at most, and would put the next request on one it has not
    // looked at since, although a new one is there.
    multi_.renew();
    configure();
  }
  dials_.push_back(std::make_unique<Dial>(*this, now()));
  Dial& dial = *dials_.back();
  dial.place = std::prev(dials_.end());
  dial.done = std::move(done);
  auto call = std::make_unique<DialCall>(dial);
  if (!dial.create(options_, limit) || !multi_.add(dial.easy.get())) {
    finish(dial, CURLE_FAILED_INIT, false);
    multi_.request_progress();
    return call;
  }
  dial.limit_timer = loop_.after(limit, [this, &dial] { dial_timed_out(dial); });
  multi_.request_progress();  // the transfer begins in the loop, together with whatever else is due
  return call;
}

std::unique_ptr<Call> CurlLane::send(DohRequest request, SendDone done) {
  Transfer& transfer = take_transfer();
  transfer.request = std::move(request);
  transfer.done = std::move(done);
  auto call = std::make_unique<SendCall>(transfer);
  begin(transfer);
  return call;
}

// Hands the transfer to libcurl and lets it act at once: afterwards the request is on a connection, or it waits for one.
void CurlLane::begin(Transfer& transfer) {
  transfer.deadline = now() + transfer.request.limit;
  transfer.http1_only = !http2_;
  insert_by_deadline(transfer);
  const bool allowed = may_begin();
  ++waiting_;
  if (!allowed) {
    finish(transfer, CURLE_COULDNT_CONNECT, false);
  } else if (!transfer.easy && !transfer.create(options_)) {
    finish(transfer, CURLE_FAILED_INIT, false);
  } else if (!transfer.prepare(options_, url_of(transfer.request.path)) || !multi_.add(transfer.easy.get())) {
    finish(transfer, CURLE_FAILED_INIT, false);
  } else {
    beginning_ = true;
    multi_.pump();
    beginning_ = false;
    arm();
  }
  if (changed_ || multi_.has_finished()) {
    multi_.request_progress();
  }
}

// Without a connection libcurl would begin to look for one, and for an address, on its own. On HTTP/1.1 it does so by
// our leave, once one connection is up or being opened.
bool CurlLane::may_begin() const {
  return connections_.any_alive() || (!http2_ && waiting_ > 0);
}

bool CurlLane::ready() const {
  if (http2_) {
    return ready_http2();
  }
  return active_.size() < http1_cap() && may_begin();
}

// A connection that has not yet answered has not told its stream limit either, so nothing may be sent that could land
// there as its second request; which connection libcurl takes is its own affair.
bool CurlLane::ready_http2() const {
  if (waiting_ > 0 || active_.size() >= std::size_t{caps_.max_streams} * caps_.max_connections) {
    return false;
  }
  bool usable = false;
  for (const Connection& connection : connections_.all()) {
    if (!connection.usable()) {
      continue;
    }
    if (gated(connection)) {
      return false;
    }
    usable = usable || connection.streams > 0 || connection.tcp().state == TcpState::Established;
  }
  return usable;
}

void CurlLane::on_change(std::move_only_function<void()> changed) {
  on_change_ = std::make_unique<event::CallbackSlot<>>(std::move(changed));
}

std::size_t CurlLane::connected() const {
  const std::size_t alive = connections_.alive();
  // An HTTP/1.1 lane opens its connections as requests need them: while one is being opened, nobody need dial.
  return alive == 0 && !http2_ && waiting_ > 0 ? 1 : alive;
}

void CurlLane::evict(std::uint64_t id) {
  Connection* connection = connections_.by_id(id);
  if (connection == nullptr || connection->fd < 0) {
    return;
  }
  connection->evicted = connection->spent = true;
  ::shutdown(connection->fd, SHUT_RDWR);  // never close(): the descriptor is libcurl's
  if (connection->streams > 0) {
    multi_.poke(connection->fd);
  }
  changed_ = true;
  multi_.request_progress();
}

void CurlLane::cancel(Transfer& transfer) {
  if (transfer.result) {
    transfer.call = nullptr;
    recycle(transfer);
    return;
  }
  multi_.remove(transfer.easy.get());
  detach(transfer);
  recycle(transfer);
  arm();
  multi_.request_progress();
}

void CurlLane::cancel(Dial& dial) {
  if (dial.result) {
    ended_dials_.erase(dial.place);
    return;
  }
  multi_.remove(dial.easy.get());
  connections_.release(&dial);
  dials_.erase(dial.place);
}

CURLU* CurlLane::url_of(const std::string& path) {
  const auto known = std::ranges::find(targets_, path, &Target::path);
  if (known != targets_.end()) {
    return known->url.get();
  }
  Url url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, (options_.base() + path).c_str(), CURLU_PATH_AS_IS) != CURLUE_OK) {
    url.reset();  // the request will be refused when libcurl is asked to begin it
  }
  return targets_.emplace_back(path, std::move(url)).url.get();
}

Transfer& CurlLane::take_transfer() {
  if (spare_.empty()) {
    spare_.push_back(std::make_unique<Transfer>(*this));
  }
  active_.splice(active_.end(), spare_, std::prev(spare_.end()));
  active_.back()->place = std::prev(active_.end());
  return *active_.back();
}

// Limits differ little between requests, so the place is nearly always the end.
void CurlLane::insert_by_deadline(Transfer& transfer) {
  auto before = active_.end();
  while (before != active_.begin()) {
    const auto previous = std::prev(before);
    if (previous != transfer.place && (*previous)->deadline <= transfer.deadline) {
      break;
    }
    before = previous;
  }
  active_.splice(before, active_, transfer.place);
}

void CurlLane::recycle(Transfer& transfer) {
  Transfer::List& from = transfer.result ? ended_ : active_;
  // A handle never forgets how often it wanted to send again, and after five times says so instead of trying.
  if (spare_.size() >= kSpareTransfers || transfer.resend_refused) {
    from.erase(transfer.place);
    return;
  }
  spare_.splice(spare_.end(), from, transfer.place);
  transfer.reset();
}

}  // namespace dohmux::transport
