// One connection at a resolver: socket, emulated round trip, TLS, HTTP session, faults of the connection.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "support/lab/answer.h"
#include "support/lab/http.h"
#include "support/lab/resolver.h"
#include "support/lab/tls_session.h"

namespace lab {

class Connection final : public Pollable, private HttpHost {
 public:
  struct Identity {
    ConnectionId id;
    std::string exit;  // "direct", "p1", …
  };

  Connection(Resolver& owner, Identity identity, UniqueFd fd);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() override;

  void start();
  /// Counts of cut, goaway and idle-close start now.
  void faults_changed();
  void limit_streams(std::uint32_t limit);
  /// GOAWAY with the last request handed out as last id.
  void send_goaway();
  /// Neither read nor written any more, but open.
  void freeze();
  /// FIN, without a word of TLS.
  void close_orderly(std::string_view why);
  void close_abruptly(std::string_view why);

  void on_ready(std::uint32_t events) override;

 private:
  enum class Phase : std::uint8_t { Serving, Deaf, Frozen, Lingering, Closed };
  struct Chunk {
    TimePoint due;
    std::string octets;  // empty: end of stream
  };

  void read_socket();
  void take_due_chunks();
  void process(std::string_view cipher);
  void begin_session();
  void send_pending();
  void watch();
  void finish(std::string_view why);
  [[nodiscard]] LogEntry entry(std::string_view event) const;
  void arm_idle_timer();
  [[nodiscard]] bool goes_away_before(StreamId stream);
  void goaway_by_fault();
  void count_query(const HttpRequest& request, const AnswerPlan& plan);
  void schedule(StreamId stream, AnswerPlan plan);
  void carry_out(StreamId stream, AnswerPlan plan);

  // HttpHost
  void on_stream_opened(std::size_t open) override;
  void on_stream_closed(std::size_t open) override;
  void on_stream_refused() override;
  void on_request(HttpRequest request) override;
  void on_output(std::string_view octets) override;
  void on_protocol_error(std::string_view what) override;
  void on_finished() override;

  Resolver& owner_;
  Identity identity_;
  UniqueFd fd_;
  Phase phase_ = Phase::Serving;
  TlsSession tls_;
  std::unique_ptr<HttpSession> session_;
  std::deque<Chunk> inbox_;
  std::string outbox_;
  bool first_chunk_ = true;
  bool end_of_input_ = false;
  bool waiting_to_send_ = false;
  bool finish_after_send_ = false;
  bool cut_ = false;
  std::optional<Loop::TimerId> inbox_timer_;
  std::optional<Loop::TimerId> idle_timer_;
  std::optional<Loop::TimerId> linger_timer_;
  std::uint64_t sent_since_fault_ = 0;
  std::uint64_t requests_since_fault_ = 0;
  std::size_t open_streams_ = 0;
  StreamId last_processed_ = 0;
  bool went_away_ = false;
};

}  // namespace lab
