// A bounds-checked cursor over a message. A failed read returns 0 or an empty view and makes every later
// read fail too, so that a parser is a straight list of reads with one check at its end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace dohmux::dns {

class WireReader {
 public:
  /// `whole` must outlive the reader and every view taken from it.
  explicit WireReader(ByteView whole) noexcept : whole_(whole) {}

  std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() noexcept { return number(4); }

  /// The next `count` octets.
  ByteView take(std::size_t count) noexcept {
    if (failed_ || count > whole_.size() - offset_) {
      failed_ = true;
      return {};
    }
    const ByteView part = whole_.subspan(offset_, count);
    offset_ += count;
    return part;
  }
  void skip(std::size_t count) noexcept { take(count); }

  /// Goes to an offset from the start of the whole, the end included.
  void seek(std::size_t offset) noexcept {
    if (failed_ || offset > whole_.size()) {
      failed_ = true;
      return;
    }
    offset_ = offset;
  }
  /// What was read makes no sense: from here on like a read past the end.
  void fail() noexcept { failed_ = true; }

  [[nodiscard]] bool ok() const noexcept { return !failed_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return failed_ ? 0 : whole_.size() - offset_; }
  [[nodiscard]] ByteView whole() const noexcept { return whole_; }

 private:
  std::uint32_t number(std::size_t octets) noexcept {
    std::uint32_t value = 0;
    for (const std::uint8_t octet : take(octets)) {
      value = (value << 8U) | octet;
    }
    return value;
  }

  ByteView whole_;
  std::size_t offset_ = 0;
  bool failed_ = false;
};

}  // namespace dohmux::dns
