// Typed reading of one value of the tree: each reader returns the value, or reports what is wrong and returns nothing.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "config/node.h"

namespace dohmux::config {

/// Whether others on this machine may read the file (then it must not hold passwords).
enum class FileMode : std::uint8_t { Private, Shared };

/// What all readers of one file share.
struct Context {
  Diagnostics& diagnostics;
  std::string folder;  // relative file names are meant from here, with its final slash; empty: the working directory
  FileMode mode = FileMode::Private;
};

/// A scalar after expansion, with the form that may be printed.
struct Text {
  std::string value;
  std::string shown;  // in quotes; the unexpanded text, so that nothing from the environment gets out
  Where where;
  bool expanded = false;
  bool literal = true;  // some part of it stands in the file itself
};

/// A word of the file and the value that it stands for.
template <typename E>
struct Choice {
  std::string_view word;
  E value;
};

struct IntegerRange {
  std::uint64_t min;
  std::uint64_t max;
};

struct DurationRange {
  Milliseconds min;
  Milliseconds max;
};

/// A value and its path. Borrows the tree and the context.
class Field {
 public:
  Field(Context& context, const Node& node, std::string path) : context_(&context), node_(&node), path_(std::move(path)) {}

  [[nodiscard]] Context& context() const { return *context_; }
  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Where where() const { return {node_->place, path_}; }
  void error(std::string message) const { context_->diagnostics.error(where(), std::move(message)); }

  [[nodiscard]] std::optional<Text> text() const;    // not empty, no control characters
  [[nodiscard]] std::optional<Text> secret() const;  // any text; `shown` stays empty
  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] std::optional<std::uint64_t> integer(IntegerRange range) const;
  [[nodiscard]] std::optional<Milliseconds> duration(DurationRange range) const;

  template <typename E, std::size_t N>
  [[nodiscard]] std::optional<E> choice(const std::array<Choice<E>, N>& choices) const {
    const auto word = text();
    if (!word) {
      return std::nullopt;
    }
    std::vector<std::string> words;
    for (const Choice<E>& candidate : choices) {
      if (candidate.word == word->value) {
        return candidate.value;
      }
      words.emplace_back(candidate.word);
    }
    refuse_word(*word, words);
    return std::nullopt;
  }

  /// The items of a list; a scalar counts as a list of one. Anything else is reported and gives nothing.
  [[nodiscard]] std::vector<Field> items() const;

  /// "is a list; give a map"
  void refuse_kind(std::string_view wanted) const;

 private:
  void refuse_word(const Text& word, std::span<const std::string> words) const;
  [[nodiscard]] std::optional<Text> scalar(std::string_view wanted) const;

  Context* context_;
  const Node* node_;
  std::string path_;
};

/// The keys of one map. Every key that is asked for counts as known.
class Mapping {
 public:
  /// Reports a value that is no map, and keys written twice. An empty value (only comments below it) is an empty map.
  explicit Mapping(Field field);

  [[nodiscard]] std::optional<Field> get(std::string_view key);
  [[nodiscard]] std::optional<Field> require(std::string_view key, std::string_view remedy);
  [[nodiscard]] bool is_map() const { return field_.node().kind == NodeKind::Map; }
  [[nodiscard]] const Field& field() const { return field_; }

  /// Reports every key that was never asked for, with the nearest known one.
  void refuse_unknown() const;

 private:
  Field field_;
  std::vector<std::string> known_;
};

}  // namespace dohmux::config
