// Longest suffixes: whole labels only, any letter case, the root, odd octets.
#include "resolver/name_map.h"

#include <catch2/catch_test_macros.hpp>

#include "support/message_builder.h"

using namespace dohmux;
using dohmux::test::Octets;
using dohmux::test::wire;

namespace {

/// The value found for a name and the size of its key; -1 for none.
std::pair<int, std::size_t> longest(const NameMap<int>& map, std::string_view name) {
  const auto match = map.find_longest(wire(name));
  return match ? std::pair(*match.value, match.size) : std::pair(-1, std::size_t{0});
}

}  // namespace

TEST_CASE("name map: the longest suffix wins, labels are whole") {
  NameMap<int> map;
  CHECK(map.empty());
  CHECK(longest(map, "a.example") == std::pair(-1, std::size_t{0}));
  CHECK(map.add(wire("example"), 1));
  CHECK(map.add(wire("corp.example"), 2));
  CHECK(longest(map, "example") == std::pair(1, std::size_t{9}));
  CHECK(longest(map, "a.b.example") == std::pair(1, std::size_t{9}));
  CHECK(longest(map, "corp.example") == std::pair(2, std::size_t{14}));
  CHECK(longest(map, "x.y.corp.example") == std::pair(2, std::size_t{14}));
  CHECK(longest(map, "notcorp.example").first == 1);
  CHECK(longest(map, "myexample").first == -1);
  CHECK(longest(map, "example.org").first == -1);
  CHECK(longest(map, ".").first == -1);
}

TEST_CASE("name map: the root covers everything") {
  NameMap<int> map;
  CHECK(map.add(wire("."), 7));
  CHECK(longest(map, ".") == std::pair(7, std::size_t{1}));
  CHECK(longest(map, "a.b.c") == std::pair(7, std::size_t{1}));
}

TEST_CASE("name map: letter case does not matter, of keys and of questions") {
  NameMap<int> map;
  CHECK(map.add(wire("Corp.EXAMPLE"), 3));
  CHECK_FALSE(map.add(wire("corp.example"), 4));
  CHECK(longest(map, "a.cORP.example").first == 3);
  CHECK(*map.find(wire("CORP.example")) == 3);
  CHECK(map.find(wire("a.corp.example")) == nullptr);
  map[wire("CORP.EXAMPLE")] = 5;
  CHECK(longest(map, "corp.example").first == 5);
}

TEST_CASE("name map: dots and NULs inside labels are no borders") {
  NameMap<int> map;
  CHECK(map.add(wire("corp.example"), 1));
  CHECK_FALSE(map.find_longest(Octets{12, 'c', 'o', 'r', 'p', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e', 0}));
  CHECK_FALSE(map.find_longest(Octets{5, 'c', 'o', 'r', 'p', 0, 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 0}));
}

TEST_CASE("name map: what is no name is not read past its end") {
  NameMap<int> map;
  CHECK(map.add(wire("a"), 1));
  CHECK_FALSE(map.find_longest({}));
  CHECK_FALSE(map.find_longest(Octets{9, 'a'}));
}
