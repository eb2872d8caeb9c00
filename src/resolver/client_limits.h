// How much one client may ask, so that none can take everything, and nobody can be drowned in our answers to forged queries.
#pragma once

#include <dohmux/address.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <utility>

#include "base/scheduler.h"
#include "resolver/client.h"

namespace dohmux {

struct ClientLimitsSettings {
  std::size_t pending = 256;      // queries of one client under way
  std::uint32_t per_second = 0;   // 0: any number
  std::size_t remembered = 4096;  // clients with nothing under way whose rate is still known
};

enum class Excess : std::uint8_t {
  None,  // go on
  Slip,  // answer with TC=1: whoever is real comes back over TCP
  Drop,
};

/// A client is a /32 or a /56 (the usual size of one customer's network), over UDP and over TCP each by itself: UDP addresses
/// can be forged, and whoever forges one shall not take its owner's way over TCP. Loopback is exempt from everything.
/// Memory: one row per client with queries under way, and `remembered` more.
class ClientLimits {
 public:
  explicit ClientLimits(ClientLimitsSettings settings) : settings_(settings) {}

  /// One query has come. On excess every second one slips.
  [[nodiscard]] Excess arrive(const Client& client, TimePoint now);
  /// It is to wait for an upstream. `None` is followed by one settle().
  [[nodiscard]] Excess wait(const Client& client);
  void settle(const Client& client);

  /// Queries of this client that wait.
  [[nodiscard]] std::size_t waiting(const Client& client) const;
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

 private:
  using Key = std::pair<Protocol, IpAddress>;
  struct Row {
    Key key;
    std::size_t waiting = 0;
    TimePoint full;  // when the bucket has all its tokens again
    std::uint32_t excess = 0;
  };
  using Rows = std::list<Row>;

  [[nodiscard]] static Key key_of(const Client& client);
  [[nodiscard]] Row& row(const Client& client);
  [[nodiscard]] static Excess exceed(Row& row);
  void forget_oldest();

  ClientLimitsSettings settings_;
  std::map<Key, Rows::iterator> rows_;
  Rows busy_;  // waiting > 0
  Rows idle_;  // the most recent first
};

}  // namespace dohmux
