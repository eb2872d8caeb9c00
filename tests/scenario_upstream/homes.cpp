// Homes: balanced, stable, different for different instances.
#include "upstream/homes.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>

using namespace dohmux::upstream;

namespace {

std::vector<Placement> hosts(int count, std::vector<ExitId> allowed) {
  std::vector<Placement> out;
  for (int i = 0; i < count; ++i) {
    out.push_back({.host = "r" + std::to_string(i) + ".lab.example:443", .allowed = allowed});
  }
  return out;
}

std::map<ExitId, int> load(const std::vector<std::vector<ExitId>>& orders) {
  std::map<ExitId, int> count;
  for (const auto& order : orders) {
    ++count[order.front()];
  }
  return count;
}

}  // namespace

TEST_CASE("12 hosts on 3 exits: four each, whatever the instance") {
  for (const char* instance : {"a", "b", "sidecar-17"}) {
    const auto count = load(assign_homes(hosts(12, {0, 1, 2}), {"p1", "p2", "p3"}, instance));
    for (const auto& [exit, hosts_there] : count) {
      CHECK(hosts_there == 4);
    }
    CHECK(count.size() == 3);
  }
}

TEST_CASE("the same input gives the same homes, in any order of the hosts") {
  auto list = hosts(9, {0, 1, 2});
  const auto first = assign_homes(list, {"p1", "p2", "p3"}, "x");
  std::ranges::reverse(list);
  auto second = assign_homes(list, {"p1", "p2", "p3"}, "x");
  std::ranges::reverse(second);
  CHECK(first == second);
}

TEST_CASE("single hosts of many instances do not choose the same exit") {
  std::map<ExitId, int> count;
  for (int i = 0; i < 300; ++i) {
    ++count[assign_homes(hosts(1, {0, 1, 2}), {"p1", "p2", "p3"}, "pod-" + std::to_string(i))[0].front()];
  }
  for (const auto& [exit, instances] : count) {
    CHECK(instances > 60);
  }
}

TEST_CASE("a host uses only what it may use") {
  auto list = hosts(6, {0, 1, 2});
  list[3].allowed = {2};
  list[4].allowed = {2};
  list[5].allowed = {2};
  const auto orders = assign_homes(list, {"p1", "p2", "p3"}, "x");
  for (int i = 3; i < 6; ++i) {
    CHECK(orders[static_cast<std::size_t>(i)] == std::vector<ExitId>{2});
  }
}
