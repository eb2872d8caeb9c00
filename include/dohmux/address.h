// IP addresses, sockets' ends and address ranges as plain values.
// Part of the public door: standard headers only.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dohmux {

enum class Family : std::uint8_t { V4, V6 };

/// One IPv4 or IPv6 address in network byte order; IPv4 uses the first four octets.
struct IpAddress {
  Family family = Family::V4;
  std::array<std::uint8_t, 16> octets{};

  /// "192.0.2.1", "2001:db8::1"; no brackets, no port, no zone. Anything else: nullopt.
  static std::optional<IpAddress> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] bool is_loopback() const;     // 127/8, ::1, and ::ffff:127/104
  [[nodiscard]] bool is_unspecified() const;  // 0.0.0.0, ::
  auto operator<=>(const IpAddress&) const = default;
};

/// An address and a port (host byte order).
struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;

  /// "192.0.2.1:53", "[2001:db8::1]:53". The port is required. Anything else: nullopt.
  static std::optional<Endpoint> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
  auto operator<=>(const Endpoint&) const = default;
};

/// A range of addresses: 10.1.0.0/16, 2001:db8::/32; a lone address is a full-length prefix.
struct Prefix {
  IpAddress base;
  std::uint8_t length = 0;  // bits

  /// Host bits set below the length are refused (nullopt), as is a length out of range.
  static std::optional<Prefix> parse(std::string_view text);
  [[nodiscard]] bool contains(const IpAddress& address) const;  // v4-mapped v6 is unwrapped first
  [[nodiscard]] std::string to_string() const;
  auto operator<=>(const Prefix&) const = default;
};

}  // namespace dohmux
