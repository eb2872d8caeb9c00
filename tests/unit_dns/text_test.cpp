// Types, classes and codes for people.
#include <catch2/catch_test_macros.hpp>

#include "dns/text.h"

using namespace dohmux;

TEST_CASE("RFC 3597 types, classes and codes have names or numbers") {
  CHECK(dns::type_text(1) == "A");
  CHECK(dns::type_text(65) == "HTTPS");
  CHECK(dns::type_text(65280) == "TYPE65280");
  CHECK(dns::class_text(1) == "IN");
  CHECK(dns::class_text(99) == "CLASS99");
  CHECK(dns::rcode_text(3) == "NXDOMAIN");
  CHECK(dns::rcode_text(16) == "BADVERS");
  CHECK(dns::rcode_text(4095) == "RCODE4095");
}

TEST_CASE("RFC 3597 types from text") {
  CHECK(dns::type_from_text("A") == 1);
  CHECK(dns::type_from_text("aaaa") == 28);
  CHECK(dns::type_from_text("TYPE65280") == 65280);
  CHECK(dns::type_from_text("type28") == 28);
  CHECK(dns::type_from_text("261") == 261);
  CHECK_FALSE(dns::type_from_text(""));
  CHECK_FALSE(dns::type_from_text("TYPE"));
  CHECK_FALSE(dns::type_from_text("TYPE65536"));
  CHECK_FALSE(dns::type_from_text("TYPE1x"));
  CHECK_FALSE(dns::type_from_text("BOGUS"));
}

TEST_CASE("every type's name leads back to it") {
  for (unsigned type = 0; type < 65536; ++type) {
    REQUIRE(dns::type_from_text(dns::type_text(static_cast<std::uint16_t>(type))) == type);
  }
}
