// HTTP/2, server side, on nghttp2.
#pragma once

#include <nghttp2/nghttp2.h>

#include <map>
#include <memory>

#include "support/lab/http.h"

namespace lab {

class H2Session final : public HttpSession {
 public:
  /// Sends SETTINGS at once. `host` outlives the session.
  H2Session(HttpHost& host, std::uint32_t max_streams);

  void receive(std::string_view octets) override;
  void reply(StreamId stream, HttpReply reply) override;
  void reset(StreamId stream, std::uint32_t code) override;
  void goaway(StreamId last) override;
  void limit_streams(std::uint32_t limit) override;
  [[nodiscard]] bool knows(StreamId stream) const override { return streams_.contains(stream); }

 private:
  struct Stream {
    HttpRequest request;
    HttpReply reply;
    std::size_t sent = 0;
  };
  struct Callbacks;  // the C side, h2_session.cpp

  void flush();
  void on_frame_header(const nghttp2_frame_hd& head);
  void on_header(StreamId stream, std::string_view name, std::string_view value);
  void on_request_end(StreamId stream);
  ssize_t on_read(StreamId id, std::uint8_t* buffer, std::size_t room, std::uint32_t* flags);

  HttpHost& host_;
  std::unique_ptr<nghttp2_session, FreeWith<nghttp2_session, nghttp2_session_del>> session_;
  std::map<StreamId, Stream> streams_;
  StreamId highest_seen_ = 0;
  StreamId last_allowed_ = 0x7fffffff;
  bool receiving_ = false;
};

}  // namespace lab
