// Presentation of names, types, classes and codes. Only for people: no decision is ever made on these texts.
#include "dns/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "dns/name.h"
#include "dns/query.h"

namespace dohmux::dns {
namespace {

struct Word {
  std::uint16_t number;
  std::string_view text;
};

constexpr std::array kTypes = {
    Word{1, "A"},           Word{2, "NS"},        Word{5, "CNAME"},    Word{6, "SOA"},     Word{10, "NULL"},  Word{12, "PTR"},
    Word{13, "HINFO"},      Word{15, "MX"},       Word{16, "TXT"},     Word{17, "RP"},     Word{18, "AFSDB"}, Word{24, "SIG"},
    Word{25, "KEY"},        Word{28, "AAAA"},     Word{29, "LOC"},     Word{33, "SRV"},    Word{35, "NAPTR"}, Word{36, "KX"},
    Word{37, "CERT"},       Word{39, "DNAME"},    Word{41, "OPT"},     Word{42, "APL"},    Word{43, "DS"},    Word{44, "SSHFP"},
    Word{45, "IPSECKEY"},   Word{46, "RRSIG"},    Word{47, "NSEC"},    Word{48, "DNSKEY"}, Word{49, "DHCID"}, Word{50, "NSEC3"},
    Word{51, "NSEC3PARAM"}, Word{52, "TLSA"},     Word{53, "SMIMEA"},  Word{55, "HIP"},    Word{59, "CDS"},   Word{60, "CDNSKEY"},
    Word{61, "OPENPGPKEY"}, Word{62, "CSYNC"},    Word{63, "ZONEMD"},  Word{64, "SVCB"},   Word{65, "HTTPS"}, Word{99, "SPF"},
    Word{108, "EUI48"},     Word{109, "EUI64"},   Word{128, "NXNAME"}, Word{249, "TKEY"},  Word{250, "TSIG"}, Word{251, "IXFR"},
    Word{252, "AXFR"},      Word{253, "MAILB"},   Word{254, "MAILA"},  Word{255, "ANY"},   Word{256, "URI"},  Word{257, "CAA"},
    Word{260, "AMTRELAY"},  Word{261, "RESINFO"}, Word{32768, "TA"},   Word{32769, "DLV"},
};

constexpr std::array kClasses = {Word{1, "IN"}, Word{3, "CH"}, Word{4, "HS"}, Word{254, "NONE"}, Word{255, "ANY"}};

constexpr std::array kRcodes = {
    Word{0, "NOERROR"},  Word{1, "FORMERR"},  Word{2, "SERVFAIL"}, Word{3, "NXDOMAIN"}, Word{4, "NOTIMP"},
    Word{5, "REFUSED"},  Word{6, "YXDOMAIN"}, Word{7, "YXRRSET"},  Word{8, "NXRRSET"},  Word{9, "NOTAUTH"},
    Word{10, "NOTZONE"}, Word{16, "BADVERS"}, Word{17, "BADKEY"},  Word{18, "BADTIME"}, Word{23, "BADCOOKIE"},
};

template <std::size_t Size>
std::string look_up(const std::array<Word, Size>& words, std::uint16_t number, std::string_view otherwise) {
  const auto* found = std::find_if(words.begin(), words.end(), [number](const Word& word) { return word.number == number; });
  return found == words.end() ? fmt::format("{}{}", otherwise, number) : std::string(found->text);
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return upper;
}

void append_character(std::string& text, std::uint8_t octet) {
  constexpr std::string_view kSpecial = ".\\\"();@$";  // RFC 1035 §5.1
  const auto c = static_cast<char>(octet);
  if (octet <= 0x20 || octet >= 0x7F) {
    fmt::format_to(std::back_inserter(text), "\\{:03}", octet);
    return;
  }
  if (kSpecial.find(c) != std::string_view::npos) {
    text.push_back('\\');
  }
  text.push_back(c);
}

}  // namespace

std::string type_text(std::uint16_t type) {
  return look_up(kTypes, type, "TYPE");
}
std::string class_text(std::uint16_t rclass) {
  return look_up(kClasses, rclass, "CLASS");
}
std::string rcode_text(std::uint16_t rcode) {
  return look_up(kRcodes, rcode, "RCODE");
}

std::optional<std::uint16_t> type_from_text(std::string_view text) {
  const std::string upper = upper_case(text);
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(), [&](const Word& word) { return word.text == upper; });
  if (found != kTypes.end()) {
    return found->number;
  }
  std::string_view digits = upper;
  if (digits.starts_with("TYPE")) {
    digits.remove_prefix(4);
  }
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  return whole ? std::optional(number) : std::nullopt;
}

std::string name_text(ByteView wire_name) {
  std::string text;
  WireReader reader(wire_name);
  while (const std::uint8_t length = reader.u8()) {
    for (const std::uint8_t octet : reader.take(length)) {
      append_character(text, octet);
    }
    text.push_back('.');
  }
  return text.empty() ? "." : text;
}

}  // namespace dohmux::dns
