// A plain DNS server for tests, UDP and TCP on one loopback port, in a thread of its own: it answers, or misbehaves as
// told, and remembers what it was asked.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/message_builder.h"

namespace dohmux::test {

enum class PlainMode : std::uint8_t {
  Normal,            // A: one record with the address of this server; other types: no data
  Truncated,         // TC over UDP, 120 records over TCP
  TruncatedCutOff,   // the same, but the TC message ends in the middle of a record
  TruncatedNoTcp,    // TC over UDP, every connection closed at once
  TruncatedSilent,   // TC over UDP, no answer over TCP
  TruncatedTwice,    // TC over UDP and over TCP
  TruncatedWrongId,  // TC over UDP, another id over TCP
  TruncatedDrip,     // TC over UDP, 120 records over TCP octet by octet
  Silent,
  Held,     // answers come when another mode is set
  WrongId,  // an answer, but not to this id
  Forged,   // wrong id, name, type, class, direction, octets of junk and another port first; then the answer
  ServFail,
  Refused,
  Malformed,  // a record that ends too early
};

class PlainDns {
 public:
  struct Asked {
    std::string name;  // dotted, as sent
    std::uint16_t type = 0;
    std::uint16_t id = 0;
    std::uint16_t source_port = 0;
    bool tcp = false;
    Octets message;
  };

  /// `address`: what it answers with, four octets, so that a test can see who has answered.
  explicit PlainDns(PlainMode mode = PlainMode::Normal, Octets address = {192, 0, 2, 1});
  PlainDns(const PlainDns&) = delete;
  PlainDns& operator=(const PlainDns&) = delete;
  ~PlainDns();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// "127.0.0.1:PORT", as a configuration wants it.
  [[nodiscard]] std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
  void mode(PlainMode mode);

  [[nodiscard]] std::vector<Asked> asked() const;
  [[nodiscard]] std::size_t count() const { return asked().size(); }
  /// How often it was asked for `name`, letters of any case.
  [[nodiscard]] std::size_t count(std::string_view name) const;
  /// Waits until it was asked at least so often; false: not within ten seconds.
  [[nodiscard]] bool wait_for(std::size_t questions) const;

 private:
  struct Connection;
  struct Waiting {
    Octets query;
    sockaddr_in from;
  };

  void serve();
  void on_datagram();
  void on_octets(Connection& connection);
  void answer_udp(PlainMode mode, const Octets& query, const sockaddr_in& to);
  void answer_tcp(PlainMode mode, const Octets& query, Connection& connection);
  void forge(const Octets& query, const sockaddr_in& to) const;
  void remember(const Octets& query, const sockaddr_in& from, bool tcp);
  void send(const Octets& message, const sockaddr_in& to) const;
  [[nodiscard]] Octets good(const Octets& query, int records = 1) const;

  Octets address_;
  int udp_ = -1;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<PlainMode> mode_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;  // of asked_
  std::vector<Asked> asked_;
  std::vector<Waiting> held_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::thread thread_;
};

}  // namespace dohmux::test
