// A strict reader for one line of the query log: a JSON object without nesting.
// Must not know which keys there are.
#include <cctype>

#include "tools.h"

namespace dohmux::test {

namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return text_.empty(); }
  bool take(char wanted) {
    if (text_.empty() || text_.front() != wanted) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  std::optional<std::string> string() {
    std::string value;
    if (!take('"')) {
      return std::nullopt;
    }
    while (!text_.empty() && !take('"')) {
      const char c = text_.front();
      text_.remove_prefix(1);
      if (static_cast<unsigned char>(c) < 0x20) {
        return std::nullopt;
      }
      if (c != '\\') {
        value += c;
      } else if (!escape(value)) {
        return std::nullopt;
      }
      if (text_.empty()) {
        return std::nullopt;
      }
    }
    return value;
  }

  std::optional<std::string> number() {
    std::string value;
    while (!text_.empty() &&
           (std::isdigit(static_cast<unsigned char>(text_.front())) != 0 || text_.front() == '.' || text_.front() == '-')) {
      value += text_.front();
      text_.remove_prefix(1);
    }
    return value.empty() ? std::nullopt : std::optional(value);
  }

  [[nodiscard]] char next() const { return text_.empty() ? '\0' : text_.front(); }

 private:
  bool escape(std::string& value) {
    const char c = next();
    if (c == '"' || c == '\\' || c == '/') {
      value += c;
    } else if (c == 'u' && text_.size() >= 5) {
      value += text_.substr(0, 5);  // kept as written: the tests ask for none of these
      text_.remove_prefix(4);
    } else {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  std::string_view text_;
};

}  // namespace

std::optional<std::map<std::string, std::string>> flat_json(std::string_view line) {
  std::map<std::string, std::string> fields;
  Cursor cursor(line);
  if (!cursor.take('{')) {
    return std::nullopt;
  }
  do {
    const auto key = cursor.string();
    if (!key || !cursor.take(':')) {
      return std::nullopt;
    }
    const auto value = cursor.next() == '"' ? cursor.string() : cursor.number();
    if (!value || !fields.emplace(*key, *value).second) {
      return std::nullopt;
    }
  } while (cursor.take(','));
  return cursor.take('}') && cursor.at_end() ? std::optional(fields) : std::nullopt;
}

}  // namespace dohmux::test
