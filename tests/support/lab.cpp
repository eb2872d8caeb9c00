// Drives dohmux-lab through its control socket.
// Must not know how the lab works inside: its documented output and commands only.
#include "support/lab.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

namespace dohmux::test {

namespace {

constexpr std::chrono::seconds kStartLimit{20};
constexpr std::chrono::seconds kStopLimit{5};

Process start(const LabOptions& options) {
  return Process({DOHMUX_LAB_PROGRAM,
                  {"--resolvers", std::to_string(options.resolvers), "--proxies", std::to_string(options.proxies), "--rtt", options.rtt},
                  {}});
}

std::string value_of(std::string_view line, std::string_view key) {
  const std::string wanted = fmt::format(" {}=", key);
  const std::size_t at = line.find(wanted);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = line.substr(at + wanted.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

int connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return -1;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

Counters parse_row(std::string_view rest) {
  Counters counters;
  std::istringstream words{std::string(rest)};
  std::string word;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    long value = 0;
    if (equals != std::string::npos) {
      std::from_chars(word.data() + equals + 1, word.data() + word.size(), value);
      counters[word.substr(0, equals)] = value;
    }
  }
  return counters;
}

std::vector<std::string> chosen(const std::vector<std::string>& wanted, const Stats& stats, char kind) {
  if (!wanted.empty()) {
    return wanted;
  }
  std::vector<std::string> names;
  for (std::size_t i = 1; stats.contains(fmt::format("{}{}", kind, i)); ++i) {
    names.push_back(fmt::format("{}{}", kind, i));
  }
  return names;
}

}  // namespace

Lab::Lab(const LabOptions& options) : process_(start(options)) {
  const std::string line = process_.wait_for_line("ready ", kStartLimit).value_or("");
  dir_ = value_of(line, "dir");
  control_ = connect_to(value_of(line, "control"));
  for (const std::string& command_line : options.commands) {
    command(command_line);
  }
}

Lab::~Lab() {
  if (control_ >= 0) {
    ::close(control_);
  }
  process_.signal(SIGTERM);  // it takes its directory and its proxies with it
  (void)process_.wait(kStopLimit);
}

std::vector<std::string> Lab::exchange(std::string_view line) const {
  const std::string request = fmt::format("{}\n", line);
  std::string reply;
  if (control_ < 0 || ::send(control_, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return {"error: the lab does not run"};
  }
  std::array<char, 16384> buffer{};
  while (!reply.ends_with("\n.\n")) {
    const ssize_t length = ::recv(control_, buffer.data(), buffer.size(), 0);
    if (length <= 0) {
      return {"error: the lab has ended"};
    }
    reply.append(buffer.data(), static_cast<std::size_t>(length));
  }
  reply.resize(reply.size() - 2);
  return lines_of(reply);
}

std::string Lab::command(std::string_view line) {
  return exchange(line).front();
}

std::vector<std::string> Lab::ask(std::string_view line) {
  std::vector<std::string> lines = exchange(line);
  lines.erase(lines.begin());
  return lines;
}

Stats Lab::stats() {
  Stats stats;
  for (const std::string& line : ask("stats")) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) {
      stats[line.substr(0, space)] = parse_row(std::string_view(line).substr(space));
    }
  }
  return stats;
}

long Lab::count(const std::string& party, const std::string& key) {
  const Stats all = stats();
  const auto row = all.find(party);
  if (row == all.end() || !row->second.contains(key)) {
    return -1;
  }
  return row->second.at(key);
}

long Lab::total(char kind, const std::string& key) {
  long sum = 0;
  for (const auto& [name, row] : stats()) {
    const auto counter = row.find(key);
    if (name.size() > 1 && name[0] == kind && name[1] >= '0' && name[1] <= '9' && counter != row.end()) {
      sum += counter->second;
    }
  }
  return sum;
}

std::string Lab::config(const LabConfig& wishes) {
  Stats all = stats();
  const std::vector<std::string> upstreams = chosen(wishes.upstreams, all, 'r');
  std::string text = "listen: [\"127.0.0.1:0\"]\n";
  const std::vector<std::string> proxies = chosen(wishes.proxies, all, 'p');
  text += proxies.empty() ? "" : "proxies:\n";
  for (const std::string& name : proxies) {
    text += fmt::format("  - {{name: {}, url: \"http://127.0.0.1:{}\"}}\n", name, all[name]["port"]);
  }
  text += "upstreams:\n";
  for (const std::string& name : upstreams) {
    text += fmt::format(
        "  - {{name: {0}, url: \"https://{0}.lab.example:{1}/dns-query\", addresses: [127.0.0.1], tls: {{ca: [\"{2}\"]}}{3}{4}}}\n", name,
        all[name]["port"], ca_file(), wishes.upstream_keys.empty() ? "" : ", ", wishes.upstream_keys);
  }
  text += fmt::format("groups:\n  - {{name: default, upstreams: [{}], strategy: {}}}\n", fmt::join(upstreams, ", "), wishes.strategy);
  text += wishes.extra.find("web:") == std::string::npos ? "web: {listen: [\"127.0.0.1:0\"]}\n" : "";
  return text + wishes.extra + (wishes.extra.empty() || wishes.extra.ends_with('\n') ? "" : "\n");
}

std::vector<std::string> Lab::log() const {
  std::ifstream file(dir_ + "/log.jsonl");
  std::stringstream text;
  text << file.rdbuf();
  return lines_of(text.str());
}

}  // namespace dohmux::test
