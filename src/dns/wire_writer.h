// A bounded writer of messages. What would pass the limit is not written at all and makes every later
// write fail too: one check at the end tells whether the message is whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "dns/types.h"

namespace dohmux::dns {

class WireWriter {
 public:
  explicit WireWriter(std::size_t limit = kMaxMessage) noexcept : limit_(limit) {}

  void u8(std::uint8_t value) {
    if (room(1)) {
      bytes_.push_back(value);
    }
  }
  void u16(std::uint16_t value) {
    if (room(2)) {
      bytes_.push_back(static_cast<std::uint8_t>(value >> 8U));
      bytes_.push_back(static_cast<std::uint8_t>(value & 0xFFU));
    }
  }
  void u32(std::uint32_t value) {
    if (room(4)) {
      u16(static_cast<std::uint16_t>(value >> 16U));
      u16(static_cast<std::uint16_t>(value & 0xFFFFU));
    }
  }
  void octets(ByteView view) {
    if (room(view.size())) {
      bytes_.insert(bytes_.end(), view.begin(), view.end());
    }
  }
  void zeros(std::size_t count) {
    if (room(count)) {
      bytes_.resize(bytes_.size() + count);
    }
  }
  /// Replaces two octets that were written before; an offset outside them fails the writer.
  void patch_u16(std::size_t offset, std::uint16_t value) noexcept {
    if (failed_ || bytes_.size() < 2 || offset > bytes_.size() - 2) {
      failed_ = true;
      return;
    }
    bytes_[offset] = static_cast<std::uint8_t>(value >> 8U);
    bytes_[offset + 1] = static_cast<std::uint8_t>(value & 0xFFU);
  }

  void reserve(std::size_t size) { bytes_.reserve(size); }
  [[nodiscard]] bool ok() const noexcept { return !failed_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] ByteView view() const noexcept { return bytes_; }
  [[nodiscard]] Bytes take() && { return std::move(bytes_); }

 private:
  bool room(std::size_t count) noexcept {
    if (failed_ || count > limit_ - bytes_.size()) {
      failed_ = true;
    }
    return !failed_;
  }

  std::size_t limit_;
  Bytes bytes_;
  bool failed_ = false;
};

}  // namespace dohmux::dns
