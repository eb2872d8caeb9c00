// The record walk and what it tells of a message.
#include <catch2/catch_test_macros.hpp>

#include "dns/edns.h"
#include "dns/records.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using dns::Section;

TEST_CASE("all records of all sections, in order, with their places") {
  const Octets message = response()
                             .answer(a(pointer(12), 5))
                             .answer(a(wire("x"), 6, {9, 9, 9, 9}))
                             .authority(soa(pointer(16), 7, 8))
                             .additional(opt(1400, kDo))
                             .build();
  dns::RecordWalk walk(message);
  const auto first = walk.next();
  REQUIRE(first);
  CHECK(first->section == Section::Answer);
  CHECK(first->offset == 33);
  CHECK(first->ttl_offset() == 39);
  CHECK(first->rdata_offset() == 45);
  CHECK(first->end() == 49);
  CHECK_FALSE(first->root_owner());
  const auto second = walk.next();
  REQUIRE(second);
  CHECK(second->ttl == 6);
  CHECK(Octets(second->rdata.begin(), second->rdata.end()) == Octets{9, 9, 9, 9});
  const auto third = walk.next();
  REQUIRE(third);
  CHECK(third->section == Section::Authority);
  CHECK(third->type == 6);
  CHECK(walk.remaining() == 11);
  const auto fourth = walk.next();
  REQUIRE(fourth);
  CHECK(fourth->section == Section::Additional);
  CHECK(fourth->root_owner());
  CHECK(dns::opt_fields(*fourth).udp_size == 1400);
  CHECK(dns::opt_fields(*fourth).flags == 0x8000);
  CHECK_FALSE(walk.next());
  CHECK_FALSE(walk.next());
  CHECK(walk.ok());
  CHECK(walk.remaining() == 0);
  CHECK(walk.offset() == message.size());
}

TEST_CASE("a walk over a broken message ends and says so") {
  dns::RecordWalk cut(ByteView{});
  CHECK_FALSE(cut.next());
  CHECK_FALSE(cut.ok());
  const Octets overstated = response().answer(a(pointer(12))).counts({1, 2, 0, 0}).build();
  dns::RecordWalk walk(overstated);
  CHECK(walk.next());
  CHECK_FALSE(walk.next());
  CHECK_FALSE(walk.ok());
}

TEST_CASE("the full RCODE and the TC bit") {
  CHECK(dns::full_rcode(response().flags(0x8183).build()) == 3);
  CHECK(dns::full_rcode(response().flags(0x8187).additional(opt(1232, 0x01000000)).build()) == 23);
  CHECK(dns::full_rcode(response().flags(0x8180).additional(a(pointer(12), 0x01000000)).build()) == 0);
  CHECK(dns::is_truncated(response().flags(0x8380).build()));
  CHECK_FALSE(dns::is_truncated(response().build()));
  CHECK_FALSE(dns::is_truncated(Octets{}));
}

TEST_CASE("options, one after the other") {
  const Octets options = option(3, {}) + option(10, {1, 2});
  dns::OptionWalk walk(options);
  CHECK(walk.next()->code == 3);
  CHECK(walk.next()->data.size() == 2);
  CHECK_FALSE(walk.next());
  CHECK(walk.ok());
  const Octets cut_off = option(3, {}) + be16(10) + be16(3) + Octets{1, 2};
  dns::OptionWalk cut(cut_off);
  CHECK(cut.next());
  CHECK_FALSE(cut.next());
  CHECK_FALSE(cut.ok());
}

TEST_CASE("an option is only added behind an OPT that is last, and within the limit") {
  const dns::Option extra{.code = 3, .data = {}};
  Octets reply = response().additional(opt(1232, 0, option(10, {1}))).build();
  const Octets before = reply;
  dns::append_option(reply, extra, before.size() + 3);
  CHECK(reply == before);
  dns::append_option(reply, extra, before.size() + 4);
  CHECK(reply == response().additional(opt(1232, 0, option(10, {1}) + option(3, {}))).build());

  for (const Octets& other : {response().additional(opt()).additional(a(pointer(12))).build(), response().build(), Octets{},
                              response().additional(opt()).raw({0}).build()}) {
    Octets copy = other;
    dns::append_option(copy, extra, 65535);
    CHECK(copy == other);
  }
}
