// Turns the words of scripts and of the control socket into fault records.
// Must not know connections; each word is one row of a table.
#include <fmt/format.h>

#include <charconv>
#include <functional>

#include "support/lab/faults.h"

namespace lab {

namespace {

struct Arguments {
  Words words;      // without the fault's name
  long times = -1;  // from times=N
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t index) const {
    return index < words.size() ? to_number(words[index]) : std::nullopt;
  }
  [[nodiscard]] std::string rest(std::size_t from) const {
    std::string text;
    for (std::size_t i = from; i < words.size(); ++i) {
      text += (i == from ? "" : " ") + words[i];
    }
    return text;
  }
};

// A setter returns false if its arguments are wrong.
template <class Faults>
using Setter = std::function<bool(Faults&, const Arguments&)>;
template <class Faults>
using Table = std::map<std::string, Setter<Faults>, std::less<>>;

template <class Faults>
Setter<Faults> flag(Flag Faults::* member) {
  return [member](Faults& faults, const Arguments& a) {
    (faults.*member).set({}, a.times);
    return a.words.empty();
  };
}

template <class T>
Setter<AnswerFaults> number(Fault<T> AnswerFaults::* member) {
  return [member](AnswerFaults& faults, const Arguments& a) {
    const auto value = a.number(0);
    (faults.*member).set(static_cast<T>(value.value_or(0)), a.times);
    return value.has_value() && a.words.size() == 1;
  };
}

std::optional<std::uint32_t> to_error_code(std::string_view word) {
  static const std::map<std::string_view, std::uint32_t> kCodes = {
      {"NO_ERROR", 0},       {"PROTOCOL_ERROR", 1}, {"INTERNAL_ERROR", 2},     {"FLOW_CONTROL_ERROR", 3},
      {"REFUSED_STREAM", 7}, {"CANCEL", 8},         {"ENHANCE_YOUR_CALM", 11}, {"HTTP_1_1_REQUIRED", 13}};
  if (const auto found = kCodes.find(word); found != kCodes.end()) {
    return found->second;
  }
  const auto value = to_number(word);
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

// "rst CODE [COUNT]"
Setter<AnswerFaults> error_code(Fault<std::uint32_t> AnswerFaults::* member) {
  return [member](AnswerFaults& faults, const Arguments& a) {
    const auto code = a.words.empty() ? std::nullopt : to_error_code(a.words[0]);
    const auto count = a.number(1);
    (faults.*member).set(code.value_or(0), count ? static_cast<long>(*count) : a.times);
    return code.has_value() && (a.words.size() == 1 || count.has_value());
  };
}

std::optional<Header> to_header(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) {
    return std::nullopt;
  }
  std::string name = text.substr(0, colon);
  for (char& c : name) {
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  const std::size_t value = text.find_first_not_of(' ', colon + 1);
  return Header{name, value == std::string::npos ? "" : text.substr(value)};
}

bool set_status(AnswerFaults& faults, const Arguments& a) {
  const auto status = a.number(0);
  if (!status || *status < 200 || *status > 999) {
    return false;
  }
  StatusFault fault{static_cast<int>(*status), {}};
  if (a.words.size() > 1) {
    const auto header = to_header(a.rest(1));
    if (!header) {
      return false;
    }
    fault.headers.push_back(*header);
  }
  faults.status.set(fault, a.times);
  return true;
}

bool set_retry_after(AnswerFaults& faults, const Arguments& a) {
  faults.status.set({429, {{"retry-after", a.rest(0)}}}, a.times);
  return !a.words.empty();
}

bool set_header(AnswerFaults& faults, const Arguments& a) {
  const auto header = to_header(a.rest(0));
  faults.header.set(header.value_or(Header{}), a.times);
  return header.has_value();
}

bool set_delay(AnswerFaults& faults, const Arguments& a) {
  const auto delay = a.words.size() == 1 ? to_millis(a.words[0]) : std::nullopt;
  faults.delay.set(delay.value_or(Millis(0)), a.times);
  return delay.has_value();
}

bool set_ede(AnswerFaults& faults, const Arguments& a) {
  const auto code = a.number(0).value_or(0);
  const std::string head = {static_cast<char>((code >> 8U) & 0xffU), static_cast<char>(code & 0xffU)};
  faults.ede.set(head + a.rest(1), a.times);
  return a.number(0).has_value();
}

const Table<AnswerFaults>& answer_table() {
  static const Table<AnswerFaults> kTable = {
      {"delay", set_delay},
      {"hang", flag(&AnswerFaults::hang)},
      {"half", flag(&AnswerFaults::half)},
      {"rst", error_code(&AnswerFaults::reset)},
      {"half-rst", error_code(&AnswerFaults::half_reset)},
      {"drop", flag(&AnswerFaults::drop)},
      {"status", set_status},
      {"retry-after", set_retry_after},
      {"header", set_header},
      {"type",
       [](AnswerFaults& faults, const Arguments& a) {
         faults.type.set(a.rest(0), a.times);  // none: no content-type at all
         return true;
       }},
      {"age", number(&AnswerFaults::age)},
      {"wrong-id", flag(&AnswerFaults::wrong_id)},
      {"wrong-question", flag(&AnswerFaults::wrong_question)},
      {"qr0", flag(&AnswerFaults::not_a_response)},
      {"tc", flag(&AnswerFaults::truncated)},
      {"ad", flag(&AnswerFaults::authentic)},
      {"big", number(&AnswerFaults::size)},
      {"rcode", number(&AnswerFaults::rcode)},
      {"servfail",
       [](AnswerFaults& faults, const Arguments& a) {
         faults.rcode.set(2, a.times);
         return a.words.empty();
       }},
      {"ede", set_ede},
      {"empty", flag(&AnswerFaults::empty)},
      {"junk", flag(&AnswerFaults::junk)},
  };
  return kTable;
}

Setter<ResolverFaults> accept_mode(AcceptMode mode) {
  return [mode](ResolverFaults& faults, const Arguments& a) {
    faults.accept = mode;
    return a.words.empty();
  };
}

bool set_cut(ResolverFaults& faults, const Arguments& a) {
  const auto octets = a.number(0);
  faults.cut_after.set(octets.value_or(0), a.times);
  return octets.has_value();
}

Setter<ResolverFaults> goaway(GoawayFault::After after) {
  return [after](ResolverFaults& faults, const Arguments& a) {
    const auto requests = a.number(0);
    faults.goaway.set({requests.value_or(0), after}, a.times);
    return a.words.empty() || requests.has_value();
  };
}

bool set_cert(ResolverFaults& faults, const Arguments& a) {
  static const std::map<std::string, CertKind> kKinds = {
      {"good", CertKind::Good}, {"expired", CertKind::Expired}, {"wrong-name", CertKind::WrongName}, {"self-signed", CertKind::SelfSigned}};
  const auto found = kKinds.find(a.rest(0));
  faults.cert = found != kKinds.end() ? found->second : CertKind::Good;
  return found != kKinds.end();
}

bool set_max_streams(ResolverFaults& faults, const Arguments& a) {
  const auto limit = a.number(0);
  faults.max_streams = static_cast<std::uint32_t>(limit.value_or(0));
  return limit.has_value();
}

Setter<ResolverFaults> duration(std::optional<Millis> ResolverFaults::* member) {
  return [member](ResolverFaults& faults, const Arguments& a) {
    faults.*member = a.words.size() == 1 ? to_millis(a.words[0]) : std::nullopt;
    return (faults.*member).has_value();
  };
}

const Table<ResolverFaults>& resolver_table() {
  static const Table<ResolverFaults> kTable = {
      {"refuse", accept_mode(AcceptMode::Refuse)},
      {"stall", accept_mode(AcceptMode::Stall)},
      {"close", accept_mode(AcceptMode::Close)},
      {"stall-tls", accept_mode(AcceptMode::StallTls)},
      {"cut", set_cut},
      {"goaway", goaway(GoawayFault::After::Drain)},
      {"goaway-close", goaway(GoawayFault::After::Close)},
      {"idle-close", duration(&ResolverFaults::idle_close)},
      {"rtt", duration(&ResolverFaults::rtt)},
      {"h1",
       [](ResolverFaults& faults, const Arguments& a) {
         faults.alpn = AlpnOffer::Http1Only;
         return a.words.empty();
       }},
      {"max-streams", set_max_streams},
      {"cert", set_cert},
  };
  return kTable;
}

Arguments arguments_of(Words words) {
  Arguments arguments;
  arguments.words.assign(words.begin() + 1, words.end());
  constexpr std::string_view kTimes = "times=";
  if (!arguments.words.empty() && arguments.words.back().starts_with(kTimes)) {
    arguments.times = static_cast<long>(to_number(arguments.words.back().substr(kTimes.size())).value_or(1));
    arguments.words.pop_back();
  }
  return arguments;
}

// The fault stays as it was if the words are wrong.
template <class Faults>
Result<void> apply(const Setter<Faults>& setter, Faults& faults, const Words& words) {
  Faults changed = faults;
  if (!setter(changed, arguments_of(words))) {
    return std::unexpected(fmt::format("wrong arguments for {}", words[0]));
  }
  faults = std::move(changed);
  return {};
}

}  // namespace

Result<void> set_answer_fault(AnswerFaults& faults, Words words) {
  if (words.empty()) {
    return std::unexpected("a fault is missing");
  }
  if (words[0] == "ok") {
    faults = {};
    return {};
  }
  const auto found = answer_table().find(words[0]);
  if (found == answer_table().end()) {
    return std::unexpected(fmt::format("unknown fault {}", words[0]));
  }
  return apply(found->second, faults, words);
}

Result<void> set_resolver_fault(ResolverFaults& faults, Words words) {
  if (!words.empty() && words[0] == "ok") {
    faults = {};
    return {};
  }
  const auto found = words.empty() ? resolver_table().end() : resolver_table().find(words[0]);
  if (found == resolver_table().end()) {
    return set_answer_fault(faults.answer, std::move(words));
  }
  return apply(found->second, faults, words);
}

AnswerFaults* faults_for(NameFaults& names, std::string_view name) {
  for (;;) {
    const auto found = names.find(std::string(name));
    if (found != names.end()) {
      return &found->second;
    }
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) {
      return nullptr;
    }
    name.remove_prefix(dot + 1);
  }
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && rest == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<Millis> to_millis(std::string_view text) {
  long scale = 1;
  if (text.ends_with("ms")) {
    text.remove_suffix(2);
  } else if (text.ends_with('s')) {
    text.remove_suffix(1);
    scale = 1000;
  }
  const auto value = to_number(text);
  return value ? std::optional(Millis(static_cast<long>(*value) * scale)) : std::nullopt;
}

Words split_words(std::string_view line) {
  Words words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace lab
