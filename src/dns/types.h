// Numbers of the DNS: the IANA registries as far as a forwarder needs them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dohmux::dns {

enum class Rcode : std::uint16_t {
  NoError = 0,
  FormErr = 1,
  ServFail = 2,
  NxDomain = 3,
  NotImp = 4,
  Refused = 5,
  NotAuth = 9,
  BadVers = 16,
};

/// Extended DNS Errors (RFC 8914 §4 and its registry).
enum class EdeCode : std::uint16_t {
  Other = 0,
  StaleAnswer = 3,
  CachedError = 13,
  NotReady = 14,
  Blocked = 15,
  Prohibited = 18,
  StaleNxDomain = 19,
  NotSupported = 21,
  NoReachableAuthority = 22,
  NetworkError = 23,
  Synthesized = 29,
  InvalidQueryType = 30,
};

inline constexpr std::size_t kHeaderSize = 12;         // RFC 1035 §4.1.1
inline constexpr std::size_t kMaxMessage = 65535;      // RFC 1035 §4.2.2
inline constexpr std::uint16_t kMaxUdpPayload = 1232;  // DNS Flag Day 2020
inline constexpr std::size_t kMinUdpPayload = 512;     // RFC 1035 §4.2.1

inline constexpr std::uint16_t kClassIn = 1;

// Types that are treated specially somewhere; every other type is only carried (RFC 3597).
inline constexpr std::uint16_t kTypeA = 1;
inline constexpr std::uint16_t kTypeNs = 2;
inline constexpr std::uint16_t kTypeCname = 5;
inline constexpr std::uint16_t kTypeSoa = 6;
inline constexpr std::uint16_t kTypePtr = 12;
inline constexpr std::uint16_t kTypeMx = 15;
inline constexpr std::uint16_t kTypeTxt = 16;
inline constexpr std::uint16_t kTypeSig = 24;
inline constexpr std::uint16_t kTypeAaaa = 28;
inline constexpr std::uint16_t kTypeSrv = 33;
inline constexpr std::uint16_t kTypeNaptr = 35;
inline constexpr std::uint16_t kTypeDname = 39;
inline constexpr std::uint16_t kTypeOpt = 41;
inline constexpr std::uint16_t kTypeDs = 43;
inline constexpr std::uint16_t kTypeRrsig = 46;
inline constexpr std::uint16_t kTypeNsec = 47;
inline constexpr std::uint16_t kTypeNsec3 = 50;
inline constexpr std::uint16_t kTypeSvcb = 64;
inline constexpr std::uint16_t kTypeHttps = 65;
inline constexpr std::uint16_t kTypeNxname = 128;  // RFC 9824: never asked for
inline constexpr std::uint16_t kTypeTkey = 249;
inline constexpr std::uint16_t kTypeTsig = 250;
inline constexpr std::uint16_t kTypeIxfr = 251;
inline constexpr std::uint16_t kTypeAxfr = 252;
inline constexpr std::uint16_t kTypeAny = 255;

}  // namespace dohmux::dns
