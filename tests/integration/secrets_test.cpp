// What must never be printed: proxy passwords, and without log.queries the names and addresses of clients.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

std::string base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = (group << 8U) | (i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += i + j <= text.size() ? kDigits[(group >> (18U - 6U * j)) & 0x3fU] : '=';
    }
  }
  return out;
}

std::string percent(std::string_view text, std::string_view hex) {
  std::string out;
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (std::isalnum(octet) != 0) {
      out += c;
    } else {
      out += {'%', hex[octet >> 4U], hex[octet & 0xfU]};
    }
  }
  return out;
}

const std::string kUser = "CORP\\svc-dns";
const std::string kRight = "S3cr3t:/%+@?&=\"'x";
const std::string kWrong = "Wr0ng:/%+@?&=\"'y";

/// A house whose proxies all want credentials; the daemon has `password`.
class Guarded {
 public:
  explicit Guarded(const std::string& password, const std::string& key) : lab({.resolvers = 2, .proxies = 2}) {
    lab.command("proxy * auth " + kUser + ":" + kRight);
    std::string source = "password_env: PROXY_PASSWORD";
    if (key == "password_file") {
      source = "password_file: \"" + scratch.write("password", password + "\n") + "\"";
    }
    const std::string auth = "proxy_defaults:\n  auth: {scheme: basic, username: '" + kUser + "', " + source + "}\n";
    daemon.emplace(
        DaemonOptions{.config = lab.config({.extra = auth + "log: {level: trace}\n"}), .environment = {{"PROXY_PASSWORD", password}}});
  }
  Lab lab;
  Scratch scratch;
  std::optional<Daemon> daemon;
};

void check_hidden(const std::string& printed, const std::string& password) {
  const std::string pair = kUser + ":" + password;
  for (const std::string& form :
       {password, base64(pair), base64(password), percent(password, "0123456789ABCDEF"), percent(password, "0123456789abcdef")}) {
    INFO(form);
    CHECK(printed.find(form) == std::string::npos);
  }
}

}  // namespace

TEST_CASE("proxy credentials: with the right password queries pass, and it is never printed") {
  const std::string key = GENERATE("password_env", "password_file");
  Guarded house(kRight, key);
  REQUIRE(house.daemon->ready());
  CHECK(run_batch({.port = house.daemon->udp_port(), .queries = 50, .in_flight = 10}).with_answer() == 50);
  CHECK(house.lab.total('p', "auth_failed") == 0);
  CHECK(house.daemon->stop() == 0);
  check_hidden(house.daemon->printed(), kRight);
}

TEST_CASE("proxy credentials: a wrong password is SERVFAIL that names the stage, and it is never printed") {
  Guarded house(kWrong, "password_env");
  REQUIRE(house.daemon->ready());
  const Reply reply = ask(house.daemon->udp_port(), Protocol::Udp, {.name = "www.x.example"});
  REQUIRE(reply.came);
  INFO(reply.ede_text);
  CHECK(reply.rcode == 2);
  CHECK(reply.ede == 22);
  CHECK(reply.ede_text.find("407") != std::string::npos);
  CHECK(house.lab.total('p', "auth_failed") > 0);
  CHECK(house.lab.total('r', "accepts") == 0);
  const std::string metrics = http_get(house.daemon->web_port(), "/metrics");
  CHECK(house.daemon->stop() == 0);
  INFO(house.daemon->printed());
  CHECK(house.daemon->printed().find("407") != std::string::npos);
  check_hidden(house.daemon->printed() + metrics, kWrong);
}

TEST_CASE("query log: one JSON line per query, with host, exit, time and sendings") {
  House house({.resolvers = 3, .proxies = 2, .commands = {"name bad.example wrong-id", "name again.example rst REFUSED_STREAM 1"}},
              {.extra = "log: {queries: true}\n"});
  REQUIRE(house.wait_for_connections(3));
  CHECK(house.ask_many(60, 10).with_answer() == 60);
  CHECK(ask(house.daemon.udp_port(), Protocol::Udp, {.name = "www.bad.example"}).rcode == 2);
  CHECK(ask(house.daemon.tcp_port(), Protocol::Tcp, {.name = "www.again.example", .type = 28}).rcode == 0);
  CHECK(house.daemon.stop() == 0);
  std::set<std::string> hosts;
  std::set<std::string> names;
  const auto lines = lines_with(house.daemon.printed(), R"({"event":"query")");
  CHECK(lines.size() == 62);
  for (const std::string& line : lines) {
    INFO(line);
    const auto fields = flat_json(line);
    REQUIRE(fields);
    for (const char* key : {"client", "proto", "name", "type", "rcode", "source", "ms", "upstream", "host", "exit", "sendings", "error"}) {
      INFO(key);
      REQUIRE(fields->contains(key));
    }
    hosts.insert(fields->at("host"));
    names.insert(fields->at("name"));
    CHECK((fields->at("exit") == "p1" || fields->at("exit") == "p2"));
    CHECK(fields->at("client").starts_with("127.0.0.1:"));
    CHECK(std::stod(fields->at("ms")) >= 0);  // of the loop's clock, which stands still during one turn
    CHECK(std::stod(fields->at("ms")) < 8000);
    const bool bad = fields->at("name").starts_with("www.bad.example");
    const bool again = fields->at("name").starts_with("www.again.example");
    CHECK(fields->at("sendings") == (bad || again ? "2" : "1"));
    CHECK(fields->at("rcode") == (bad ? "SERVFAIL" : "NOERROR"));
    CHECK(fields->at("error").empty() != bad);
    CHECK(fields->at("type") == (again ? "AAAA" : "A"));
    CHECK(fields->at("proto") == (again ? "tcp" : "udp"));
  }
  CHECK(hosts.size() == 3);
  CHECK(names.size() == 62);
}

TEST_CASE("without log.queries no name and no client address is printed, whatever happens and whatever the level") {
  const std::string format = GENERATE("text", "json");
  House house(
      {.resolvers = 2, .proxies = 2, .commands = {"name bad.example wrong-id", "name lost.example drop", "name gone.example hang"}},
      {.extra = "log: {level: trace, format: " + format + "}\naccess: {allow: [127.0.0.77]}\ntimeouts: {query: 900ms, attempt: 400ms}\n"});
  REQUIRE(house.daemon.ready());
  const std::uint16_t port = house.daemon.udp_port();
  for (const char* name : {"hidden.x.example", "hidden.bad.example", "hidden.lost.example", "hidden.gone.example"}) {
    CHECK(send_datagram({.from = "127.0.0.77", .port = port}, make_query({.name = name}, 3)).reply.came);
  }
  house.lab.command("proxy * refuse");
  house.lab.command("resolver * drop-all");
  CHECK(send_datagram({.from = "127.0.0.77", .port = port}, make_query({.name = "hidden.late.example"}, 3)).reply.came);
  CHECK(send_datagram({.from = "127.0.0.78", .port = port}, make_query({.name = "hidden.refused.example"}, 3)).reply.rcode == 5);
  CHECK(house.daemon.stop() == 0);
  const std::string printed = house.daemon.printed();
  INFO(printed);
  CHECK_FALSE(printed.empty());
  for (const char* word : {"hidden", "bad.example", "lost.example", "127.0.0.77", "127.0.0.78", R"("event":"query")"}) {
    CHECK(printed.find(word) == std::string::npos);
  }
}
