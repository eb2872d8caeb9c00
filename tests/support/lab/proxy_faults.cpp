// Turns words into proxy faults.
// Must not know sockets or processes.
#include "support/lab/proxy_faults.h"

#include <fmt/format.h>
#include <openssl/evp.h>

namespace lab {

namespace {

std::string base64(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(length));
  return out;
}

const std::map<std::string, ProxyMode, std::less<>>& modes() {
  static const std::map<std::string, ProxyMode, std::less<>> kTable = {
      {"refuse", ProxyMode::Refuse},   {"stall", ProxyMode::Stall},
      {"close", ProxyMode::Close},     {"stall-connect", ProxyMode::StallConnect},
      {"garbage", ProxyMode::Garbage}, {"close-after-200", ProxyMode::CloseAfter200}};
  return kTable;
}

Result<void> set_status(ProxyFaults& faults, const Words& words) {
  const auto status = words.size() >= 2 ? to_number(words[1]) : std::nullopt;
  if (!status || *status < 100 || *status > 999 || words.size() > 3) {
    return std::unexpected("status CODE [RESOLVER]");
  }
  if (words.size() == 3) {
    faults.status_for[words[2]] = static_cast<int>(*status);
  } else {
    faults.status = static_cast<int>(*status);
  }
  return {};
}

}  // namespace

Result<void> set_proxy_fault(ProxyFaults& faults, Words words) {
  if (words.empty()) {
    return std::unexpected("a fault is missing");
  }
  const std::string& word = words[0];
  if (const auto mode = modes().find(word); mode != modes().end() && words.size() == 1) {
    faults.mode = mode->second;
    return {};
  }
  if (word == "ok" && words.size() == 1) {
    faults = {};
    return {};
  }
  if (word == "407" && words.size() == 1) {
    faults.status = 407;
    return {};
  }
  if (word == "auth" && words.size() == 2) {
    faults.credentials = base64(words[1]);
    return {};
  }
  if (word == "status") {
    return set_status(faults, words);
  }
  if (word == "delay" && words.size() == 2 && to_millis(words[1])) {
    faults.delay = to_millis(words[1]);
    return {};
  }
  if (word == "cut" && words.size() >= 2 && to_number(words[1])) {
    const bool counted = words.size() == 3 && words[2].starts_with("times=");
    faults.cut_after.set(*to_number(words[1]), counted ? static_cast<long>(to_number(words[2].substr(6)).value_or(1)) : -1);
    return {};
  }
  return std::unexpected(fmt::format("unknown proxy fault {} or wrong arguments", word));
}

}  // namespace lab
