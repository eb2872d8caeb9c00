// Certificate authorities, parsed once per distinct list and shared by every connection that trusts them
// (curl.md §10: 14 ms once instead of 17 ms per handshake).
#pragma once

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "transport/curl/handles.h"

namespace dohmux::transport {

class CaStores {
 public:
  /// `list`: "system" and/or PEM files; empty means "system". The store lives as long as this object, and longer
  /// inside the TLS contexts that took a reference. Errors name the file that cannot be used.
  [[nodiscard]] std::expected<X509_STORE*, std::string> get(const std::vector<std::string>& list);

 private:
  std::map<std::vector<std::string>, Store> stores_;
};

}  // namespace dohmux::transport
