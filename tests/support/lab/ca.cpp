// Makes the lab's root and its leaf certificates: a good one and three bad ones.
// Must not know sockets or resolvers; only names come in.
#include "support/lab/ca.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>

namespace lab {

namespace {

constexpr long kHour = 3600;
constexpr long kDay = 24 * kHour;

KeyPtr new_key() {
  return KeyPtr(EVP_EC_gen("P-256"));
}

void set_name(X509_NAME* name, const std::string& common) {
  X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("dohmux lab"), -1, -1, 0);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common.c_str()), -1, -1, 0);
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension != nullptr) {
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
}

struct Validity {
  long from = -kHour;
  long until = 30 * kDay;
};

X509Ptr new_certificate(const std::string& common, EVP_PKEY* key, Validity validity) {
  X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::array<unsigned char, 8> serial{};
  RAND_bytes(serial.data(), static_cast<int>(serial.size()));
  std::uint64_t number = 1;
  for (const unsigned char octet : serial) {
    number = (number << 7U) ^ octet;
  }
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), number >> 1U);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), validity.from);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), validity.until);
  X509_set_pubkey(certificate.get(), key);
  set_name(X509_get_subject_name(certificate.get()), common);
  return certificate;
}

struct Issuer {
  X509* certificate;
  EVP_PKEY* key;
};

X509Ptr new_leaf(const std::vector<std::string>& names, EVP_PKEY* key, Validity validity, Issuer issuer) {
  X509Ptr leaf = new_certificate(names.front(), key, validity);
  X509* signer = issuer.certificate != nullptr ? issuer.certificate : leaf.get();
  X509_set_issuer_name(leaf.get(), X509_get_subject_name(signer));
  std::string alternative;
  for (const std::string& name : names) {
    alternative += fmt::format("{}DNS:{}", alternative.empty() ? "" : ",", name);
  }
  add_extension(leaf.get(), signer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(leaf.get(), signer, NID_key_usage, "critical,digitalSignature");
  add_extension(leaf.get(), signer, NID_ext_key_usage, "serverAuth");
  add_extension(leaf.get(), signer, NID_subject_key_identifier, "hash");
  add_extension(leaf.get(), signer, NID_authority_key_identifier, "keyid:always");
  add_extension(leaf.get(), signer, NID_subject_alt_name, alternative);
  X509_sign(leaf.get(), issuer.key, EVP_sha256());
  return leaf;
}

// NOLINTNEXTLINE(readability-function-size): OpenSSL's signature
int select_alpn(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length, const unsigned char* in, unsigned int in_length,
                void* offer) {
  static constexpr std::array<unsigned char, 12> kBoth = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  const std::size_t skip = *static_cast<const AlpnOffer*>(offer) == AlpnOffer::Http1Only ? 3 : 0;
  unsigned char* chosen = nullptr;
  const int outcome =
      SSL_select_next_proto(&chosen, out_length, kBoth.data() + skip, static_cast<unsigned int>(kBoth.size() - skip), in, in_length);
  if (outcome != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

AlpnOffer* offer_cell(AlpnOffer offer) {
  static AlpnOffer both = AlpnOffer::H2AndHttp1;
  static AlpnOffer http1 = AlpnOffer::Http1Only;
  return offer == AlpnOffer::Http1Only ? &http1 : &both;
}

}  // namespace

std::string openssl_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) {
    return "unknown TLS error";
  }
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : fmt::format("TLS error {:x}", code);
}

Result<CertificateAuthority> CertificateAuthority::create(const std::vector<std::string>& names) {
  CertificateAuthority authority;
  authority.root_key_ = new_key();
  authority.leaf_key_ = new_key();
  if (!authority.root_key_ || !authority.leaf_key_ || names.empty()) {
    return std::unexpected("cannot make keys: " + openssl_error());
  }
  authority.root_ = new_certificate("dohmux lab root", authority.root_key_.get(), {});
  X509* root = authority.root_.get();
  X509_set_issuer_name(root, X509_get_subject_name(root));
  add_extension(root, root, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(root, root, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(root, root, NID_subject_key_identifier, "hash");
  if (X509_sign(root, authority.root_key_.get(), EVP_sha256()) == 0) {
    return std::unexpected("cannot sign the root: " + openssl_error());
  }
  EVP_PKEY* key = authority.leaf_key_.get();
  const Issuer issuer{root, authority.root_key_.get()};
  authority.leaves_.push_back(new_leaf(names, key, {}, issuer));
  authority.leaves_.push_back(new_leaf(names, key, {-10 * kDay, -kDay}, issuer));
  authority.leaves_.push_back(new_leaf({"wrong.example.net"}, key, {}, issuer));
  authority.leaves_.push_back(new_leaf(names, key, {}, {nullptr, key}));
  ERR_clear_error();
  return authority;
}

std::string CertificateAuthority::root_pem() const {
  const std::unique_ptr<BIO, FreeWith<BIO, BIO_vfree>> memory(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(memory.get(), root_.get());
  char* data = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(length)};
}

ContextPtr CertificateAuthority::server_context(CertKind kind, AlpnOffer alpn) const {
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_use_certificate(context.get(), leaves_[static_cast<std::size_t>(kind)].get());
  SSL_CTX_use_PrivateKey(context.get(), leaf_key_.get());
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_alpn_select_cb(context.get(), select_alpn, offer_cell(alpn));
  return context;
}

}  // namespace lab
