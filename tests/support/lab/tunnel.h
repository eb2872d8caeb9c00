// One client connection at a proxy: the CONNECT exchange, then octets both ways.
#pragma once

#include <cstdint>
#include <string>

#include "support/lab/proxy_server.h"

namespace lab {

class Tunnel {
 public:
  Tunnel(ProxyServer& server, TunnelId id, UniqueFd client);
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel();

  void start();
  /// Closes both sides, by FIN.
  void cut(std::string_view why);
  /// Open, but nothing passes any more.
  void freeze();

 private:
  enum class Phase : std::uint8_t { Head, Connecting, Waiting, Open, Frozen, Refusing, Closed };

  struct Side final : Pollable {
    Side(Tunnel& owner, UniqueFd descriptor) : tunnel(owner), fd(std::move(descriptor)) {}
    void on_ready(std::uint32_t events) override { tunnel.on_side(*this, events); }

    Tunnel& tunnel;
    UniqueFd fd;
    std::string out;     // still to be sent to this side
    bool ended = false;  // it will say nothing more
    bool shut = false;   // it was told that nothing more comes
  };

  void on_side(Side& side, std::uint32_t events);
  void watch(Side& side);
  void read_head();
  void on_connect_request(std::string_view head);
  void on_connected();
  void answer_connect();
  void refuse(int status);
  void relay_from(Side& side);
  void flush(Side& side);
  void after_flush();
  void close(std::string_view why);
  void abort(std::string_view why);
  [[nodiscard]] LogEntry entry(std::string_view event) const;
  [[nodiscard]] Side& other(const Side& side) { return &side == &client_ ? origin_ : client_; }

  ProxyServer& server_;
  TunnelId id_;
  Phase phase_ = Phase::Head;
  Side client_;
  Side origin_;
  std::string head_;
  std::string target_;
  std::uint64_t from_origin_ = 0;
  bool cutting_ = false;
};

}  // namespace lab
