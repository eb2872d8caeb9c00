// Two-octet framing, in any split of the stream.
// It must not know sockets, time or the inside of a message.
#include "server/tcp_framer.h"

#include <cassert>

#include "dns/types.h"

namespace dohmux::server {

namespace {

constexpr std::size_t kPrefix = 2;
constexpr std::size_t kKeptCapacity = 4096;  // a thousand idle connections must not each keep the buffer of a big message

}  // namespace

void TcpFramer::push(ByteView octets) {
  if (broken_) {
    return;
  }
  drop_consumed();
  buffer_.insert(buffer_.end(), octets.begin(), octets.end());
}

std::optional<ByteView> TcpFramer::next() {
  if (!holds_octets()) {
    drop_consumed();
  }
  const std::size_t available = buffer_.size() - begin_;
  if (broken_ || available < kPrefix) {
    return std::nullopt;
  }
  const auto length = static_cast<std::size_t>((buffer_[begin_] << 8) | buffer_[begin_ + 1]);
  if (length < dns::kHeaderSize) {
    broken_ = true;
    return std::nullopt;
  }
  if (available < kPrefix + length) {
    return std::nullopt;
  }
  const ByteView message(buffer_.data() + begin_ + kPrefix, length);
  begin_ += kPrefix + length;
  return message;
}

void TcpFramer::drop_consumed() {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  if (buffer_.empty() && buffer_.capacity() > kKeptCapacity) {
    Bytes().swap(buffer_);
  }
}

void append_frame(Bytes& out, ByteView message) {
  assert(message.size() <= dns::kMaxMessage);
  out.push_back(static_cast<std::uint8_t>(message.size() >> 8U));
  out.push_back(static_cast<std::uint8_t>(message.size() & 0xFFU));
  out.insert(out.end(), message.begin(), message.end());
}

}  // namespace dohmux::server
