// A TLS server over memory buffers.
// Must not know sockets, HTTP or faults.
#include "support/lab/tls_session.h"

#include <openssl/err.h>

#include <array>

namespace lab {

TlsSession::TlsSession(SSL_CTX* context) : ssl_(SSL_new(context)) {
  SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_accept_state(ssl_.get());
}

void TlsSession::fail() {
  error_ = openssl_error();
  state_ = State::Failed;
}

TlsSession::State TlsSession::receive(std::string_view cipher, std::string& plain) {
  ERR_clear_error();
  BIO_write(SSL_get_rbio(ssl_.get()), cipher.data(), static_cast<int>(cipher.size()));
  if (state_ == State::Handshaking) {
    const int outcome = SSL_do_handshake(ssl_.get());
    if (outcome == 1) {
      state_ = State::Open;
    } else if (SSL_get_error(ssl_.get(), outcome) != SSL_ERROR_WANT_READ) {
      fail();
    }
  }
  std::array<char, 16384> buffer{};
  while (state_ == State::Open) {
    const int count = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (count > 0) {
      plain.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), count);
    if (error == SSL_ERROR_ZERO_RETURN) {
      state_ = State::Closed;
    } else if (error != SSL_ERROR_WANT_READ) {
      fail();
    }
    break;
  }
  return state_;
}

void TlsSession::write(std::string_view plain) {
  if (!plain.empty() && (state_ == State::Open || state_ == State::Closed)) {
    ERR_clear_error();
    SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
  }
}

void TlsSession::send_close_notify() {
  if (state_ == State::Open) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
  }
}

std::string TlsSession::take_output() {
  BIO* out = SSL_get_wbio(ssl_.get());
  std::string octets(BIO_ctrl_pending(out), '\0');
  if (!octets.empty()) {
    BIO_read(out, octets.data(), static_cast<int>(octets.size()));
  }
  return octets;
}

bool TlsSession::resumed() const {
  return SSL_session_reused(ssl_.get()) == 1;
}

std::string TlsSession::alpn() const {
  const unsigned char* name = nullptr;
  unsigned int length = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &length);
  return {reinterpret_cast<const char*>(name), length};
}

std::string TlsSession::server_name() const {
  const char* name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
  return name != nullptr ? name : "";
}

std::string TlsSession::version() const {
  return SSL_get_version(ssl_.get());
}

}  // namespace lab
