// Counts queries per client network and lets each have so many a second. Must not know what is asked, nor what happens to
// those that are too many.
#include "resolver/client_limits.h"

#include <algorithm>
#include <array>

namespace dohmux {
namespace {

constexpr std::size_t kNetworkOctets6 = 7;  // a /56
constexpr std::size_t kMappedOctets = 12;   // ::ffff:0:0/96
constexpr Duration kBurst = std::chrono::seconds(1);

IpAddress unmapped(const IpAddress& address) {
  constexpr std::array<std::uint8_t, kMappedOctets> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (address.family != Family::V6 || !std::equal(kMapped.begin(), kMapped.end(), address.octets.begin())) {
    return address;
  }
  IpAddress v4{.family = Family::V4, .octets = {}};
  std::copy(address.octets.begin() + kMappedOctets, address.octets.end(), v4.octets.begin());
  return v4;
}

}  // namespace

ClientLimits::Key ClientLimits::key_of(const Client& client) {
  IpAddress network = unmapped(client.peer.address);
  if (network.family == Family::V6) {
    std::fill(network.octets.begin() + kNetworkOctets6, network.octets.end(), std::uint8_t{0});
  }
  return {client.protocol, network};
}

/// The row of this client, made if it is not there, and now the most recent of its list.
ClientLimits::Row& ClientLimits::row(const Client& client) {
  const Key key = key_of(client);
  const auto [place, added] = rows_.try_emplace(key);
  if (added) {
    idle_.push_front(Row{.key = key});
    place->second = idle_.begin();
    forget_oldest();
  } else if (place->second->waiting == 0) {
    idle_.splice(idle_.begin(), idle_, place->second);
  }
  return *place->second;
}

/// The newest row stays: somebody is about to use it.
void ClientLimits::forget_oldest() {
  while (idle_.size() > std::max<std::size_t>(settings_.remembered, 1)) {
    rows_.erase(idle_.back().key);
    idle_.pop_back();
  }
}

Excess ClientLimits::exceed(Row& row) {
  return row.excess++ % 2 == 0 ? Excess::Slip : Excess::Drop;
}

/// A token bucket that holds one second's worth, as one point in time: each query moves it by one token's time.
Excess ClientLimits::arrive(const Client& client, TimePoint now) {
  if (settings_.per_second == 0 || client.peer.address.is_loopback()) {
    return Excess::None;
  }
  Row& row = this->row(client);
  const TimePoint full = std::max(row.full, now) + kBurst / settings_.per_second;
  if (full > now + kBurst) {
    return exceed(row);
  }
  row.full = full;
  return Excess::None;
}

Excess ClientLimits::wait(const Client& client) {
  if (client.peer.address.is_loopback()) {
    return Excess::None;
  }
  Row& row = this->row(client);
  if (row.waiting >= settings_.pending) {
    return exceed(row);
  }
  if (row.waiting++ == 0) {
    busy_.splice(busy_.begin(), idle_, rows_.at(row.key));
  }
  return Excess::None;
}

void ClientLimits::settle(const Client& client) {
  const auto place = rows_.find(key_of(client));
  if (place == rows_.end() || place->second->waiting == 0) {
    return;  // loopback
  }
  if (--place->second->waiting == 0) {
    idle_.splice(idle_.begin(), busy_, place->second);
    forget_oldest();
  }
}

std::size_t ClientLimits::waiting(const Client& client) const {
  const auto place = rows_.find(key_of(client));
  return place == rows_.end() ? 0 : place->second->waiting;
}

}  // namespace dohmux
