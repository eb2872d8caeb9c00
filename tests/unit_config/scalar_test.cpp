// The value languages: durations, sizes, numbers.
#include "config/scalar.h"

#include <catch2/catch_test_macros.hpp>

using dohmux::Milliseconds;
using namespace dohmux::config;  // NOLINT(google-build-using-namespace)

TEST_CASE("durations") {
  CHECK(parse_duration("250ms") == Milliseconds(250));
  CHECK(parse_duration("5s") == Milliseconds(5000));
  CHECK(parse_duration("1m30s") == Milliseconds(90'000));
  CHECK(parse_duration("1d") == Milliseconds(86'400'000));
  CHECK(parse_duration("1d2h3m4s5ms") == Milliseconds(93'784'005));
  CHECK(parse_duration("0s") == Milliseconds(0));
  CHECK(parse_duration("3650d") == Milliseconds(315'360'000'000));
  for (const char* text : {"",
                           "5",
                           "0",
                           "s",
                           "5 s",
                           " 5s",
                           "5s ",
                           "-5s",
                           "+5s",
                           "1.5s",
                           "5S",
                           "5sec",
                           "30s1m",
                           "1s1s",
                           "1m5",
                           "01s",
                           "5us",
                           "3651d",
                           "99999999999999999999s",
                           "18446744073709551615d",
                           "1h h"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).has_value());
  }
}

TEST_CASE("printed durations parse to the same") {
  CHECK(format_duration(Milliseconds(4500)) == "4500ms");
  CHECK(format_duration(Milliseconds(90'000)) == "1m30s");
  for (const int count : {0, 1, 999, 1000, 60'000, 61'000, 86'400'000, 90'061'001}) {
    CHECK(parse_duration(format_duration(Milliseconds(count))) == Milliseconds(count));
  }
}

TEST_CASE("sizes") {
  CHECK(parse_size("0B") == 0U);
  CHECK(parse_size("64KiB") == 65536U);
  CHECK(parse_size("32MiB") == 33'554'432U);
  CHECK(parse_size("2GiB") == 2'147'483'648U);
  CHECK(parse_size("1TiB") == 1'099'511'627'776U);
  for (const char* text : {"", "1", "B", "1KB", "1kiB", "1 MiB", "-1B", "1.5MiB", "01B", "99999999999TiB", "1MiB "}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text).has_value());
  }
}

TEST_CASE("whole numbers") {
  CHECK(parse_integer("0") == 0U);
  CHECK(parse_integer("18446744073709551615") == UINT64_MAX);
  for (const char* text : {"", "-1", "+1", "01", "0x10", "1e3", "1_000", "1.0", " 1", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer(text).has_value());
  }
}
