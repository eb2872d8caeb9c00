// Type checks and their messages. It must not know any particular setting, nor print what came from the environment.
#include "config/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/expand.h"
#include "config/scalar.h"

namespace dohmux::config {
namespace {

std::string_view kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::Null:
      return "is empty";
    case NodeKind::Scalar:
      return "is a single value";
    case NodeKind::Sequence:
      return "is a list";
    case NodeKind::Map:
      return "is a map";
  }
  return "is unreadable";
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

void Field::refuse_kind(std::string_view wanted) const {
  error(fmt::format("{}; give {}", kind_name(node_->kind), wanted));
}

std::optional<Text> Field::scalar(std::string_view wanted) const {
  if (node_->kind != NodeKind::Scalar) {
    refuse_kind(wanted);
    return std::nullopt;
  }
  auto expansion = expand(node_->text);
  if (!expansion) {
    error(expansion.error());
    return std::nullopt;
  }
  return Text{std::move(expansion->value), {}, where(), expansion->from_environment, expansion->literal};
}

std::optional<Text> Field::secret() const {
  return scalar("a text");
}

std::optional<Text> Field::text() const {
  auto result = scalar("a text");
  if (!result) {
    return std::nullopt;
  }
  result->shown = shown(node_->text);
  if (result->value.empty()) {
    error(result->expanded ? result->shown + " is empty; give a value" : "is empty; give a value");
    return std::nullopt;
  }
  if (has_control(result->value)) {
    error(result->shown + " holds a control character; remove it");
    return std::nullopt;
  }
  return result;
}

std::optional<bool> Field::boolean() const {
  static constexpr std::array<Choice<bool>, 2> kWords{{{"true", true}, {"false", false}}};
  return choice(kWords);
}

std::optional<std::uint64_t> Field::integer(IntegerRange range) const {
  const auto digits = text();
  if (!digits) {
    return std::nullopt;
  }
  const auto value = parse_integer(digits->value);
  if (!value || *value < range.min || *value > range.max) {
    error(fmt::format("{} is {}; give a whole number from {} to {}", digits->shown, value ? "out of range" : "not a whole number",
                      range.min, range.max));
    return std::nullopt;
  }
  return value;
}

std::optional<Milliseconds> Field::duration(DurationRange range) const {
  const auto words = text();
  if (!words) {
    return std::nullopt;
  }
  const auto value = parse_duration(words->value);
  const std::string bounds = fmt::format("from {} to {}", format_duration(range.min), format_duration(range.max));
  if (!value) {
    const bool no_unit = !words->expanded && parse_integer(words->value).has_value();
    const std::string hint = no_unit ? fmt::format(" (did you mean \"{0}s\" or \"{0}ms\"?)", words->value) : std::string();
    error(fmt::format("{} is not a duration; give one {}, such as 250ms, 5s or 1m30s{}", words->shown, bounds, hint));
    return std::nullopt;
  }
  if (*value < range.min || *value > range.max) {
    error(fmt::format("{} is out of range; give a duration {}", words->shown, bounds));
    return std::nullopt;
  }
  return value;
}

void Field::refuse_word(const Text& word, std::span<const std::string> words) const {
  const std::string hint = word.expanded ? std::string() : did_you_mean(word.value, words);
  error(fmt::format("{} is not known here; use one of {}{}", word.shown, join(words), hint));
}

std::vector<Field> Field::items() const {
  std::vector<Field> result;
  if (node_->kind == NodeKind::Scalar) {
    result.push_back(*this);
  } else if (node_->kind == NodeKind::Sequence) {
    for (std::size_t i = 0; i < node_->items.size(); ++i) {
      result.emplace_back(*context_, node_->items[i], fmt::format("{}[{}]", path_, i));
    }
  } else {
    refuse_kind("a list, such as [a, b]");
  }
  return result;
}

Mapping::Mapping(Field field) : field_(std::move(field)) {
  const Node& node = field_.node();
  if (node.kind != NodeKind::Map && node.kind != NodeKind::Null) {
    field_.refuse_kind("a map, such as {key: value}");
  }
  std::set<std::string_view> seen;
  for (const Entry& entry : node.entries) {
    if (!seen.insert(entry.key).second) {
      field_.context().diagnostics.error({entry.place, join_path(field_.path(), entry.key)},
                                         "this key was given above already; keep one of the two");
    }
  }
}

std::optional<Field> Mapping::get(std::string_view key) {
  known_.emplace_back(key);
  for (const Entry& entry : field_.node().entries) {
    if (entry.key == key) {
      return Field(field_.context(), entry.value, join_path(field_.path(), key));
    }
  }
  return std::nullopt;
}

std::optional<Field> Mapping::require(std::string_view key, std::string_view remedy) {
  auto found = get(key);
  if (!found && is_map()) {
    field_.context().diagnostics.error({field_.node().place, join_path(field_.path(), key)}, fmt::format("is missing; {}", remedy));
  }
  return found;
}

void Mapping::refuse_unknown() const {
  for (const Entry& entry : field_.node().entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) {
      continue;
    }
    const std::string hint = did_you_mean(entry.key, known_);
    const std::string remedy = hint.empty() ? fmt::format("remove it, or use one of {}", join(known_)) : "correct or remove it" + hint;
    field_.context().diagnostics.error({entry.place, join_path(field_.path(), entry.key)}, "unknown key; " + remedy);
  }
}

}  // namespace dohmux::config
