// A DoH client without a pool, to compare with.
// Must not be tuned in either direction: default options but for what reaching the lab needs.
#include "naive.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "support/dns_client.h"

namespace dohmux::demo {

namespace {

using Clock = std::chrono::steady_clock;

std::size_t append(const char* data, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(data, size * count);
  return size * count;
}

class NaiveClient {
 public:
  NaiveClient(test::Lab& lab, const NaiveWork& work) : work_(work), ca_file_(lab.ca_file()) {
    for (const auto& [name, row] : lab.stats()) {
      if (name.starts_with('r')) {
        resolvers_.push_back(fmt::format("{}.lab.example:{}", name, row.at("port")));
      } else if (name.starts_with('p')) {
        proxies_.push_back(fmt::format("http://127.0.0.1:{}", row.at("port")));
      }
    }
  }

  NaiveResult run() {
    const auto begin = Clock::now();
    {
      std::vector<std::jthread> threads;
      threads.reserve(work_.threads);
      for (std::size_t i = 0; i < work_.threads; ++i) {
        threads.emplace_back([this, i] { work_off(static_cast<unsigned>(i)); });
      }
    }
    result_.wall = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    return std::move(result_);
  }

 private:
  void work_off(unsigned seed) {
    std::minstd_rand random(seed + 1);
    for (std::size_t index = next_++; index < work_.queries; index = next_++) {
      const auto begin = Clock::now();
      const bool good = ask(index, proxies_[random() % proxies_.size()]);
      const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
      const std::scoped_lock lock(mutex_);
      result_.answered += good ? 1 : 0;
      result_.latencies_ms.push_back(took.count());
    }
  }

  [[nodiscard]] bool ask(std::size_t index, const std::string& proxy) const {
    const std::string query = test::make_query({fmt::format("q{}.naive.example", index), 1, test::Edns::Plain}, 0);
    std::string body;
    CURL* easy = curl_easy_init();
    curl_slist* headers = curl_slist_append(nullptr, "content-type: application/dns-message");
    curl_easy_setopt(easy, CURLOPT_URL, fmt::format("https://{}/dns-query", resolvers_[index % resolvers_.size()]).c_str());
    curl_easy_setopt(easy, CURLOPT_PROXY, proxy.c_str());
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file_.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(query.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, query.data());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
    const CURLcode code = curl_easy_perform(easy);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    const test::Reply reply = test::read_reply(body);
    return code == CURLE_OK && reply.came && reply.rcode == 0;
  }

  NaiveWork work_;
  std::string ca_file_;
  std::vector<std::string> resolvers_;
  std::vector<std::string> proxies_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  NaiveResult result_;
};

}  // namespace

NaiveResult run_naive(test::Lab& lab, const NaiveWork& work) {
  return NaiveClient(lab, work).run();
}

}  // namespace dohmux::demo
