// Homes of hosts. Must stay stable across restarts and versions: the hash is written out here.
#include "upstream/homes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

namespace dohmux::upstream {
namespace {

// FNV-1a, then a finaliser so that similar names spread.
std::uint64_t score(const std::string& host, const std::string& exit, const std::string& instance) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::string* part : {&host, &exit, &instance}) {
    for (const char c : *part) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    hash = (hash ^ 0xffU) * 0x100000001b3ULL;  // a border between the parts
  }
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31U);
}

}  // namespace

std::vector<std::vector<ExitId>> assign_homes(const std::vector<Placement>& hosts, const std::vector<std::string>& exits,
                                              const std::string& instance) {
  std::vector<std::size_t> by_name(hosts.size());
  std::iota(by_name.begin(), by_name.end(), std::size_t{0});
  std::ranges::sort(by_name, [&hosts](std::size_t a, std::size_t b) { return hosts[a].host < hosts[b].host; });

  std::map<ExitId, std::size_t> load;
  for (const Placement& host : hosts) {
    for (const ExitId exit : host.allowed) {
      load[exit] = 0;
    }
  }
  const std::size_t fair = load.empty() ? 0 : (hosts.size() + load.size() - 1) / load.size();

  std::vector<std::vector<ExitId>> orders(hosts.size());
  for (const std::size_t index : by_name) {
    std::vector<ExitId>& order = orders[index];
    order = hosts[index].allowed;
    const std::string& host = hosts[index].host;
    std::ranges::sort(order, [&](ExitId a, ExitId b) { return score(host, exits[a], instance) > score(host, exits[b], instance); });
    auto home = std::ranges::find_if(order, [&](ExitId exit) { return load[exit] < fair; });
    if (home == order.end()) {
      home = std::ranges::min_element(order, {}, [&](ExitId exit) { return load[exit]; });
    }
    if (home != order.end()) {
      ++load[*home];
      std::rotate(order.begin(), home, home + 1);  // home first, the others keep their order
    }
  }
  return orders;
}

}  // namespace dohmux::upstream
