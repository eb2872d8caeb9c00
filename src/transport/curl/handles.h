// Owners of libcurl's and OpenSSL's C objects.
#pragma once

#include <curl/curl.h>
#include <openssl/x509.h>

#include <memory>

namespace dohmux::transport {

struct EasyFree {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct MultiFree {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
struct SlistFree {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
struct UrlFree {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
struct StoreFree {
  void operator()(X509_STORE* store) const noexcept { X509_STORE_free(store); }
};

using Easy = std::unique_ptr<CURL, EasyFree>;
using MultiHandle = std::unique_ptr<CURLM, MultiFree>;
using Slist = std::unique_ptr<curl_slist, SlistFree>;
using Url = std::unique_ptr<CURLU, UrlFree>;
using Store = std::unique_ptr<X509_STORE, StoreFree>;

/// Sets options one after the other and remembers the first refusal, so that callers check once.
class Setter {
 public:
  explicit Setter(CURL* easy) : easy_(easy) {}

  template <typename Value>
  Setter& operator()(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(easy_, option, value);
    if (error_ == CURLE_OK) {
      error_ = code;
    }
    return *this;
  }
  [[nodiscard]] CURLcode error() const noexcept { return error_; }

 private:
  CURL* easy_;
  CURLcode error_ = CURLE_OK;
};

}  // namespace dohmux::transport
