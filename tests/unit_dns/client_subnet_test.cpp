// The client subnet option that comes back from a resolver (RFC 7871 §7.3).
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "dns/edns.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;

namespace {

Octets found(const MessageBuilder& answer, const Octets& asked) {
  const Octets message = answer.build();
  const ByteView data = dns::answered_client_subnet(message, asked);
  return {data.begin(), data.end()};
}

const Octets kAsked = {0, 1, 24, 0, 192, 0, 2};
const Octets kScoped = {0, 1, 24, 16, 192, 0, 2};

}  // namespace

TEST_CASE("answered client subnet: any scope, the same subnet") {
  CHECK(found(response().additional(opt(1232, 0, option(8, kScoped))), kAsked) == kScoped);
  CHECK(found(response().answer(a(pointer(12))).additional(opt(1232, 0, ede(3, "x") + option(8, kAsked))), kAsked) == kAsked);
}

TEST_CASE("answered client subnet: none, another, or none asked for") {
  CHECK(found(response(), kAsked).empty());
  CHECK(found(response().additional(opt()), kAsked).empty());
  CHECK(found(response().additional(opt(1232, 0, option(8, {0, 1, 24, 16, 192, 0, 3}))), kAsked).empty());
  CHECK(found(response().additional(opt(1232, 0, option(8, {0, 2, 24, 16, 192, 0, 2}))), kAsked).empty());
  CHECK(found(response().additional(opt(1232, 0, option(8, {0, 1, 16, 16, 192, 0}))), kAsked).empty());
  CHECK(found(response().additional(opt(1232, 0, option(8, kScoped))), {}).empty());
  CHECK(found(response().additional(opt(1232, 0, option(8, {0, 1}))), {0, 1}).empty());
}
