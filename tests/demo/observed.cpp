// Reads the daemon's query log and metrics.
// Must not know how the daemon comes to them, nor print anything.
#include "observed.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace dohmux::demo {

namespace {

std::size_t append(const char* data, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(data, size * count);
  return size * count;
}

std::string fetch(const std::string& url) {
  std::string body;
  CURL* easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 5000L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  return body;
}

std::string between(const std::string& line, const std::string& start, std::string_view ends) {
  const std::size_t at = line.find(start);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t begin = at + start.size();
  return line.substr(begin, line.find_first_of(ends, begin) - begin);
}

}  // namespace

std::string json_field(const std::string& line, const std::string& key) {
  const std::string start = fmt::format("\"{}\":", key);
  const std::string text = between(line, start + "\"", "\"");
  return text.empty() ? between(line, start, ",}") : text;
}

std::string label(const std::string& line, const std::string& key) {
  return between(line, key + "=\"", "\"");
}

void Observer::read_log(std::vector<QueryLine>& queries) {
  const std::vector<std::string> lines = test::lines_of(daemon_.printed());
  for (; seen_ < lines.size(); ++seen_) {
    const std::string& line = lines[seen_];
    if (line.find("\"event\":\"query\"") != std::string::npos) {
      queries.push_back({json_field(line, "host"), json_field(line, "exit"), json_field(line, "rcode"),
                         std::atof(json_field(line, "ms").c_str()), std::atol(json_field(line, "sendings").c_str())});
    }
  }
}

std::vector<QueryLine> Observer::new_queries(std::size_t expected) {
  std::vector<QueryLine> queries;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  read_log(queries);
  while (queries.size() < expected && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    read_log(queries);
  }
  return queries;
}

std::vector<std::string> Observer::metric_lines(const std::string& name) {
  std::vector<std::string> wanted;
  for (std::string& line : test::lines_of(fetch(fmt::format("http://127.0.0.1:{}/metrics", daemon_.web_port())))) {
    if (line.starts_with(name + "{")) {
      wanted.push_back(std::move(line));
    }
  }
  return wanted;
}

std::vector<Move> Observer::new_moves() {
  std::vector<Move> moves;
  for (const std::string& line : metric_lines("dohmux_proxy_moves_total")) {
    const std::size_t space = line.rfind(' ');
    const long total = std::atol(line.substr(space).c_str());
    const long times = total - std::exchange(seen_moves_[line.substr(0, space)], total);
    if (times != 0) {
      moves.push_back({label(line, "upstream"), label(line, "from"), label(line, "to"), label(line, "reason"), times});
    }
  }
  return moves;
}

std::map<std::string, std::string> Observer::exits() {
  std::map<std::string, std::string> exits;
  for (const std::string& line : metric_lines("dohmux_upstream_proxy_info")) {
    exits[label(line, "upstream")] = label(line, "proxy");
  }
  return exits;
}

}  // namespace dohmux::demo
