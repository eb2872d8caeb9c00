// TLS, server side, between octets and octets: no socket, no loop.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "support/lab/ca.h"

namespace lab {

class TlsSession {
 public:
  enum class State : std::uint8_t { Handshaking, Open, Closed, Failed };

  explicit TlsSession(SSL_CTX* context);

  /// Octets from the peer. Plain text that they held is appended to `plain`.
  State receive(std::string_view cipher, std::string& plain);
  void write(std::string_view plain);
  void send_close_notify();
  /// What must go to the peer now.
  [[nodiscard]] std::string take_output();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool resumed() const;
  [[nodiscard]] std::string alpn() const;
  [[nodiscard]] std::string server_name() const;
  [[nodiscard]] std::string version() const;
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void fail();

  std::unique_ptr<SSL, FreeWith<SSL, SSL_free>> ssl_;
  State state_ = State::Handshaking;
  std::string error_;
};

}  // namespace lab
