// DoH requests to a lab's resolvers with libcurl: the lab is tested by a client that is not ours.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <vector>

#include "support/dns_client.h"
#include "support/lab.h"

namespace dohmux::test {

struct Fetched {
  CURLcode code = CURLE_OK;
  long status = 0;
  long connect_status = 0;
  long http_version = 0;  // CURL_HTTP_VERSION_…
  long new_connections = 0;
  std::string content_type;
  std::string headers;
  std::string body;
  Reply reply;
};

struct Target {
  std::string resolver = "r1";
  std::string exit = "p1";  // or "direct"
  std::string credentials;  // for the proxy, "user:password"
  long timeout_ms = 5000;
};

/// Keeps connections between calls.
class Fetcher {
 public:
  explicit Fetcher(Lab& lab);
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;
  ~Fetcher();

  void limit_connections(long per_host) { curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, per_host); }
  Fetched get(const Target& target, const std::string& name, std::uint16_t type = 1);
  /// All at once, on as few connections as can be.
  std::vector<Fetched> get_all(const Target& target, const std::vector<std::string>& names);
  /// Any URL path, method GET.
  Fetched get_path(const Target& target, const std::string& path);

 private:
  struct Transfer;

  std::unique_ptr<Transfer> prepare(const Target& target, const std::string& path);
  std::unique_ptr<Transfer> prepare_query(const Target& target, const Question& question);
  void perform(const std::vector<std::unique_ptr<Transfer>>& transfers);

  Lab& lab_;
  Stats ports_;
  CURLM* multi_;
};

}  // namespace dohmux::test
