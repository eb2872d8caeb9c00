// What becomes of a question before anybody is asked: answered here, or sent on to which exchanger. Pure.
#pragma once

#include <dohmux/config.h>

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dns/local_answer.h"
#include "dns/query.h"
#include "dns/special_names.h"
#include "resolver/name_map.h"

namespace dohmux {

/// The names of one route and where they go.
struct PolicyRoute {
  std::vector<std::string> match;
  std::size_t target = 0;
};

struct PolicySettings {
  std::vector<RecordConfig> records;
  std::vector<PolicyRoute> routes;
  SpecialNamesConfig special_names;
};

enum class Chosen : std::uint8_t { Default, Route };

struct Forward {
  std::size_t target = 0;
  Chosen by = Chosen::Default;
  bool operator==(const Forward&) const = default;
};

using Decision = std::variant<Bytes, Forward>;

/// In this order: `records`; the longest suffix among `routes`, which covers special names too; special names; target 0. A
/// route for the root is only another default: special names go before it.
class Policy {
 public:
  /// Names that are none are left out: the configuration has checked them.
  explicit Policy(const PolicySettings& settings);

  /// A reply of at most `limit` octets, or whom to ask.
  [[nodiscard]] Decision decide(const dns::Query& query, std::size_t limit) const;

 private:
  void add_records(const std::vector<RecordConfig>& records);
  void add_special_names(const std::vector<std::string>& except);
  [[nodiscard]] std::optional<Bytes> from_records(const dns::Query& query, std::size_t limit) const;
  [[nodiscard]] std::optional<Bytes> from_special_names(const dns::Query& query, std::size_t limit) const;

  NameMap<std::vector<dns::LocalRecord>> records_;
  NameMap<std::size_t> routes_;
  NameMap<std::optional<dns::SpecialZone>> special_names_;  // nothing: excepted
};

}  // namespace dohmux
