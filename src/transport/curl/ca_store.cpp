// Reads PEM bundles into X509_STOREs.
// It must not consult the environment (SSL_CERT_FILE): what is trusted is what the configuration says.
#include "transport/curl/ca_store.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace dohmux::transport {

namespace {

// Where distributions keep their bundle: Debian and its family first.
constexpr std::array kSystemBundles = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

struct FileClose {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
struct CertificateFree {
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
};

std::expected<void, std::string> add_file(X509_STORE& store, const std::string& path) {
  const std::unique_ptr<std::FILE, FileClose> file(std::fopen(path.c_str(), "re"));
  if (!file) {
    return std::unexpected(fmt::format("CA file {}: {}", path, std::strerror(errno)));
  }
  int count = 0;
  for (;;) {
    const std::unique_ptr<X509, CertificateFree> certificate(PEM_read_X509_AUX(file.get(), nullptr, nullptr, nullptr));
    if (!certificate) {
      break;
    }
    if (X509_STORE_add_cert(&store, certificate.get()) == 1) {  // adding one twice is fine
      ++count;
    }
  }
  const unsigned long reason = ERR_peek_last_error();
  ERR_clear_error();
  if (count == 0 || ERR_GET_REASON(reason) != PEM_R_NO_START_LINE) {  // "no start line" is how the end of the file looks
    return std::unexpected(fmt::format("CA file {}: {}", path, count == 0 ? "no certificate in it" : "a damaged certificate in it"));
  }
  return {};
}

std::expected<std::string, std::string> system_bundle() {
  for (const char* path : kSystemBundles) {
    if (::access(path, R_OK) == 0) {
      return path;
    }
  }
  return std::unexpected(fmt::format("CA \"system\": no bundle at {}; install ca-certificates", kSystemBundles.front()));
}

}  // namespace

std::expected<X509_STORE*, std::string> CaStores::get(const std::vector<std::string>& list) {
  const std::vector<std::string> sources = list.empty() ? std::vector<std::string>{"system"} : list;
  if (const auto known = stores_.find(sources); known != stores_.end()) {
    return known->second.get();
  }
  Store store(X509_STORE_new());
  if (!store) {
    return std::unexpected(std::string("CA store: out of memory"));
  }
  // An intermediate or the server's own certificate may serve as the anchor, as in libcurl's default.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
  for (const std::string& source : sources) {
    std::expected<std::string, std::string> path = source == "system" ? system_bundle() : source;
    if (!path) {
      return std::unexpected(std::move(path.error()));
    }
    if (auto added = add_file(*store, *path); !added) {
      return std::unexpected(std::move(added.error()));
    }
  }
  return stores_.emplace(sources, std::move(store)).first->second.get();
}

}  // namespace dohmux::transport
