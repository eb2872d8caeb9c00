// The commands of scripts and of the control socket (--help lists them).
// Must not know sockets: a line comes in, lines go out.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "support/lab/laboratory.h"

namespace lab {

namespace {

Words from(const Words& words, std::size_t first) {
  return {words.begin() + static_cast<std::ptrdiff_t>(std::min(first, words.size())), words.end()};
}

std::string lower(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return text;
}

// "resolver r1 …", "proxy * …": the same words for each party meant.
template <class Parties>
Result<void> for_each_meant(Parties& parties, const Words& words) {
  if (words.size() < 3) {
    return std::unexpected(fmt::format("{} NAME|* FAULT [arguments]", words[0]));
  }
  bool found = false;
  for (auto& party : parties) {
    if (words[1] == "*" || words[1] == party->name()) {
      found = true;
      if (auto done = party->apply(from(words, 2)); !done) {
        return done;
      }
    }
  }
  return found || words[1] == "*" ? Result<void>{} : std::unexpected("no such party: " + words[1]);
}

std::string text_row(const std::string& name, const CounterRow& row) {
  std::string line = name;
  for (const auto& [key, value] : row) {
    line += fmt::format(" {}={}", key, value);
  }
  return line;
}

std::string json_row(const std::string& name, const CounterRow& row) {
  std::string line;
  for (const auto& [key, value] : row) {
    line += fmt::format("{}\"{}\":{}", line.empty() ? "" : ",", key, value);
  }
  return fmt::format("\"{}\":{{{}}}", name, line);
}

}  // namespace

std::vector<std::string> Laboratory::execute(std::string_view line) {
  const Words words = split_words(line);
  std::vector<std::string> reply = {"ok"};
  if (words.empty() || words[0].starts_with('#')) {
    return reply;
  }
  if (auto done = command(words, reply); !done) {
    return {"error: " + done.error()};
  }
  return reply;
}

Result<void> Laboratory::command(const Words& words, std::vector<std::string>& reply) {
  const std::string& verb = words[0];
  if (verb == "resolver") {
    return for_each_meant(resolvers_, words);
  }
  if (verb == "proxy") {
    return for_each_meant(proxies_, words);
  }
  if (verb == "name") {
    return for_names(words);
  }
  if (verb == "at") {
    return at_time(words);
  }
  if (verb == "clear") {
    return clear();
  }
  if (verb == "stats") {
    return stats(words, reply);
  }
  if (verb == "pids") {
    reply.push_back(fmt::format("lab {}", ::getpid()));
    for (const auto& proxy : proxies_) {
      reply.push_back(fmt::format("{} {}", proxy->name(), proxy->pid()));
    }
    return {};
  }
  if (verb == "quit") {
    loop_.after(Millis(50), [this] { loop_.stop(); });  // the reply goes out first
    return {};
  }
  return std::unexpected("unknown command " + verb);
}

Result<void> Laboratory::for_names(const Words& words) {
  if (words.size() < 3) {
    return std::unexpected("name SUFFIX FAULT [arguments]");
  }
  std::string suffix = lower(words[1]);
  suffix.erase(0, suffix.starts_with("*.") ? 2 : 0);
  while (suffix.ends_with('.')) {
    suffix.pop_back();
  }
  if (words[2] == "ok") {
    names_.erase(suffix);
    return {};
  }
  AnswerFaults changed = names_.contains(suffix) ? names_[suffix] : AnswerFaults{};
  if (auto done = set_answer_fault(changed, from(words, 2)); !done) {
    return done;
  }
  names_[suffix] = std::move(changed);
  log_.write(LogEntry("names", "fault").add("what", fmt::format("{}", fmt::join(from(words, 1), " "))));
  return {};
}

Result<void> Laboratory::at_time(const Words& words) {
  const auto delay = words.size() >= 3 ? to_millis(words[1]) : std::nullopt;
  if (!delay) {
    return std::unexpected("at DURATION COMMAND");
  }
  loop_.after(*delay, [this, line = fmt::format("{}", fmt::join(from(words, 2), " "))] {
    log_.write(LogEntry("lab", "script").add("line", line).add("result", execute(line).front()));
  });
  return {};
}

Result<void> Laboratory::clear() {
  names_.clear();
  for (auto& resolver : resolvers_) {
    if (auto done = resolver->apply({"ok"}); !done) {
      return done;
    }
  }
  for (auto& proxy : proxies_) {
    if (auto done = proxy->apply({"ok"}); !done) {
      return done;
    }
  }
  return {};
}

std::vector<std::pair<std::string, CounterRow>> Laboratory::rows() const {
  std::vector<std::pair<std::string, CounterRow>> rows;
  for (const auto& resolver : resolvers_) {
    CounterRow row = {{"port", resolver->port()}};
    const CounterRow counted = resolver->counters().row();
    row.insert(row.end(), counted.begin(), counted.end());
    rows.emplace_back(resolver->name(), std::move(row));
  }
  for (const auto& proxy : proxies_) {
    CounterRow row = {{"port", proxy->port()}, {"pid", proxy->pid()}, {"up", proxy->up() ? 1 : 0}};
    const CounterRow counted = proxy->counters().row();
    row.insert(row.end(), counted.begin(), counted.end());
    rows.emplace_back(proxy->name(), std::move(row));
  }
  rows.emplace_back("decoy", CounterRow{{"port", decoy_.port()}, {"accepts", decoy_.accepts()}});
  return rows;
}

void Laboratory::reset_counters() {
  for (auto& resolver : resolvers_) {
    resolver->counters().reset();
  }
  for (auto& proxy : proxies_) {
    proxy->counters().reset();
  }
  decoy_.reset();
}

Result<void> Laboratory::stats(const Words& words, std::vector<std::string>& reply) {
  const std::string how = words.size() > 1 ? words[1] : "";
  if (how == "reset") {
    reset_counters();
    return {};
  }
  if (how == "json") {
    std::string all;
    for (const auto& [name, row] : rows()) {
      all += (all.empty() ? "" : ",") + json_row(name, row);
    }
    reply.push_back("{" + all + "}");
    return {};
  }
  if (!how.empty()) {
    return std::unexpected("stats [reset|json]");
  }
  for (const auto& [name, row] : rows()) {
    reply.push_back(text_row(name, row));
  }
  return {};
}

}  // namespace lab
