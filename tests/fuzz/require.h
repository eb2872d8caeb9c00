// What a fuzz target claims. Also checked where assert() is compiled out.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(condition)                                                                              \
  do {                                                                                                  \
    if (!(condition)) {                                                                                 \
      static_cast<void>(std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition)); \
      std::abort();                                                                                     \
    }                                                                                                   \
  } while (false)
