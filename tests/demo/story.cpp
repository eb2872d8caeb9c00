// The acts of the demo, in the order in which they are played.
// Must not know how tables look (report.cpp) or where numbers come from (observed.cpp).
#include "story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "naive.h"

namespace dohmux::demo {

namespace {

test::DaemonOptions daemon_options(test::Lab& lab) {
  test::LabConfig wishes;
  wishes.upstream_keys = "warm: false";  // so that the burst meets no open connection
  wishes.extra = "log: {queries: true}\n";
  test::DaemonOptions options;
  options.config = lab.ready() ? lab.config(wishes) : "listen: []\n";
  return options;
}

std::vector<double> latencies_of(const test::BatchResult& batch) {
  std::vector<double> latencies;
  for (const test::Reply& reply : batch.replies) {
    if (reply.came) {
      latencies.push_back(static_cast<double>(reply.latency.count()) / 1000);
    }
  }
  return latencies;
}

}  // namespace

Story::Story(const StoryOptions& options)
    : options_(options),
      lab_({.resolvers = options.resolvers, .proxies = options.proxies, .rtt = options.rtt, .commands = {}}),
      daemon_(daemon_options(lab_)),
      observer_(daemon_) {}

bool Story::ready() {
  if (!lab_.ready() || !daemon_.ready()) {
    fmt::print(stderr, "dohmux-demo: {} did not start\n{}\n", lab_.ready() ? "dohmux" : "dohmux-lab",
               lab_.ready() ? daemon_.printed() : lab_.error());
    return false;
  }
  fmt::print("{} DoH resolvers behind {} CONNECT proxies, {} away, all on loopback; dohmux on 127.0.0.1:{}\n", options_.resolvers,
             options_.proxies, options_.rtt, daemon_.udp_port());
  return true;
}

void Story::act(const std::string& title) {
  fmt::print("\n{}. {}\n", ++acts_, title);
  std::fflush(stdout);
}

test::BatchResult Story::ask(const std::string& suffix, test::Protocol protocol) {
  test::BatchOptions batch;
  batch.port = protocol == test::Protocol::Udp ? daemon_.udp_port() : daemon_.tcp_port();
  batch.protocol = protocol;
  batch.queries = options_.queries;
  batch.in_flight = options_.in_flight;
  batch.name = [&suffix](std::size_t index) { return fmt::format("q{}.{}.example", index, suffix); };
  return test::run_batch(batch);
}

void Story::measured(const std::string& way, const test::BatchResult& batch) {
  rows_.push_back({way, lab_.total('r', "accepts"), batch.wall.count(), latencies_of(batch)});
}

void Story::cold_burst() {
  act(fmt::format("{} queries, {} in flight, over UDP, with no connection open", options_.queries, options_.in_flight));
  const test::BatchResult batch = ask("cold", test::Protocol::Udp);
  print_hosts(observer_.new_queries(options_.queries), lab_.stats());
  fmt::print("   {} of {} answered in {:.2f} s\n", batch.with_answer(), options_.queries, static_cast<double>(batch.wall.count()) / 1000);
  measured("dohmux, cold, UDP", batch);
  const long accepts = lab_.total('r', "accepts");
  const long connects = lab_.total('p', "connects");
  checks_.expect(batch.with_answer() == options_.queries, "cold burst: every query answered");
  checks_.expect(accepts == options_.resolvers && connects == options_.resolvers,
                 fmt::format("cold burst: one connection and one CONNECT a host ({} and {})", accepts, connects));
  checks_.expect(lab_.total('r', "requests") == static_cast<long>(options_.queries), "cold burst: every query sent once");
  checks_.expect(lab_.total('r', "direct") == 0, "no connection went past the proxies");
}

void Story::warm_burst(test::Protocol protocol) {
  const std::string word = protocol == test::Protocol::Udp ? "UDP" : "TCP";
  act(fmt::format("the same over {}, connections open", word));
  lab_.command("stats reset");
  const test::BatchResult batch = ask(protocol == test::Protocol::Udp ? "warm" : "tcp", protocol);
  (void)observer_.new_queries(options_.queries);
  fmt::print("   {} of {} answered in {:.2f} s; {} new connections\n", batch.with_answer(), options_.queries,
             static_cast<double>(batch.wall.count()) / 1000, lab_.total('r', "accepts"));
  measured(fmt::format("dohmux, warm, {}", word), batch);
  checks_.expect(batch.with_answer() == options_.queries, fmt::format("warm over {}: every query answered", word));
  checks_.expect(lab_.total('r', "accepts") == 0, fmt::format("warm over {}: no new connection", word));
}

std::string Story::busiest_proxy() {
  std::map<std::string, long> hosts;
  for (const auto& [host, exit] : observer_.exits()) {
    ++hosts[exit];
  }
  const auto most = std::ranges::max_element(hosts, {}, [](const auto& entry) { return entry.second; });
  return most != hosts.end() ? most->first : "p1";
}

void Story::kill_under_load() {
  const std::string proxy = busiest_proxy();
  const auto before = observer_.exits();
  (void)observer_.new_moves();
  act(fmt::format("the same, and {}, which serves most hosts, is killed with {} queries waiting", proxy, options_.in_flight));
  lab_.command("stats reset");
  test::BatchOptions batch;
  batch.port = daemon_.udp_port();
  batch.queries = options_.queries;
  batch.in_flight = options_.in_flight;
  batch.name = [](std::size_t index) { return fmt::format("q{}.killed.example", index); };
  batch.on_finished = [this, &proxy](std::size_t finished) {
    if (finished == options_.queries / 3) {
      lab_.command(fmt::format("proxy {} kill", proxy));
    }
  };
  check_kill(proxy, before, test::run_batch(batch));
}

void Story::check_kill(const std::string& proxy, const std::map<std::string, std::string>& before, const test::BatchResult& batch) {
  const std::vector<QueryLine> queries = observer_.new_queries(options_.queries);
  const std::vector<Move> moves = observer_.new_moves();
  print_moves(moves);
  print_hosts(queries, lab_.stats());
  const auto twice = std::ranges::count(queries, 2L, &QueryLine::sendings);
  const auto more = std::ranges::count_if(queries, [](const QueryLine& query) { return query.sendings > 2; });
  fmt::print("   {} of {} answered in {:.2f} s; {} were sent twice, {} more often; the slowest took {:.0f} ms\n", batch.with_answer(),
             options_.queries, static_cast<double>(batch.wall.count()) / 1000, twice, more, percentile(latencies_of(batch), 1));
  measured(fmt::format("dohmux, {} killed on the way", proxy), batch);
  const auto hosts = std::ranges::count_if(before, [&](const auto& pin) { return pin.second == proxy; });
  const bool each_once = static_cast<long>(moves.size()) == hosts &&
                         std::ranges::all_of(moves, [&](const Move& move) { return move.times == 1 && move.from == proxy; });
  checks_.expect(batch.with_answer() == options_.queries, "proxy killed: every query answered");
  checks_.expect(each_once, fmt::format("proxy killed: its {} hosts moved once each, the others not at all", hosts));
  checks_.expect(more == 0, "proxy killed: no query sent more than twice");
  checks_.expect(lab_.total('r', "direct") == 0, "proxy killed: still no connection past the proxies");
}

void Story::dig() {
  act("dig, once over UDP and once over TCP");
  for (const std::string way : {"+notcp", "+tcp"}) {
    const test::Outcome outcome = test::run(
        {"dig", {"@127.0.0.1", "-p", std::to_string(daemon_.udp_port()), "www.example.com", "A", way, "+tries=1", "+time=5"}, {}});
    for (const std::string& line : test::lines_of(outcome.output)) {
      const bool wanted = line.find("status:") != std::string::npos || line.starts_with("www.") ||
                          line.find("SERVER:") != std::string::npos || line.find("Query time") != std::string::npos;
      if (wanted) {
        fmt::print("   {}\n", line);
      }
    }
    checks_.expect(outcome.status == 0 && outcome.output.find("status: NOERROR") != std::string::npos, fmt::format("dig {}: NOERROR", way));
  }
}

void Story::naive_way() {
  act(fmt::format("the naive way: {} threads, a libcurl handle and a connection for each query", options_.in_flight));
  lab_.command("clear");  // brings the killed proxy back
  lab_.command("stats reset");
  const NaiveResult naive = run_naive(lab_, {options_.queries, options_.in_flight});
  const long connections = lab_.total('r', "accepts");
  fmt::print("   {} of {} answered in {:.2f} s over {} connections\n", naive.answered, options_.queries,
             static_cast<double>(naive.wall.count()) / 1000, connections);
  rows_.push_back({"naive: a connection for each query", connections, naive.wall.count(), naive.latencies_ms});
  checks_.expect(naive.answered == options_.queries, "naive way: answered too, so the comparison is fair");
  checks_.expect(connections == static_cast<long>(options_.queries), "naive way: a connection for each query");
}

bool Story::conclude() {
  act(fmt::format("side by side: {} queries, {} in flight", options_.queries, options_.in_flight));
  print_comparison(rows_);
  const auto status = daemon_.stop();
  checks_.expect(status == 0, "SIGTERM: dohmux ended with exit code 0");
  return checks_.conclude();
}

}  // namespace dohmux::demo
