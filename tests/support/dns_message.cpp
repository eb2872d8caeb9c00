// The test client's own view of DNS messages (RFC 1035 §4, RFC 8914 §2).
// Must not share code with the daemon.
#include <algorithm>

#include "support/dns_client.h"

namespace dohmux::test {

namespace {

constexpr std::size_t kHeader = 12;
constexpr std::uint16_t kOpt = 41;
constexpr std::uint16_t kEde = 15;

std::string u16(std::size_t value) {
  return {static_cast<char>((value >> 8U) & 0xffU), static_cast<char>(value & 0xffU)};
}

class Reader {
 public:
  explicit Reader(std::string_view data) : data_(data) {}
  std::string_view take(std::size_t count) {
    if (count > data_.size() - at_) {
      broken_ = true;
      return {};
    }
    at_ += count;
    return data_.substr(at_ - count, count);
  }
  std::size_t u8() {
    const std::string_view octet = take(1);
    return octet.empty() ? 0 : static_cast<unsigned char>(octet[0]);
  }
  std::size_t u16() {
    const std::size_t high = u8();
    return (high << 8U) | u8();
  }
  void skip_name() {
    for (std::size_t length = u8(); length != 0 && !broken_; length = u8()) {
      if (length >= 0xc0) {
        take(1);
        return;
      }
      take(length);
    }
  }
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return data_.size() - at_; }

 private:
  std::string_view data_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

void read_options(std::string_view data, Reply& reply) {
  Reader reader(data);
  while (reader.left() > 0 && !reader.broken()) {
    const std::size_t code = reader.u16();
    const std::string_view value = reader.take(reader.u16());
    if (code == kEde && value.size() >= 2 && !reply.ede) {
      Reader inner(value);
      reply.ede = static_cast<std::uint16_t>(inner.u16());
      reply.ede_text = value.substr(2);
    }
  }
}

}  // namespace

std::string make_query(const Question& question, std::uint16_t id) {
  std::string message = u16(id) + u16(0x0100) + u16(1) + u16(0) + u16(0) + u16(question.edns == Edns::None ? 0 : 1);
  std::string_view rest = question.name;
  while (!rest.empty()) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    message += static_cast<char>(label.size());
    message += label;
    rest.remove_prefix(std::min(rest.size(), label.size() + 1));
  }
  message += '\0' + u16(question.type) + u16(1);
  if (question.edns != Edns::None) {
    message += '\0' + u16(kOpt) + u16(1232) + u16(0) + u16(question.edns == Edns::DnssecOk ? 0x8000 : 0) + u16(0);
  }
  return message;
}

Reply read_reply(std::string_view message) {
  Reply reply;
  Reader reader(message);
  reply.id = static_cast<std::uint16_t>(reader.u16());
  const std::size_t flags = reader.u16();
  const std::size_t questions = reader.u16();
  reply.answers = reader.u16();
  std::size_t records = reply.answers + reader.u16();
  records += reader.u16();
  reply.rcode = static_cast<std::uint8_t>(flags & 0x0fU);
  reply.truncated = (flags & 0x0200U) != 0;
  for (std::size_t i = 0; i < questions && !reader.broken(); ++i) {
    reader.skip_name();
    reader.take(4);
  }
  if (!reader.broken()) {
    reply.question = message.substr(kHeader, reader.at() - kHeader);
  }
  for (std::size_t i = 0; i < records && !reader.broken(); ++i) {
    reader.skip_name();
    const std::size_t type = reader.u16();
    reader.take(6);
    const std::string_view data = reader.take(reader.u16());
    if (type == kOpt && !reader.broken()) {
      reply.has_opt = true;
      read_options(data, reply);
    }
  }
  reply.came = (flags & 0x8000U) != 0 && !reader.broken();
  reply.message = message;
  return reply;
}

}  // namespace dohmux::test
