// A plain DNS client for tests: asks over UDP or TCP, never asks twice, and measures.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dohmux::test {

using Millis = std::chrono::milliseconds;

enum class Edns : std::uint8_t { None, Plain, DnssecOk };

struct Question {
  std::string name;  // dotted
  std::uint16_t type = 1;
  Edns edns = Edns::Plain;
};

/// The message as octets.
[[nodiscard]] std::string make_query(const Question& question, std::uint16_t id);

struct Reply {
  bool came = false;
  std::uint16_t id = 0;
  std::uint8_t rcode = 0;
  bool truncated = false;
  bool has_opt = false;
  std::size_t answers = 0;
  std::string question;  // octets, for comparison
  std::optional<std::uint16_t> ede;
  std::string ede_text;
  std::string message;  // all octets
  std::chrono::microseconds latency{0};
};
/// What a message says; `came` is false if it is no response.
[[nodiscard]] Reply read_reply(std::string_view message);

enum class Protocol : std::uint8_t { Udp, Tcp };

struct BatchOptions {
  std::uint16_t port = 0;
  Protocol protocol = Protocol::Udp;
  std::size_t queries = 630;
  std::size_t in_flight = 50;
  Millis timeout{8000};  // per query
  Edns edns = Edns::Plain;
  std::uint16_t type = 1;
  std::size_t connections = 1;                   // TCP only
  std::function<std::string(std::size_t)> name;  // of query i; default: unique ones
  std::function<void(std::size_t)> on_finished;  // called with the number of queries finished so far
};

struct BatchResult {
  std::vector<Reply> replies;  // by query
  std::chrono::milliseconds wall{0};
  std::size_t strange = 0;  // datagrams or messages that answer nothing asked

  [[nodiscard]] std::size_t answered() const;  // anything came
  [[nodiscard]] std::size_t with_rcode(std::uint8_t rcode) const;
  [[nodiscard]] std::size_t with_answer() const;  // NOERROR and at least one record
  [[nodiscard]] std::map<std::uint16_t, std::size_t> ede_codes() const;
  [[nodiscard]] std::chrono::microseconds percentile(double share) const;  // of those that came; 0.5 = median
};

/// `queries` names, `in_flight` at a time, each sent once.
[[nodiscard]] BatchResult run_batch(const BatchOptions& options);

/// One query.
[[nodiscard]] Reply ask(std::uint16_t port, Protocol protocol, const Question& question, Millis timeout = Millis(8000));

}  // namespace dohmux::test
