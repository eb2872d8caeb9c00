// HTTP/1.1, server side: keep-alive, one request at a time, requests with Content-Length only.
#pragma once

#include <optional>
#include <string>

#include "support/lab/http.h"

namespace lab {

class H1Session final : public HttpSession {
 public:
  explicit H1Session(HttpHost& host) : host_(host) {}

  void receive(std::string_view octets) override;
  void reply(StreamId stream, HttpReply reply) override;
  /// HTTP/1.1 cannot reset one request: breaks the connection.
  void reset(StreamId stream, std::uint32_t code) override;
  /// The next reply says "connection: close".
  void goaway(StreamId last) override;
  void limit_streams(std::uint32_t /*limit*/) override {}
  [[nodiscard]] bool knows(StreamId stream) const override { return busy_ && stream == current_; }

 private:
  [[nodiscard]] std::optional<HttpRequest> next_request();
  void serve();

  HttpHost& host_;
  std::string input_;
  StreamId current_ = 0;
  bool busy_ = false;
  bool serving_ = false;
  bool closing_ = false;
};

/// Request line and fields of `head` (which ends with an empty line); nothing if malformed.
[[nodiscard]] std::optional<HttpRequest> parse_head(std::string_view head);
[[nodiscard]] std::string_view reason_of(int status);

}  // namespace lab
