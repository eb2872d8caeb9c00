// Builds DNS messages for tests, right or wrong, octet by octet; shares nothing with src/dns on purpose, so that
// one mistake cannot hide the other. Counts follow the records added unless counts() says otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dohmux::test {

using Octets = std::vector<std::uint8_t>;

inline Octets operator+(Octets left, const Octets& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Octets be16(unsigned value) {
  return {static_cast<std::uint8_t>(value >> 8U), static_cast<std::uint8_t>(value)};
}
inline Octets be32(std::uint32_t value) {
  return be16(value >> 16U) + be16(value & 0xFFFFU);
}
inline Octets text_octets(std::string_view text) {
  return {text.begin(), text.end()};
}

/// "www.example.org" in wire form, dots only; "" or "." is the root.
inline Octets wire(std::string_view name) {
  Octets octets;
  while (!name.empty() && name != ".") {
    const std::string_view label = name.substr(0, name.find('.'));
    octets.push_back(static_cast<std::uint8_t>(label.size()));
    octets.insert(octets.end(), label.begin(), label.end());
    name.remove_prefix(label.size() == name.size() ? label.size() : label.size() + 1);
  }
  octets.push_back(0);
  return octets;
}
/// Labels without the final zero: to go on with a pointer.
inline Octets labels(std::string_view name) {
  Octets octets = wire(name);
  octets.pop_back();
  return octets;
}
inline Octets pointer(unsigned offset) {
  return be16(0xC000U | offset);
}

/// A name of labels of these sizes.
inline Octets name_of(const std::vector<std::size_t>& sizes) {
  Octets octets;
  for (const std::size_t size : sizes) {
    octets.push_back(static_cast<std::uint8_t>(size));
    octets.insert(octets.end(), size, 'a');
  }
  octets.push_back(0);
  return octets;
}

struct Rr {
  Octets owner;
  std::uint16_t type = 1;
  std::uint32_t ttl = 300;
  Octets rdata;
  std::uint16_t rclass = 1;
};

inline Octets rr_octets(const Rr& rr) {
  return rr.owner + be16(rr.type) + be16(rr.rclass) + be32(rr.ttl) + be16(static_cast<unsigned>(rr.rdata.size())) + rr.rdata;
}

inline Octets option(unsigned code, const Octets& data) {
  return be16(code) + be16(static_cast<unsigned>(data.size())) + data;
}
inline Octets ede(unsigned code, std::string_view text) {
  return option(15, be16(code) + text_octets(text));
}

/// An OPT as a record: `ttl` is ext RCODE, version, DO and Z.
inline Rr opt(std::uint16_t udp_size = 1232, std::uint32_t ttl = 0, Octets options = {}) {
  return {.owner = {0}, .type = 41, .ttl = ttl, .rdata = std::move(options), .rclass = udp_size};
}
inline constexpr std::uint32_t kDo = 0x8000;

inline Rr a(Octets owner, std::uint32_t ttl = 300, Octets address = {192, 0, 2, 1}) {
  return {.owner = std::move(owner), .type = 1, .ttl = ttl, .rdata = std::move(address)};
}
inline Rr soa(Octets owner, std::uint32_t ttl, std::uint32_t minimum) {
  return {
      .owner = std::move(owner),
      .type = 6,
      .ttl = ttl,
      .rdata = wire("ns.example.org") + wire("hostmaster.example.org") + be32(1) + be32(7200) + be32(3600) + be32(86400) + be32(minimum)};
}

class MessageBuilder {
 public:
  MessageBuilder& id(std::uint16_t id) {
    id_ = id;
    return *this;
  }
  /// The whole second word of the header.
  MessageBuilder& flags(unsigned flags) {
    flags_ = flags;
    return *this;
  }
  MessageBuilder& question(const Octets& name, unsigned type = 1, unsigned qclass = 1) { return add(0, name + be16(type) + be16(qclass)); }
  MessageBuilder& question(std::string_view name, unsigned type = 1, unsigned qclass = 1) { return question(wire(name), type, qclass); }
  MessageBuilder& answer(const Rr& rr) { return add(1, rr_octets(rr)); }
  MessageBuilder& authority(const Rr& rr) { return add(2, rr_octets(rr)); }
  MessageBuilder& additional(const Rr& rr) { return add(3, rr_octets(rr)); }
  /// Octets that no count knows of.
  MessageBuilder& raw(const Octets& octets) {
    body_ = body_ + octets;
    return *this;
  }
  MessageBuilder& counts(std::array<unsigned, 4> counts) {
    claimed_ = counts;
    return *this;
  }
  /// Where the next record would begin.
  [[nodiscard]] unsigned offset() const { return static_cast<unsigned>(12 + body_.size()); }

  [[nodiscard]] Octets build() const {
    Octets message = be16(id_) + be16(flags_);
    for (const unsigned count : claimed_.value_or(counts_)) {
      message = message + be16(count);
    }
    return message + body_;
  }

 private:
  MessageBuilder& add(std::size_t section, const Octets& octets) {
    ++counts_[section];
    return raw(octets);
  }

  std::uint16_t id_ = 0x1234;
  unsigned flags_ = 0x0100;  // RD
  std::array<unsigned, 4> counts_{};
  std::optional<std::array<unsigned, 4>> claimed_;
  Octets body_;
};

/// A query for people: id 0x1234, RD.
inline MessageBuilder query(std::string_view name = "www.example.org", unsigned type = 1) {
  return MessageBuilder().question(name, type);
}
/// A resolver's answer: id 0, QR, RD, RA.
inline MessageBuilder response(std::string_view name = "www.example.org", unsigned type = 1) {
  return MessageBuilder().id(0).flags(0x8180).question(name, type);
}

}  // namespace dohmux::test
