// What every handle of one lane is told, worked out once from its LaneSpec (curl.md §11).
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "transport/curl/handles.h"
#include "transport/transport.h"

namespace dohmux::transport {

class LaneOptions {
 public:
  /// Errors: what makes the lane impossible (no address, a host that is no host).
  [[nodiscard]] static std::expected<LaneOptions, std::string> make(const LaneSpec& spec, X509_STORE* trust);

  /// For a new handle, whatever it is for.
  void apply_common(Setter& set) const;
  /// For a dial: where names lead to. libcurl remembers it for the whole multi, so requests need not repeat it.
  void apply_addresses(Setter& set) const;

  [[nodiscard]] const std::string& base() const noexcept { return base_; }  // "https://host:port"
  [[nodiscard]] bool via_proxy() const noexcept { return !proxy_.empty(); }

 private:
  LaneOptions() = default;

  std::string base_;
  std::string proxy_;  // "http://host:port"; empty: direct
  std::string username_;
  std::string password_;
  bool authenticate_ = false;
  Slist resolve_;
  X509_STORE* trust_ = nullptr;
};

/// base64url without padding (RFC 8484 §4.1).
[[nodiscard]] std::string base64url(ByteView octets);
/// `path` with the query of a GET.
[[nodiscard]] std::string get_target(const std::string& path, ByteView message);

/// The header lines of our requests; they live as long as the program.
[[nodiscard]] curl_slist* post_headers();
[[nodiscard]] curl_slist* get_headers();

/// curl_global_init, once.
void initialize_libcurl();

}  // namespace dohmux::transport
