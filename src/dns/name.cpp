// Names on the wire. The only code that follows compression pointers; its work for one name is bounded by
// 255 octets plus 126 pointers whatever the message says. Knows nothing of records or sections.
#include "dns/name.h"

#include <algorithm>

#include "dns/types.h"

namespace dohmux::dns {
namespace {

constexpr std::uint8_t kLabelKind = 0xC0;
constexpr std::uint8_t kPointer = 0xC0;

/// Where the labels of a name go.
class LengthOnly {
 public:
  bool append(ByteView label) noexcept {
    size_ += label.size() + 1;
    return size_ <= kMaxName;
  }

 private:
  std::size_t size_ = 0;
};

/// False if the name breaks a rule; then `reader` has failed.
template <typename Sink>
bool follow(WireReader& reader, Sink& sink) noexcept {
  WireReader cursor = reader;
  std::size_t run = reader.offset();  // where the present run of labels began
  std::size_t pointers = 0;
  while (true) {
    const std::uint8_t length = cursor.u8();
    const auto kind = static_cast<std::uint8_t>(length & kLabelKind);
    if (kind == kPointer) {
      const std::size_t target = (static_cast<std::size_t>(length & 0x3FU) << 8U) | cursor.u8();
      if (!cursor.ok() || target < kHeaderSize || target >= run || pointers == kMaxPointers) {
        break;
      }
      if (pointers == 0) {
        reader.seek(cursor.offset());
      }
      ++pointers;
      // "A prior occurrence" (RFC 1035 §4.1.4): what is pointed to lies wholly before the run it is pointed to from.
      // Hence no loops, and no name depends on any octet behind its own.
      cursor = WireReader(reader.whole().first(run));
      cursor.seek(target);
      run = target;
      continue;
    }
    const ByteView label = cursor.take(length);
    if (!cursor.ok() || kind != 0 || !sink.append(label)) {
      break;  // cut short, a reserved label kind (RFC 6891 §5), or too long
    }
    if (length == 0) {
      if (pointers == 0) {
        reader.seek(cursor.offset());
      }
      return true;
    }
  }
  reader.fail();
  return false;
}

/// One character of a label with its escapes resolved; nothing at a broken escape.
std::optional<std::uint8_t> unescape(std::string_view& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!is_digit(text.front())) {
    const auto octet = static_cast<std::uint8_t>(text.front());
    text.remove_prefix(1);
    return octet;
  }
  if (text.size() < 3 || !is_digit(text[1]) || !is_digit(text[2])) {
    return std::nullopt;
  }
  const int value = ((text[0] - '0') * 100) + ((text[1] - '0') * 10) + (text[2] - '0');
  text.remove_prefix(3);
  if (value > 255) {
    return std::nullopt;
  }
  return static_cast<std::uint8_t>(value);
}

}  // namespace

bool Name::append(ByteView label) noexcept {
  if (label.size() > kMaxLabel || size_ + label.size() + 1 > kMaxName) {
    return false;
  }
  octets_[size_++] = static_cast<std::uint8_t>(label.size());
  std::copy(label.begin(), label.end(), octets_.begin() + size_);
  size_ = static_cast<std::uint8_t>(size_ + label.size());
  return true;
}

Name read_name(WireReader& reader) noexcept {
  Name name;
  return follow(reader, name) ? name : Name{};
}

void skip_name(WireReader& reader) noexcept {
  LengthOnly length;
  follow(reader, length);
}

std::uint8_t ascii_lower(std::uint8_t octet) noexcept {
  return octet >= 'A' && octet <= 'Z' ? static_cast<std::uint8_t>(octet + ('a' - 'A')) : octet;
}

bool equal_ignoring_case(ByteView left, ByteView right) noexcept {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](std::uint8_t a, std::uint8_t b) { return ascii_lower(a) == ascii_lower(b); });
}

Bytes lower_case(ByteView wire_name) {
  Bytes lower(wire_name.begin(), wire_name.end());
  std::transform(lower.begin(), lower.end(), lower.begin(), ascii_lower);
  return lower;
}

bool is_within(ByteView name, ByteView zone) noexcept {
  while (name.size() > zone.size()) {
    const std::size_t label = static_cast<std::size_t>(name.front()) + 1;
    if (label > name.size()) {
      return false;
    }
    name = name.subspan(label);
  }
  return equal_ignoring_case(name, zone);
}

std::optional<Bytes> name_from_text(std::string_view text) {
  Name name;
  Bytes label;
  if (text == ".") {
    text = {};
  }
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '.') {
      if (label.empty() || !name.append(label)) {
        return std::nullopt;
      }
      label.clear();
      continue;
    }
    const auto octet = c == '\\' ? unescape(text) : std::optional(static_cast<std::uint8_t>(c));
    if (!octet) {
      return std::nullopt;
    }
    label.push_back(*octet);
  }
  if ((!label.empty() && !name.append(label)) || !name.append({})) {
    return std::nullopt;
  }
  return Bytes(name.wire().begin(), name.wire().end());
}

}  // namespace dohmux::dns
