// What libcurl does that one would not expect: each trap of the measurements, pinned. If a newer libcurl stops doing
// one of these, its test fails or becomes pointless, and the code that works around it can go.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "contract/transports.h"

namespace dohmux::contract {

namespace {

std::size_t entries_of(const char* directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) {
    ++count;
  }
  return count;
}

class Environment {
 public:
  Environment(std::string name, const std::string& value) : name_(std::move(name)) { ::setenv(name_.c_str(), value.c_str(), 1); }
  ~Environment() { ::unsetenv(name_.c_str()); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_;
};

}  // namespace

TEST_CASE("trap: a dial stopped by PREREQ leaves its connection in the pool", "[contract][trap]") {
  Bench bench(Curl::kMake);
  bench.open_via("p1");
  const DialInfo info = bench.connect();
  bench.run_for(200ms);
  CHECK(bench.lab().count("r1", "open") == 1);
  CHECK(bench.ask("www.example").use.connection == info.connection);
}

TEST_CASE("trap: stopping an HTTP/1.1 dial the same way would close its connection", "[contract][trap]") {
  Bench bench(Curl::kMake);
  bench.lab().command("resolver r1 h1");
  bench.open_via("p1");
  const DialInfo info = bench.connect();
  CHECK_FALSE(info.http2);
  CHECK(bench.lane().connected() == 1);
  bench.run_for(100ms);
  CHECK(bench.lab().count("r1", "open") == 1);
  CHECK(bench.lab().count("r1", "requests") == 0);
}

TEST_CASE("trap: a dialled HTTP/1.1 connection goes stale when session tickets wait on it; a request opens another", "[contract][trap]") {
  Bench bench(Curl::kMake);
  bench.lab().command("resolver r1 h1");
  bench.open_via("p1");
  bench.connect();
  bench.run_for(100ms);
  REQUIRE(bench.lane().ready());
  const ExchangeReport report = bench.ask("www.example");
  CHECK(report.result.has_value());
  CHECK(bench.lab().count("r1", "requests") == 1);
  CHECK(bench.lab().count("r1", "accepts") <= 2);
}

TEST_CASE("trap: libcurl sends again by itself; an origin that refuses every stream still sees each request once", "[contract][trap]") {
  Bench bench(Curl::kMake);
  bench.lab().command("resolver r1 rst REFUSED_STREAM");
  bench.open_via("p1");
  const BurstResult result = bench.burst(20, 5);
  CHECK(result.done == 20);
  CHECK(result.ok == 0);
  CHECK(bench.lab().count("r1", "requests") == result.sendings);
  CAPTURE(result.details);
  for (const auto& [kind, count] : result.failures) {
    CHECK((kind == FailureKind::Orderly || kind == FailureKind::NotConnected));
  }
}

TEST_CASE("trap: a resend never opens a connection on the quiet", "[contract][trap]") {
  Bench bench(Curl::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("name refused.example rst REFUSED_STREAM");
  bench.lab().command("proxy p1 stall-connect");  // a resend would hang here
  const ExchangeReport report = bench.ask("www.refused.example", 2s);
  CHECK(kind_of(report) == FailureKind::Orderly);
  CHECK(bench.lab().count("p1", "connects") == 1);
}

TEST_CASE("trap: libcurl gives a connection up after REFUSED_STREAM, and we know", "[contract][trap]") {
  Bench bench(Curl::kMake);
  bench.open_via("p1");
  const DialInfo info = bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("name refused.example rst REFUSED_STREAM");
  std::optional<ExchangeReport> slow;
  const auto call = bench.lane().send(bench.request("d300.example"), [&](ExchangeReport report) { slow = std::move(report); });
  CHECK(kind_of(bench.ask("www.refused.example")) == FailureKind::Orderly);
  CHECK_FALSE(bench.lane().ready());
  CHECK(bench.lane().connected() == 0);
  CHECK(bench.connect().connection != info.connection);
  CHECK(bench.lane().ready());
  bench.run_until([&] { return slow.has_value(); });
  CHECK(slow->result.has_value());  // what was on the old connection is still answered
}

TEST_CASE("trap: a black-holed connection swallows every request until it is shut down from outside", "[contract][trap]") {
  Bench bench(Curl::kMake);
  bench.open_via("p1");
  const DialInfo info = bench.connect();
  REQUIRE(bench.ask("warm.example").result.has_value());
  bench.lab().command("resolver r1 freeze-all");
  for (int i = 0; i < 3; ++i) {
    const ExchangeReport report = bench.ask("www.example", 100ms);
    CHECK(kind_of(report) == FailureKind::Timeout);
    CHECK(report.use.connection == info.connection);  // libcurl itself no longer tells which one it was
  }
  CHECK(bench.lane().connected() == 1);
  bench.lane().evict(info.connection);
  bench.connect();
  CHECK(bench.ask("www.example").result.has_value());
}

TEST_CASE("trap: NO_PROXY and HTTPS_PROXY count even when a proxy is set, unless switched off", "[contract][trap]") {
  Bench bench(Curl::kMake);
  const std::string decoy = fmt::format("http://127.0.0.1:{}", bench.lab().port("decoy"));
  const Environment no_proxy("NO_PROXY", "*");
  const Environment no_proxy_low("no_proxy", "*");
  const Environment https("HTTPS_PROXY", decoy);
  const Environment https_low("https_proxy", decoy);
  const Environment all("ALL_PROXY", decoy);
  bench.open_via("p1");
  bench.connect();
  CHECK(bench.ask("www.example").result.has_value());
  CHECK(bench.lab().count("r1", "direct") == 0);
  bench.open_direct();
  bench.connect();
  CHECK(bench.ask("www.example").result.has_value());
  CHECK(bench.lab().count("r1", "direct") == 1);
  CHECK(bench.lab().count("decoy", "accepts") == 0);
}

TEST_CASE("trap: SSLKEYLOGFILE gets no secrets", "[contract][trap]") {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("dohmux-keylog-{}", ::getpid());
  const Environment keylog("SSLKEYLOGFILE", file.string());
  Bench bench(Curl::kMake);
  bench.open_via("p1");
  bench.connect();
  CHECK(bench.ask("www.example").result.has_value());
  std::error_code error;
  const bool empty = !std::filesystem::exists(file) || std::filesystem::file_size(file, error) == 0;
  CHECK(empty);
  std::filesystem::remove(file, error);
}

TEST_CASE("trap: names of proxies start no resolver thread", "[contract][trap]") {
  Bench bench(Curl::kMake);
  const std::size_t threads = entries_of("/proc/self/task");
  auto spec = bench.spec_via("p1");
  spec.proxy->host = "proxy.lab.example";
  bench.open(spec);
  std::size_t most = threads;
  std::optional<bool> up;
  const auto call = bench.lane().dial(kPatience, [&](const auto& result) { up = result.has_value(); });
  bench.run_until([&] {
    most = std::max(most, entries_of("/proc/self/task"));
    return up.has_value();
  });
  CHECK(*up);
  CHECK(most == threads);
}

TEST_CASE("trap: a CA list is parsed once, however many lanes use it", "[contract][trap]") {
  Bench bench(Curl::kMake);
  const auto file = std::filesystem::temp_directory_path() / fmt::format("dohmux-ca-{}.pem", ::getpid());
  std::filesystem::copy_file(bench.lab().ca_file(), file, std::filesystem::copy_options::overwrite_existing);
  auto spec = bench.spec_via("p1");
  spec.origin.ca = {file.string()};
  bench.open(spec);
  std::filesystem::remove(file);
  bench.connect();
  auto second = bench.spec_via("p2", 2);
  second.origin.ca = spec.origin.ca;
  bench.open(second);
  bench.connect();
}

TEST_CASE("trap: an idle lane does not wake the loop", "[contract][trap]") {
  Bench bench(Curl::kMake);
  bench.open_via("p1");
  bench.connect();
  REQUIRE(bench.ask("www.example").result.has_value());
  bench.run_for(300ms);
  const auto switches = [] {
    std::ifstream status("/proc/self/status");
    std::string word;
    long value = -1;
    while (status >> word) {
      if (word == "voluntary_ctxt_switches:") {
        status >> value;
        break;
      }
    }
    return value;
  };
  const long before = switches();
  bench.run_for(2s);
  CHECK(switches() - before <= 1);  // the timer that ends the run itself
  CHECK(bench.lane().connected() == 1);
}

TEST_CASE("trap: an idle lane costs few descriptors", "[contract][trap]") {
  Bench bench(Curl::kMake);
  const std::size_t before = entries_of("/proc/self/fd");
  std::vector<std::unique_ptr<transport::Lane>> lanes;
  constexpr std::size_t kLanes = 36;
  for (std::size_t i = 0; i < kLanes; ++i) {
    auto lane = bench.transport().open(bench.spec_via(fmt::format("p{}", i % 3 + 1), 1));
    REQUIRE(lane.has_value());
    lanes.push_back(std::move(*lane));
  }
  CHECK(entries_of("/proc/self/fd") - before <= 2 * kLanes);  // what curl_multi_init opens to wake itself up
  lanes.clear();
  CHECK(entries_of("/proc/self/fd") == before);
}

}  // namespace dohmux::contract
