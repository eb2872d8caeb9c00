// Parses domain names strictly, with hints for what people write instead of them. It must not know what they are for.
#include "config/domain.h"

#include <dohmux/address.h>
#include <fmt/format.h>

#include <algorithm>

#include "config/diagnostics.h"

namespace dohmux::config {
namespace {

constexpr std::size_t kMaxDomain = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-_/";

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return result;
}

std::string explain(std::string_view text, std::string_view domain) {
  if (Prefix::parse(text)) {
    return "is an address; give a name, such as corp.example, or a reverse zone, such as 10.in-addr.arpa";
  }
  if (text.starts_with("*.") || text.starts_with('.')) {
    const std::size_t dot = text.find('.');
    return fmt::format("begins with {}; a name covers all names below it, so leave that out", shown(text.substr(0, dot + 1)));
  }
  if (std::ranges::any_of(text, [](unsigned char c) { return c >= 0x80; })) {
    return "is not ASCII; give the form that is on the wire (xn--…)";
  }
  if (domain.size() > kMaxDomain) {
    return fmt::format("is too long; a name has at most {} characters", kMaxDomain);
  }
  return fmt::format("is not a domain name; give labels of letters, digits, - and _ with dots between, each label at most {} characters",
                     kMaxLabel);
}

}  // namespace

std::expected<std::string, std::string> parse_domain(std::string_view text) {
  if (text == ".") {
    return std::string(text);
  }
  std::string domain = lower(text.ends_with('.') ? text.substr(0, text.size() - 1) : text);
  bool good = domain.size() <= kMaxDomain && !Prefix::parse(text);
  for (std::size_t from = 0; good && from <= domain.size();) {
    const std::string_view label = std::string_view(domain).substr(from, domain.find('.', from) - from);
    good = !label.empty() && label.size() <= kMaxLabel && label.find_first_not_of(kAllowed) == std::string_view::npos;
    from += label.size() + 1;
  }
  if (!good) {
    return std::unexpected(explain(text, domain));
  }
  return domain;
}

}  // namespace dohmux::config
