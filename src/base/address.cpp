// Text form of addresses, endpoints and prefixes (include/dohmux/address.h).
// It must not know sockets, names or zones: what is not a plain number is refused, nothing is looked up.
#include <dohmux/address.h>

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace dohmux {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};  // ::ffff:0:0/96

std::size_t octet_count(Family family) {
  return family == Family::V4 ? 4 : 16;
}

bool is_mapped(const IpAddress& address) {
  return address.family == Family::V6 && std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.octets.begin());
}

IpAddress unwrapped(const IpAddress& address) {
  if (!is_mapped(address)) {
    return address;
  }
  IpAddress inner;
  std::copy_n(address.octets.begin() + kMappedPrefix.size(), 4, inner.octets.begin());
  return inner;
}

/// Decimal without sign, spaces or leading zeros.
std::optional<unsigned> parse_number(std::string_view text, unsigned max) {
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || leading_zero || error != std::errc{} || end != text.data() + text.size() || value > max) {
    return std::nullopt;
  }
  return value;
}

/// Octets of `address` with every bit from `length` on cleared.
IpAddress masked(IpAddress address, unsigned length) {
  for (unsigned i = 0; i < address.octets.size(); ++i) {
    const unsigned kept = length > i * 8 ? std::min(8U, length - i * 8) : 0U;
    address.octets.at(i) = static_cast<std::uint8_t>(address.octets.at(i) & (0xff00U >> kept));
  }
  return address;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.empty() || text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::memcpy(terminated.data(), text.data(), text.size());
  IpAddress address;
  address.family = text.find(':') == std::string_view::npos ? Family::V4 : Family::V6;
  const int family = address.family == Family::V4 ? AF_INET : AF_INET6;
  if (inet_pton(family, terminated.data(), address.octets.data()) != 1) {
    return std::nullopt;
  }
  return address;
}

std::string IpAddress::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int af = family == Family::V4 ? AF_INET : AF_INET6;
  return inet_ntop(af, octets.data(), text.data(), text.size()) == nullptr ? std::string() : std::string(text.data());
}

bool IpAddress::is_loopback() const {
  const IpAddress inner = unwrapped(*this);
  if (inner.family == Family::V4) {
    return inner.octets.front() == 127;
  }
  return inner.octets.back() == 1 && std::all_of(inner.octets.begin(), inner.octets.end() - 1, [](std::uint8_t o) { return o == 0; });
}

bool IpAddress::is_unspecified() const {
  return std::all_of(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(octet_count(family)),
                     [](std::uint8_t octet) { return octet == 0; });
}

std::optional<Endpoint> Endpoint::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view host = text.substr(0, colon);
  const auto port = parse_number(text.substr(colon + 1), 65535);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) {
    host = host.substr(1, host.size() - 2);
  }
  const auto address = IpAddress::parse(host);
  if (!port || !address || bracketed != (address->family == Family::V6)) {
    return std::nullopt;
  }
  return Endpoint{*address, static_cast<std::uint16_t>(*port)};
}

std::string Endpoint::to_string() const {
  const std::string host = address.family == Family::V6 ? "[" + address.to_string() + "]" : address.to_string();
  return host + ":" + std::to_string(port);
}

std::optional<Prefix> Prefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto base = IpAddress::parse(text.substr(0, slash));
  if (!base) {
    return std::nullopt;
  }
  const auto bits = static_cast<unsigned>(octet_count(base->family) * 8);
  const auto length = slash == std::string_view::npos ? std::optional<unsigned>(bits) : parse_number(text.substr(slash + 1), bits);
  if (!length || masked(*base, *length) != *base) {
    return std::nullopt;
  }
  return Prefix{*base, static_cast<std::uint8_t>(*length)};
}

bool Prefix::contains(const IpAddress& address) const {
  const IpAddress inner = unwrapped(address);
  return inner.family == base.family && masked(inner, length) == base;
}

std::string Prefix::to_string() const {
  return base.to_string() + "/" + std::to_string(length);
}

}  // namespace dohmux
