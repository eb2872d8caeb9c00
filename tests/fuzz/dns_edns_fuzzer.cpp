// Any octets as the options of an OPT, as a client subnet, as the text of an EDE.
#include <algorithm>
#include <chrono>
#include <string>

#include "dns/edns.h"
#include "dns/query.h"
#include "dns/reply.h"
#include "fuzz/require.h"

using namespace dohmux;

namespace {

void check_options(ByteView rdata) {
  dns::OptionWalk walk(rdata);
  Bytes rebuilt;
  while (const auto option = walk.next()) {
    const Bytes octets = dns::option_octets(*option);
    rebuilt.insert(rebuilt.end(), octets.begin(), octets.end());
  }
  REQUIRE(rebuilt.size() <= rdata.size());
  REQUIRE(Bytes(rdata.begin(), rdata.begin() + static_cast<std::ptrdiff_t>(rebuilt.size())) == rebuilt);
  REQUIRE(walk.ok() == (rebuilt.size() == rdata.size()));
}

void check_ede(const std::string& text) {
  const Bytes octets = dns::ede_option(22, text);
  REQUIRE(octets.size() >= 6 && octets.size() <= 70);
  const std::string kept(octets.begin() + 6, octets.end());
  REQUIRE(dns::is_utf8(kept));
  REQUIRE(text.starts_with(kept));
  REQUIRE(dns::is_utf8(text) ? kept.size() + 3 >= std::min<std::size_t>(text.size(), 64) : kept.empty());
}

/// A query with these options, and the reply to it with one option more.
void check_query(ByteView rdata) {
  dns::WireWriter writer;
  dns::write_header(writer, {.id = 1, .flags = 0, .question_count = 1, .additional_count = 1});
  writer.octets(Bytes{0, 0, 2, 0, 1});
  dns::write_opt(writer, 0, 0, rdata);
  if (!writer.ok()) {
    return;
  }
  const auto parsed = dns::parse_query(writer.view());
  dns::OptionWalk walk(rdata);
  while (walk.next()) {
  }
  REQUIRE(parsed.has_value() == walk.ok());
  Bytes reply = dns::error_reply(parsed ? *parsed : parsed.error().query, dns::Rcode::ServFail, dns::Ede{});
  const std::size_t before = reply.size();
  dns::add_keepalive(reply, std::chrono::seconds(10));
  REQUIRE(reply.size() == before + 6);
  dns::RecordWalk records(reply);
  const auto opt = records.next();
  REQUIRE(opt && opt->end() == reply.size());
  check_options(opt->rdata);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  check_options(input);
  check_ede(std::string(input.begin(), input.end()));
  check_query(input);
  static_cast<void>(dns::valid_client_subnet(input));
  return 0;
}
