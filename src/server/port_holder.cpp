// Reads /proc/net/{udp,tcp}{,6} for the socket's inode and /proc/*/fd for the process that has it open (proc(5)).
// It must not fail loudly: whatever cannot be read is left out.
#include "server/port_holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace dohmux::server {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kListening = "0A";  // TCP_LISTEN in column "st"

// The kernel prints each 32-bit word of the address as a number of the host's byte order.
std::string proc_address(const IpAddress& address) {
  const std::size_t words = address.family == Family::V4 ? 1 : 4;
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, &address.octets.at(i * 4), sizeof word);
    text += fmt::format("{:08X}", word);
  }
  return text;
}

bool in_the_way(std::string_view theirs, const Endpoint& ours) {
  return ours.address.is_unspecified() || theirs == proc_address(ours.address) || theirs.find_first_not_of('0') == std::string_view::npos;
}

// "socket:[INODE]" of each line that stops us from having `endpoint`.
std::vector<std::string> sockets_in(const char* table, const Endpoint& endpoint, Protocol protocol) {
  std::vector<std::string> found;
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // headings
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    std::string skipped;
    std::string inode;
    fields >> number >> local >> remote >> state >> skipped >> skipped >> skipped >> skipped >> skipped >> inode;
    const std::size_t colon = local.find(':');
    if (colon == std::string::npos || local.substr(colon + 1) != fmt::format("{:04X}", endpoint.port)) {
      continue;
    }
    if ((protocol == Protocol::Udp || state == kListening) && in_the_way(std::string_view(local).substr(0, colon), endpoint)) {
      found.push_back(fmt::format("socket:[{}]", inode));
    }
  }
  return found;
}

bool has_open(const fs::path& process, const std::vector<std::string>& sockets) {
  std::error_code error;
  for (fs::directory_iterator it(process / "fd", error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    const std::string target = fs::read_symlink(it->path(), unreadable).string();
    if (!unreadable && std::ranges::find(sockets, target) != sockets.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<PortHolder> find_port_holder(const Endpoint& endpoint, Protocol protocol) {
  const bool udp = protocol == Protocol::Udp;
  std::vector<std::string> sockets = sockets_in(udp ? "/proc/net/udp" : "/proc/net/tcp", endpoint, protocol);
  std::ranges::copy(sockets_in(udp ? "/proc/net/udp6" : "/proc/net/tcp6", endpoint, protocol), std::back_inserter(sockets));
  if (sockets.empty()) {
    return std::nullopt;
  }
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    int pid = 0;
    const auto [stop, failure] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failure != std::errc() || stop != name.data() + name.size() || !has_open(it->path(), sockets)) {
      continue;
    }
    PortHolder holder{.pid = pid, .name = "?"};
    std::ifstream comm(it->path() / "comm");
    std::getline(comm, holder.name);
    return holder;
  }
  return std::nullopt;
}

}  // namespace dohmux::server
