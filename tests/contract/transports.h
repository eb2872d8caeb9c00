// The transports that must keep the contract. A new one is one more struct, and one more word in the macro.
#pragma once

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "contract/bench.h"
#include "transport/curl/curl_transport.h"

namespace dohmux::contract {

struct Curl {
  static constexpr MakeTransport kMake = &transport::make_curl_transport;
};

/// One test case per transport; in it, TestType::kMake makes one.
#define CONTRACT_TEST(name) TEMPLATE_TEST_CASE(name, "[contract]", Curl)

}  // namespace dohmux::contract
