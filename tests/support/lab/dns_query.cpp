// Reads DNS queries the way a resolver must (RFC 1035 §4, RFC 6891 §6).
// Must not share code with the daemon, nor know HTTP.
#include <fmt/format.h>

#include <charconv>

#include "support/lab/dns.h"

namespace lab {

namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view data) : data_(data) {}

  std::uint8_t u8() { return take(1).empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(data_[position_ - 1]); }
  std::uint16_t u16() {
    const unsigned high = u8();
    return static_cast<std::uint16_t>((high << 8U) | u8());
  }
  std::string_view take(std::size_t count) {
    if (!ok_ || count > data_.size() - position_) {
      ok_ = false;
      return {};
    }
    position_ += count;
    return data_.substr(position_ - count, count);
  }
  void fail() { ok_ = false; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t left() const { return data_.size() - position_; }

 private:
  std::string_view data_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

void append_label(std::string& text, std::string_view label) {
  if (!text.empty()) {
    text += '.';
  }
  for (const char c : label) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet >= 'A' && octet <= 'Z') {
      text += static_cast<char>(octet + 32);
    } else if (octet <= 0x20 || octet >= 0x7f || c == '.' || c == '\\' || c == '"') {
      text += fmt::format("\\{:03}", octet);
    } else {
      text += c;
    }
  }
}

// A question's name is the first in the message, so it has no pointer to follow.
std::string read_name(Cursor& cursor) {
  std::string text;
  std::size_t total = 1;
  for (;;) {
    const std::uint8_t length = cursor.u8();
    total += length + 1U;
    if (length > 63 || total > 256) {
      cursor.fail();
    }
    if (length == 0 || !cursor.ok()) {
      return text;
    }
    append_label(text, cursor.take(length));
  }
}

void skip_owner(Cursor& cursor) {
  for (;;) {
    const std::uint8_t length = cursor.u8();
    if (length >= 0xc0) {
      cursor.take(1);
      return;
    }
    if (length == 0 || !cursor.ok()) {
      return;
    }
    cursor.take(length);
  }
}

void read_options(std::string_view data, DnsQuery& query, Cursor& outer) {
  Cursor cursor(data);
  while (cursor.left() > 0) {
    query.options.push_back(cursor.u16());
    cursor.take(cursor.u16());
    if (!cursor.ok()) {
      outer.fail();
      return;
    }
  }
}

void read_record(Cursor& cursor, DnsQuery& query) {
  skip_owner(cursor);
  const std::uint16_t type = cursor.u16();
  const std::uint16_t klass = cursor.u16();
  const std::string_view ttl = cursor.take(4);
  const std::string_view data = cursor.take(cursor.u16());
  constexpr std::uint16_t kOpt = 41;
  if (!cursor.ok() || type != kOpt) {
    return;
  }
  query.has_opt = true;
  query.udp_size = klass;
  query.dnssec_ok = (static_cast<unsigned char>(ttl[2]) & 0x80U) != 0;
  read_options(data, query, cursor);
}

// The number behind `prefix` if `label` is exactly that.
std::optional<std::uint32_t> numbered(std::string_view label, std::string_view prefix) {
  if (!label.starts_with(prefix) || label.size() == prefix.size()) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  const char* end = label.data() + label.size();
  const auto [rest, error] = std::from_chars(label.data() + prefix.size(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<DnsQuery> parse_query(std::string_view message) {
  Cursor cursor(message);
  DnsQuery query;
  query.size = message.size();
  query.id = cursor.u16();
  query.flags = cursor.u16();
  const std::uint16_t questions = cursor.u16();
  std::size_t records = cursor.u16();
  records += cursor.u16();
  records += cursor.u16();
  if (!cursor.ok() || questions != 1 || (query.flags & 0x8000U) != 0) {
    return std::nullopt;
  }
  const std::size_t begin = cursor.position();
  query.name = read_name(cursor);
  query.type = cursor.u16();
  query.klass = cursor.u16();
  if (!cursor.ok()) {
    return std::nullopt;
  }
  query.question = message.substr(begin, cursor.position() - begin);
  for (std::size_t i = 0; i < records && cursor.ok(); ++i) {
    read_record(cursor, query);
  }
  query.trailing = cursor.left();
  return cursor.ok() ? std::optional(query) : std::nullopt;
}

NameWishes wishes_of(std::string_view name) {
  NameWishes wishes;
  const std::string_view first = name.substr(0, name.find('.'));
  wishes.delay_ms = numbered(first, "d").value_or(0);
  wishes.size = numbered(first, "size").value_or(0);
  wishes.nxdomain = first.starts_with("nx");
  wishes.nodata = first.starts_with("nodata");
  while (!name.empty()) {
    const std::size_t dot = name.find('.');
    wishes.ttl = numbered(name.substr(0, dot), "ttl").value_or(wishes.ttl);
    name = dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1);
  }
  return wishes;
}

}  // namespace lab
