// The libcurl client of the lab's tests.
// Must not know faults.
#include "fetch.h"

#include <fmt/format.h>

namespace dohmux::test {

struct Fetcher::Transfer {
  CURL* easy = curl_easy_init();
  curl_slist* headers = nullptr;
  curl_slist* resolve = nullptr;
  Fetched result;

  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    curl_slist_free_all(resolve);
  }
};

namespace {

std::size_t append(const char* data, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(data, size * count);
  return size * count;
}

void collect(CURL* easy, CURLcode code, Fetched& result) {
  result.code = code;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &result.status);
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &result.connect_status);
  curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &result.http_version);
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &result.new_connections);
  const char* type = nullptr;
  curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
  result.content_type = type != nullptr ? type : "";
  result.reply = read_reply(result.body);
}

}  // namespace

Fetcher::Fetcher(Lab& lab) : lab_(lab), ports_(lab.stats()), multi_(curl_multi_init()) {
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
}

Fetcher::~Fetcher() {
  curl_multi_cleanup(multi_);
}

std::unique_ptr<Fetcher::Transfer> Fetcher::prepare(const Target& target, const std::string& path) {
  auto transfer = std::make_unique<Transfer>();
  const std::string authority = fmt::format("{}.lab.example:{}", target.resolver, ports_[target.resolver]["port"]);
  const std::string proxy = target.exit == "direct" ? "" : fmt::format("http://127.0.0.1:{}", ports_[target.exit]["port"]);
  CURL* easy = transfer->easy;
  curl_easy_setopt(easy, CURLOPT_URL, fmt::format("https://{}{}", authority, path).c_str());
  curl_easy_setopt(easy, CURLOPT_PROXY, proxy.c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
  if (!target.credentials.empty()) {
    curl_easy_setopt(easy, CURLOPT_PROXYUSERPWD, target.credentials.c_str());
  }
  transfer->resolve = curl_slist_append(nullptr, fmt::format("{}:127.0.0.1", authority).c_str());
  curl_easy_setopt(easy, CURLOPT_RESOLVE, transfer->resolve);
  curl_easy_setopt(easy, CURLOPT_CAINFO, lab_.ca_file().c_str());
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, target.timeout_ms);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer->result.body);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer->result.headers);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer.get());
  return transfer;
}

void Fetcher::perform(const std::vector<std::unique_ptr<Transfer>>& transfers) {
  for (const auto& transfer : transfers) {
    curl_multi_add_handle(multi_, transfer->easy);
  }
  int running = 1;
  while (running > 0) {
    curl_multi_perform(multi_, &running);
    curl_multi_poll(multi_, nullptr, 0, running > 0 ? 100 : 0, nullptr);
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    Transfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    collect(message->easy_handle, message->data.result, transfer->result);
  }
  for (const auto& transfer : transfers) {
    curl_multi_remove_handle(multi_, transfer->easy);
  }
}

std::unique_ptr<Fetcher::Transfer> Fetcher::prepare_query(const Target& target, const Question& question) {
  auto transfer = prepare(target, "/dns-query");
  const std::string query = make_query(question, 0);
  transfer->headers = curl_slist_append(nullptr, "content-type: application/dns-message");
  curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
  curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(query.size()));
  curl_easy_setopt(transfer->easy, CURLOPT_COPYPOSTFIELDS, query.data());
  return transfer;
}

std::vector<Fetched> Fetcher::get_all(const Target& target, const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<Transfer>> transfers;
  transfers.reserve(names.size());
  for (const std::string& name : names) {
    transfers.push_back(prepare_query(target, {name, 1, Edns::Plain}));
  }
  perform(transfers);
  std::vector<Fetched> results;
  results.reserve(transfers.size());
  for (const auto& transfer : transfers) {
    results.push_back(transfer->result);
  }
  return results;
}

Fetched Fetcher::get(const Target& target, const std::string& name, std::uint16_t type) {
  std::vector<std::unique_ptr<Transfer>> transfers;
  transfers.push_back(prepare_query(target, {name, type, Edns::Plain}));
  perform(transfers);
  return transfers.front()->result;
}

Fetched Fetcher::get_path(const Target& target, const std::string& path) {
  std::vector<std::unique_ptr<Transfer>> transfers;
  transfers.push_back(prepare(target, path));
  perform(transfers);
  return transfers.front()->result;
}

}  // namespace dohmux::test
