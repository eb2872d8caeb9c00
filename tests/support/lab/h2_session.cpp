// HTTP/2 server session: frames in, requests out, replies back, and the protocol's own ways to misbehave.
// Must not know DNS, TLS or sockets. Requests are counted by their HEADERS frame, so that streams which nghttp2 refuses or ignores by
// itself (stream limit, behind a GOAWAY) are counted as well.
#include "support/lab/h2_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace lab {

namespace {

nghttp2_nv name_value(const Header& header) {
  nghttp2_nv nv{};
  nv.name = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(header.first.data()));  // NOLINT: nghttp2 only copies
  nv.namelen = header.first.size();
  nv.value = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(header.second.data()));  // NOLINT
  nv.valuelen = header.second.size();
  return nv;
}

H2Session& self(void* user);

}  // namespace

struct H2Session::Callbacks {
  static int begin_frame(nghttp2_session* /*session*/, const nghttp2_frame_hd* head, void* user) noexcept {
    self(user).on_frame_header(*head);
    return 0;
  }
  // NOLINTNEXTLINE(readability-function-size): nghttp2's signature
  static int header(nghttp2_session* /*session*/, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_length,
                    const std::uint8_t* value, std::size_t value_length, std::uint8_t /*flags*/, void* user) noexcept {
    self(user).on_header(frame->hd.stream_id, {reinterpret_cast<const char*>(name), name_length},
                         {reinterpret_cast<const char*>(value), value_length});
    return 0;
  }
  static int begin_headers(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) noexcept {
    H2Session& session = self(user);
    if (frame->hd.stream_id <= session.last_allowed_) {
      session.streams_[frame->hd.stream_id].request.stream = frame->hd.stream_id;
    }
    return 0;
  }
  // NOLINTNEXTLINE(readability-function-size): nghttp2's signature
  static int data(nghttp2_session* /*session*/, std::uint8_t /*flags*/, std::int32_t stream, const std::uint8_t* octets, std::size_t length,
                  void* user) noexcept {
    const auto found = self(user).streams_.find(stream);
    if (found != self(user).streams_.end()) {
      found->second.request.body.append(reinterpret_cast<const char*>(octets), length);
    }
    return 0;
  }
  static int frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) noexcept {
    const bool body = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (body && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      self(user).on_request_end(frame->hd.stream_id);
    }
    return 0;
  }
  static int invalid_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, int error, void* user) noexcept {
    if (frame->hd.type == NGHTTP2_HEADERS && error == NGHTTP2_ERR_REFUSED_STREAM) {
      self(user).host_.on_stream_refused();
    }
    return 0;
  }
  static int stream_close(nghttp2_session* /*session*/, std::int32_t stream, std::uint32_t /*code*/, void* user) noexcept {
    H2Session& session = self(user);
    if (session.streams_.erase(stream) != 0) {
      session.host_.on_stream_closed(session.streams_.size());
    }
    return 0;
  }
  // NOLINTNEXTLINE(readability-function-size): nghttp2's signature
  static ssize_t read(nghttp2_session* /*session*/, std::int32_t stream, std::uint8_t* buffer, std::size_t room, std::uint32_t* flags,
                      nghttp2_data_source* /*source*/, void* user) noexcept {
    return self(user).on_read(stream, buffer, room, flags);
  }
};

namespace {
H2Session& self(void* user) {
  return *static_cast<H2Session*>(user);
}
}  // namespace

H2Session::H2Session(HttpHost& host, std::uint32_t max_streams) : host_(host) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, Callbacks::begin_frame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::frame);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, Callbacks::invalid_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::stream_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  session_.reset(session);
  limit_streams(max_streams);
}

void H2Session::limit_streams(std::uint32_t limit) {
  const std::array<nghttp2_settings_entry, 1> entries = {{{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limit}}};
  nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, entries.data(), entries.size());
  flush();
}

void H2Session::receive(std::string_view octets) {
  receiving_ = true;
  const ssize_t used = nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(octets.data()), octets.size());
  receiving_ = false;
  flush();
  if (used < 0) {
    host_.on_protocol_error(nghttp2_strerror(static_cast<int>(used)));
  }
}

// nghttp2 forbids to send from within its callbacks; receive() flushes when they are over.
void H2Session::flush() {
  if (receiving_) {
    return;
  }
  std::string output;
  for (;;) {
    const std::uint8_t* data = nullptr;
    const ssize_t length = nghttp2_session_mem_send(session_.get(), &data);
    if (length <= 0) {
      break;
    }
    output.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(length));
  }
  if (!output.empty()) {
    host_.on_output(output);
  }
}

void H2Session::on_frame_header(const nghttp2_frame_hd& head) {
  if (head.type != NGHTTP2_HEADERS || head.stream_id <= highest_seen_) {
    return;
  }
  highest_seen_ = head.stream_id;
  if (head.stream_id > last_allowed_) {
    host_.on_stream_opened(streams_.size());
    host_.on_stream_refused();
  } else {
    host_.on_stream_opened(streams_.size() + 1);
  }
}

void H2Session::on_header(StreamId stream, std::string_view name, std::string_view value) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) {
    return;
  }
  HttpRequest& request = found->second.request;
  if (name == ":method") {
    request.method = value;
  } else if (name == ":path") {
    request.path = value;
  } else if (name == ":authority") {
    request.authority = value;
  } else {
    request.headers.emplace_back(name, value);
  }
}

void H2Session::on_request_end(StreamId stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) {
    return;
  }
  if (stream > last_allowed_) {  // its header came before the GOAWAY, its end behind it
    host_.on_stream_refused();
    return;
  }
  host_.on_request(found->second.request);
}

ssize_t H2Session::on_read(StreamId id, std::uint8_t* buffer, std::size_t room, std::uint32_t* flags) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  Stream& stream = found->second;
  const HttpReply& reply = stream.reply;
  const std::size_t end = reply.plan == BodyPlan::Whole ? reply.body.size() : reply.body.size() / 2;
  if (stream.sent == end && reply.plan != BodyPlan::Whole) {
    if (reply.plan == BodyPlan::HalfThenReset) {
      nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, reply.reset_code);
    }
    return NGHTTP2_ERR_DEFERRED;
  }
  const std::size_t count = std::min(room, end - stream.sent);
  std::memcpy(buffer, reply.body.data() + stream.sent, count);
  stream.sent += count;
  if (reply.plan == BodyPlan::Whole && stream.sent == end) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  }
  return static_cast<ssize_t>(count);
}

void H2Session::reply(StreamId stream, HttpReply reply) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) {
    return;
  }
  found->second.reply = std::move(reply);
  const HttpReply& kept = found->second.reply;
  const Header status{":status", std::to_string(kept.status)};
  std::vector<nghttp2_nv> fields = {name_value(status)};
  for (const Header& header : kept.headers) {
    fields.push_back(name_value(header));
  }
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::read;
  nghttp2_submit_response(session_.get(), stream, fields.data(), fields.size(), &provider);
  flush();
}

void H2Session::reset(StreamId stream, std::uint32_t code) {
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream, code);
  flush();
}

void H2Session::goaway(StreamId last) {
  last_allowed_ = std::min(last, last_allowed_);
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
  flush();
}

}  // namespace lab
