// Reads where the daemon listens and who may ask: `listen`, `access`, `web`.
// It must not know sockets; whether an address can be bound is seen at start.
#include <fmt/format.h>

#include <algorithm>

#include "config/readers.h"
#include "config/scalar.h"

namespace dohmux::config {
namespace {

constexpr std::string_view kListenExample = "127.0.0.1:53, \"[::1]:53\" or \":53\" for all addresses";

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto number = parse_integer(text);
  return number && *number <= 65535 ? std::optional(static_cast<std::uint16_t>(*number)) : std::nullopt;
}

/// Both families. A host without IPv6 still serves IPv4.
std::vector<ListenConfig> any_address(std::uint16_t port) {
  return {{Endpoint{IpAddress{Family::V4, {}}, port}, true}, {Endpoint{IpAddress{Family::V6, {}}, port}, false}};
}

/// What was meant by an address without port, or by an IPv6 address and port without brackets.
std::string unbracketed(std::string_view text, const IpAddress& whole) {
  const std::size_t colon = text.rfind(':');
  const auto head = colon == std::string_view::npos ? std::nullopt : IpAddress::parse(text.substr(0, colon));
  const auto port = head ? parse_port(text.substr(colon + 1)) : std::nullopt;
  return head && port ? Endpoint{*head, *port}.to_string() : Endpoint{whole, 53}.to_string();
}

std::string explain_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (text.starts_with("*:")) {
    return fmt::format("is not an address and port; give {} (did you mean \"{}\"?)", kListenExample, text.substr(1));
  }
  if (const auto address = IpAddress::parse(text)) {
    return fmt::format("has no port; give {}", unbracketed(text, *address));
  }
  if (text.starts_with('[') && text.ends_with(']')) {
    return fmt::format("has no port; give {}:53", text);
  }
  if (text.starts_with("localhost")) {
    return "is a name, and names are not looked up; give [\"127.0.0.1:53\", \"[::1]:53\"]";
  }
  if (colon != std::string_view::npos && !parse_port(text.substr(colon + 1))) {
    return fmt::format("has no port from 0 to 65535; give {}", kListenExample);
  }
  return fmt::format("is not an address and port; give {}", kListenExample);
}

struct Word {
  std::string_view name;
  std::array<std::string_view, 6> prefixes;
};

constexpr std::array<Word, 2> kWords{{
    {"loopback", {"127.0.0.0/8", "::1/128"}},
    {"private", {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"}},
}};

/// The prefix that was meant by one with host bits set, if any.
std::optional<Prefix> without_host_bits(std::string_view text) {
  const std::size_t slash = text.find('/');
  auto base = IpAddress::parse(text.substr(0, slash));
  const auto length = slash == std::string_view::npos ? std::nullopt : parse_integer(text.substr(slash + 1));
  if (!base || !length || *length > (base->family == Family::V4 ? 32U : 128U)) {
    return std::nullopt;
  }
  for (std::size_t bit = *length; bit < 128; ++bit) {
    std::uint8_t& octet = base->octets.at(bit / 8);
    octet = static_cast<std::uint8_t>(octet & ~(0x80U >> (bit % 8)));
  }
  return Prefix{*base, static_cast<std::uint8_t>(*length)};
}

void read_allowed(const Field& item, std::vector<Prefix>& allow) {
  const auto text = item.text();
  if (!text) {
    return;
  }
  if (const auto prefixes = expand_access_word(text->value)) {
    allow.insert(allow.end(), prefixes->begin(), prefixes->end());
  } else if (const auto prefix = Prefix::parse(text->value)) {
    allow.push_back(*prefix);
  } else if (const auto meant = without_host_bits(text->value)) {
    const std::string hint = text->expanded ? std::string() : fmt::format(" (did you mean \"{}\"?)", meant->to_string());
    item.error(fmt::format("{} has bits set behind its length; give the first address of the range{}", text->shown, hint));
  } else {
    static const std::vector<std::string> kKnown{"loopback", "private"};
    const std::string hint = text->value == "any" ? " (everybody is \"0.0.0.0/0\" and \"::/0\")"
                             : text->expanded     ? std::string()
                                                  : did_you_mean(text->value, kKnown);
    item.error(
        fmt::format("{} is neither an address range nor a word; use loopback, private or a range like 10.1.0.0/16{}", text->shown, hint));
  }
}

void read_listen_item(const Field& item, std::vector<ListenDraft>& out) {
  const auto text = item.text();
  if (!text) {
    return;
  }
  auto entries = parse_listen(text->value);
  if (!entries) {
    item.error(text->expanded ? fmt::format("{} is not an address and port; give {}", text->shown, kListenExample)
                              : fmt::format("{} {}", text->shown, entries.error()));
    return;
  }
  out.push_back({*text, *std::move(entries)});
}

}  // namespace

std::optional<std::vector<Prefix>> expand_access_word(std::string_view text) {
  for (const Word& word : kWords) {
    if (word.name == text) {
      std::vector<Prefix> prefixes;
      for (const std::string_view prefix : word.prefixes) {
        if (const auto parsed = Prefix::parse(prefix)) {
          prefixes.push_back(*parsed);
        }
      }
      return prefixes;
    }
  }
  return std::nullopt;
}

std::expected<std::vector<ListenConfig>, std::string> parse_listen(std::string_view text) {
  const std::string_view bare = text.starts_with(':') ? text.substr(1) : text;
  if (const auto port = parse_port(bare)) {
    return any_address(*port);
  }
  if (const auto endpoint = Endpoint::parse(text)) {
    return std::vector<ListenConfig>{{*endpoint, true}};
  }
  return std::unexpected(explain_listen(text));
}

void read_listen(const Field& field, Draft& draft) {
  const auto items = field.items();
  if (items.empty() && field.node().kind == NodeKind::Sequence) {
    field.error("is empty; give at least one address, or remove the key for 127.0.0.1:5053 and [::1]:5053");
  }
  for (const Field& item : items) {
    read_listen_item(item, draft.listen);
  }
}

void read_access(const Field& field, Draft& draft) {
  Mapping map(field);
  if (const auto allow = map.get("allow")) {
    draft.access.where = allow->where();
    const auto items = allow->items();
    if (items.empty() && allow->node().kind == NodeKind::Sequence) {
      allow->error("is empty, so nobody could ask; give loopback, private or ranges");
    }
    for (const Field& item : items) {
      read_allowed(item, draft.access.allow);
    }
  }
  map.refuse_unknown();
}

void read_web(const Field& field, Draft& draft) {
  Mapping map(field);
  if (const auto listen = map.get("listen")) {
    std::vector<ListenDraft> drafts;
    for (const Field& item : listen->items()) {
      read_listen_item(item, drafts);
    }
    draft.web_listen.clear();
    for (const ListenDraft& each : drafts) {
      draft.web_listen.insert(draft.web_listen.end(), each.entries.begin(), each.entries.end());
    }
  }
  map.refuse_unknown();
}

}  // namespace dohmux::config
