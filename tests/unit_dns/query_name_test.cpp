// parse_query: names, rows N1-N7.
#include <catch2/catch_test_macros.hpp>

#include "dns/query.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

bool accepted(const Octets& name) {
  const auto parsed = dns::parse_query(MessageBuilder().question(name).build());
  if (parsed) {
    CHECK(parsed->question == name + be16(1) + be16(1));
    return true;
  }
  CHECK_FALSE(parsed.error().silent);
  CHECK(parsed.error().rcode == dns::Rcode::FormErr);
  CHECK(parsed.error().query.question.empty());
  return false;
}

}  // namespace

TEST_CASE("N1 63-octet labels, 255-octet names, 127 labels") {
  CHECK(accepted(name_of({63})));
  const Octets longest = name_of({63, 63, 63, 61});
  REQUIRE(longest.size() == 255);
  CHECK(accepted(longest));
  CHECK(accepted(name_of(std::vector<std::size_t>(127, 1))));
}

TEST_CASE("N2 names above 255 octets") {
  const Octets too_long = name_of({63, 63, 63, 62});
  REQUIRE(too_long.size() == 256);
  CHECK_FALSE(accepted(too_long));
  CHECK_FALSE(accepted(name_of(std::vector<std::size_t>(128, 1))));
  CHECK_FALSE(accepted(name_of(std::vector<std::size_t>(10000, 1))));
}

TEST_CASE("N3 label kinds 01 and 10") {
  CHECK_FALSE(accepted(Octets{0x40, 'a', 0}));
  CHECK_FALSE(accepted(Octets{0x41, 'a', 0}));
  CHECK_FALSE(accepted(Octets{0x80, 'a', 0}));
  CHECK_FALSE(accepted(labels("www") + Octets{0xBF, 0}));
}

TEST_CASE("N4 no pointer of any kind in the question") {
  CHECK_FALSE(accepted(pointer(12)));                  // to itself
  CHECK_FALSE(accepted(pointer(40)));                  // forward, past the end
  CHECK_FALSE(accepted(pointer(16)));                  // forward, inside
  CHECK_FALSE(accepted(pointer(0)));                   // into the header
  CHECK_FALSE(accepted(pointer(11)));                  //
  CHECK_FALSE(accepted(labels("www") + pointer(12)));  // backward loop
  CHECK_FALSE(accepted(labels("www") + pointer(13)));  // into its own label
  CHECK_FALSE(accepted(pointer(14) + pointer(12)));    // two names in a loop
  const Octets half = MessageBuilder().raw({0xC0}).counts({1, 0, 0, 0}).build();
  CHECK_FALSE(dns::parse_query(half).has_value());
}

TEST_CASE("N5 any octet may stand in a label") {
  for (const std::string_view label :
       {std::string_view("a\0b", 3), std::string_view("a.b"), std::string_view("\\"), std::string_view("\r\n"),
        std::string_view("\x1b[31m"), std::string_view("%n%s"), std::string_view("\xC3\xA4"), std::string_view("\xFF\xFE")}) {
    Octets name{static_cast<std::uint8_t>(label.size())};
    CHECK(accepted(name + text_octets(label) + Octets{0}));
  }
}

TEST_CASE("N6 letter case is kept") {
  CHECK(accepted(wire("WwW.eXaMpLe.OrG")));
}

TEST_CASE("N7 the root name") {
  for (const unsigned type : {2U, 1U, 6U, 48U}) {
    const auto parsed = dns::parse_query(query(".", type).build());
    REQUIRE(parsed.has_value());
    CHECK(parsed->name().size() == 1);
    CHECK(parsed->type == type);
  }
}

TEST_CASE("N4 a bad name in an additional record spoils the query") {
  CHECK_FALSE(dns::parse_query(query().additional(a(pointer(33))).build()).has_value());
  CHECK_FALSE(dns::parse_query(query().additional(a(pointer(5))).build()).has_value());
}
