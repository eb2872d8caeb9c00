// parse_query: types, classes and meta queries, rows T1-T6.
#include <catch2/catch_test_macros.hpp>

#include "dns/query.h"
#include "support/message_builder.h"

using namespace dohmux;
using namespace dohmux::test;
using dns::Rcode;

namespace {

struct Outcome {
  std::optional<Rcode> rcode;  // nothing: forwarded
  std::optional<std::uint16_t> ede;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(const Octets& message) {
  const auto parsed = dns::parse_query(message);
  return parsed ? Outcome{} : Outcome{.rcode = parsed.error().rcode, .ede = parsed.error().ede};
}
Outcome of_type(unsigned type) {
  return outcome(query("example.org", type).build());
}
Outcome of_class(unsigned qclass) {
  return outcome(MessageBuilder().question("version.bind", 16, qclass).build());
}

const Rr kTsig{.owner = wire("key"), .type = 250, .ttl = 0, .rdata = Octets(40, 1), .rclass = 255};
const Rr kSig0{.owner = {0}, .type = 24, .ttl = 0, .rdata = Octets(20, 0), .rclass = 255};

}  // namespace

TEST_CASE("T1 known, new and unknown types are forwarded") {
  for (const unsigned type : {1U,  2U,  5U,  6U,  10U,  12U,  15U,  16U,  24U,   28U,    33U,    43U,    48U,
                              52U, 64U, 65U, 99U, 127U, 256U, 257U, 261U, 4096U, 32768U, 65280U, 65534U, 65535U}) {
    CHECK(of_type(type) == Outcome{});
  }
}

TEST_CASE("T2 ANY is forwarded") {
  CHECK(of_type(255) == Outcome{});
}

TEST_CASE("T3 AXFR and IXFR are NOTIMP with EDE 21") {
  CHECK(of_type(252) == Outcome{Rcode::NotImp, 21});
  CHECK(of_type(251) == Outcome{Rcode::NotImp, 21});
  const auto with_soa = query("example.org", 251).authority(soa(pointer(12), 1, 1));  // RFC 1995 §3
  CHECK(outcome(with_soa.build()) == Outcome{Rcode::NotImp, 21});
  CHECK(outcome(query("example.org", 251).authority(opt()).build()) == Outcome{Rcode::FormErr, std::nullopt});
}

TEST_CASE("T4 meta types are refused one way or the other") {
  for (const unsigned type : {0U, 41U, 128U}) {
    CHECK(of_type(type) == Outcome{Rcode::FormErr, 30});
  }
  for (unsigned type = 129; type < 255; ++type) {
    CHECK(of_type(type) == Outcome{Rcode::NotImp, 21});
  }
}

TEST_CASE("T5 classes other than IN are REFUSED") {
  for (const unsigned qclass : {0U, 2U, 3U, 4U, 254U, 255U, 65535U}) {
    CHECK(of_class(qclass) == Outcome{Rcode::Refused, 21});
  }
  CHECK(of_class(1) == Outcome{});
}

TEST_CASE("T6 TSIG and SIG(0) are never stripped and forwarded") {
  CHECK(outcome(query().additional(kTsig).build()) == Outcome{Rcode::NotAuth, 21});
  CHECK(outcome(query().additional(opt()).additional(kTsig).build()) == Outcome{Rcode::NotAuth, 21});
  CHECK(outcome(query().additional(kSig0).build()) == Outcome{Rcode::NotImp, 21});
  SECTION("TSIG not last is FORMERR") {
    CHECK(outcome(query().additional(kTsig).additional(opt()).build()) == Outcome{Rcode::FormErr, std::nullopt});
    CHECK(outcome(query().additional(kTsig).additional(kTsig).build()) == Outcome{Rcode::FormErr, std::nullopt});
    CHECK(outcome(query().answer(kTsig).build()) == Outcome{Rcode::FormErr, std::nullopt});
  }
  SECTION("a SIG record that signs records is no SIG(0)") {
    Rr sig = kSig0;
    sig.rdata[1] = 1;
    CHECK(outcome(query().additional(sig).build()) == Outcome{});
  }
}
