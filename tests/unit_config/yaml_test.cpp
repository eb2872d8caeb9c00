// The tree and its bounds: what is refused before any key is looked at, alone and with its place.
#include "config/parse_yaml.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "load.h"

using dohmux::config::NodeKind;
using dohmux::config::parse_yaml;
using dohmux::test::bad;

TEST_CASE("the tree keeps order and places") {
  const auto tree = parse_yaml("a: [x, 'y z']\nb:\n  c: \"1\"\nd:\n");
  REQUIRE(tree.has_value());
  REQUIRE(tree->kind == NodeKind::Map);
  REQUIRE(tree->entries.size() == 3);
  CHECK(tree->entries[0].value.items[1].text == "y z");
  CHECK(tree->entries[0].value.items[1].place == dohmux::config::Place{1, 8});
  CHECK(tree->entries[1].value.entries[0].key == "c");
  CHECK(tree->entries[1].value.entries[0].value.place == dohmux::config::Place{3, 6});
  CHECK(tree->entries[2].value.kind == NodeKind::Null);
}

TEST_CASE("a file that is no configuration gives one clear error") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"", "f: the file is empty; give at least `upstreams: [https://HOST/dns-query]` and the way to it (proxies, or addresses)"},
      {"# only a comment\n",
       "f: the file is empty; give at least `upstreams: [https://HOST/dns-query]` and the way to it (proxies, or addresses)"},
      {"- a\n", "f:1:1: the file is not a map of settings; write `key: value` lines"},
      {"listen\n", "f:1:1: the file is not a map of settings; write `key: value` lines"},
      {"a: [1\nb: 2\n", "f:2:2: not valid YAML: end of sequence flow not found"},
      {"a: 1\n\tb: 2\n", "f:2:1: not valid YAML: illegal tab when looking for indentation"},
      {"a: &x 1\n", "f:1:4: anchors (&name) and aliases (*name) are not accepted; write the value out, or quote it"},
      {"a: *hunter2\n", "f:1:4: anchors (&name) and aliases (*name) are not accepted; write the value out, or quote it"},
      {"a: !x 1\n", "f:1:4: tags (!name) are not accepted; write the plain value, or quote it"},
      {"a: 1\n---\nb: 2\n", "f:3:1: a second YAML document; keep one, without `---` between parts"},
      {"? [a]\n: 1\n", "f:1:3: a key must be plain text; write `key: value`"},
      {"a: \"\\q\"\n", "f:1:7: unknown escape in a double-quoted text; write \\\\ for a backslash, or use single quotes"},
      {"a: 1\nb: \x04\n", "f:2:4: a control character; remove it"},
      {std::string("a: \0", 4), "f:1:4: a control character; remove it"},
      {"a: \xff\n", "f:1:4: a byte that is not UTF-8; save the file as UTF-8 text"},
      {"a: \xc0\xaf\n", "f:1:4: a byte that is not UTF-8; save the file as UTF-8 text"},
      {"a: \xed\xa0\x80\n", "f:1:4: a byte that is not UTF-8; save the file as UTF-8 text"},
      {std::string((1U << 20U) + 1, ' '), "f: larger than 1 MiB; no configuration is that long"},
  };
  for (const auto& [text, error] : table) {
    CAPTURE(text.substr(0, 80));
    CHECK(bad(text) == std::vector<std::string>{error});
  }
}

TEST_CASE("nesting is bounded at 32") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']') + "\n"; };
  CHECK(parse_yaml(nested(32)).has_value());
  REQUIRE_FALSE(parse_yaml(nested(33)).has_value());
  CHECK(parse_yaml(nested(33)).error().place == dohmux::config::Place{1, 33});
  CHECK_FALSE(parse_yaml(nested(100'000)).has_value());
}

TEST_CASE("an alias bomb stops at its first anchor") {
  CHECK(bad("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n").size() == 1);
}

TEST_CASE("merge keys are ordinary unknown keys") {
  const auto errors = bad("<<: {a: 1}\nupstreams: https://192.0.2.1/d\n");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].starts_with("f:1:1: \"<<\": unknown key; "));
}
