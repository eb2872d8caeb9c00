// The lab's certificate authority and the server contexts made from it.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/lab/net.h"

namespace lab {

enum class CertKind : std::uint8_t { Good, Expired, WrongName, SelfSigned };
enum class AlpnOffer : std::uint8_t { H2AndHttp1, Http1Only };

template <class T, void (*Free)(T*)>
struct FreeWith {
  void operator()(T* object) const { Free(object); }
};
using X509Ptr = std::unique_ptr<X509, FreeWith<X509, X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY, EVP_PKEY_free>>;
using ContextPtr = std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX, SSL_CTX_free>>;

/// ECDSA P-256 keys and certificates that live as long as the process. The names are those of the resolvers.
class CertificateAuthority {
 public:
  [[nodiscard]] static Result<CertificateAuthority> create(const std::vector<std::string>& names);

  /// The root in PEM form.
  [[nodiscard]] std::string root_pem() const;
  /// A server context of its own (tickets of one context are worthless to another).
  [[nodiscard]] ContextPtr server_context(CertKind kind, AlpnOffer alpn) const;

 private:
  CertificateAuthority() = default;

  KeyPtr root_key_;
  X509Ptr root_;
  KeyPtr leaf_key_;
  std::vector<X509Ptr> leaves_;  // by CertKind
};

/// The last OpenSSL error of this thread as text; empties the queue.
[[nodiscard]] std::string openssl_error();

}  // namespace lab
