// What an HTTP session of the lab and the connection that carries it say to each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/lab/faults.h"

namespace lab {

using StreamId = std::int32_t;

struct HttpRequest {
  StreamId stream = 0;
  std::string method;
  std::string path;
  std::string authority;
  std::vector<Header> headers;  // names in lower case
  std::string body;

  [[nodiscard]] std::string header(std::string_view name) const;
};

enum class BodyPlan : std::uint8_t { Whole, HalfThenSilence, HalfThenReset };

struct HttpReply {
  int status = 200;
  std::vector<Header> headers;
  std::string body;
  BodyPlan plan = BodyPlan::Whole;
  std::uint32_t reset_code = 0;  // for HalfThenReset
};

/// The connection, as its session sees it. Called from within the session's methods.
class HttpHost {
 public:
  virtual ~HttpHost() = default;
  virtual void on_stream_opened(std::size_t open) = 0;  // each new request, also those never handed out
  virtual void on_stream_closed(std::size_t open) = 0;
  virtual void on_stream_refused() = 0;  // by the stream limit or behind a GOAWAY
  virtual void on_request(HttpRequest request) = 0;
  virtual void on_output(std::string_view octets) = 0;
  virtual void on_protocol_error(std::string_view what) = 0;  // the connection is to be reset
  virtual void on_finished() = 0;                             // the connection is to be closed, orderly
};

class HttpSession {
 public:
  virtual ~HttpSession() = default;
  virtual void receive(std::string_view octets) = 0;
  virtual void reply(StreamId stream, HttpReply reply) = 0;
  virtual void reset(StreamId stream, std::uint32_t code) = 0;
  /// No stream above `last` will be answered.
  virtual void goaway(StreamId last) = 0;
  virtual void limit_streams(std::uint32_t limit) = 0;
  [[nodiscard]] virtual bool knows(StreamId stream) const = 0;
};

}  // namespace lab
