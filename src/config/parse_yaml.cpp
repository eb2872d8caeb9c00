// Builds the tree of node.h from yaml-cpp's events and enforces the bounds while they arrive, so that a hostile file
// (deep nesting, alias bombs) stops early. It must not know any key: meaning is given by the readers.
// The only file that sees yaml-cpp and its exceptions.
#include "config/parse_yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace dohmux::config {
namespace {

Place place_of(const YAML::Mark& mark) {
  return mark.is_null() ? Place{} : Place{mark.line + 1, mark.column + 1};
}

/// A bound of ours is broken. Thrown, because yaml-cpp's parser knows no other way to stop; caught below.
struct Refused : YAML::ParserException {
  using YAML::ParserException::ParserException;
};

constexpr const char* kNoAliases = "anchors (&name) and aliases (*name) are not accepted; write the value out, or quote it";

/// Collects events into a tree.
class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node& node = add(mark, {}, anchor);
    node.kind = NodeKind::Null;
    if (!open_.empty() && open_.back().node->kind == NodeKind::Map) {
      node.place = open_.back().node->entries.back().place;  // the mark is that of the next token, maybe lines below
    }
    leave_key();
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { refuse_alias(mark); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    if (!open_.empty() && open_.back().node->kind == NodeKind::Map && !open_.back().has_key) {
      check(mark, tag, anchor);
      open_.back().node->entries.push_back({value, place_of(mark), {}});
      open_.back().has_key = true;
      return;
    }
    Node& node = add(mark, tag, anchor);
    node.kind = NodeKind::Scalar;
    node.text = value;
    leave_key();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, add(mark, tag, anchor), NodeKind::Sequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) override {
    open(mark, add(mark, tag, anchor), NodeKind::Map);
  }
  void OnMapEnd() override { close(); }

  void OnAnchor(const YAML::Mark& mark, const std::string& /*name*/) override { refuse_alias(mark); }

  Node take() { return std::move(root_); }

 private:
  struct Open {
    Node* node;    // stays valid: only the innermost open node grows
    bool has_key;  // of a map: a key waits for its value
  };

  [[noreturn]] static void refuse_alias(const YAML::Mark& mark) { throw Refused(mark, kNoAliases); }

  static void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      refuse_alias(mark);
    }
    if (!tag.empty() && tag != "?" && tag != "!") {  // "?" plain, "!" quoted
      throw Refused(mark, "tags (!name) are not accepted; write the plain value, or quote it");
    }
  }

  Node& add(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    check(mark, tag, anchor);
    Node* node = &root_;
    if (!open_.empty()) {
      Open& parent = open_.back();
      if (parent.node->kind == NodeKind::Map && !parent.has_key) {
        throw Refused(mark, "a key must be plain text; write `key: value`");
      }
      node = parent.node->kind == NodeKind::Map ? &parent.node->entries.back().value : &parent.node->items.emplace_back();
    }
    node->place = place_of(mark);
    return *node;
  }

  void open(const YAML::Mark& mark, Node& node, NodeKind kind) {
    if (open_.size() >= kMaxDepth) {
      throw Refused(mark, "nested deeper than 32 levels; no setting is that deep, look for a stray bracket");
    }
    node.kind = kind;
    open_.push_back({&node, false});
  }

  void close() {
    open_.pop_back();
    leave_key();
  }

  void leave_key() {
    if (!open_.empty()) {
      open_.back().has_key = false;
    }
  }

  Node root_;
  std::vector<Open> open_;
};

/// Octets of the UTF-8 sequence that begins here (RFC 3629 §4); 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = at(0);
  const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0U) != 0x80U) {
      return 0;
    }
  }
  const bool overlong = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
  const bool surrogate = first == 0xed && at(1) >= 0xa0;
  return overlong || surrogate || (first == 0xf4 && at(1) >= 0x90) ? 0 : length;
}

/// yaml-cpp reads byte 4 as the end of the input, takes NULs for UTF-16 and replaces what is not UTF-8:
/// such bytes would hide the rest of the file, or change a password.
std::optional<SyntaxError> find_binary(std::string_view text) {
  Place place{1, 1};
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    if (length == 0 || (first < 0x20 && first != '\n' && first != '\r' && first != '\t') || first == 0x7f) {
      return SyntaxError{place, length == 0 ? "a byte that is not UTF-8; save the file as UTF-8 text" : "a control character; remove it"};
    }
    place = first == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + static_cast<int>(length)};
    text.remove_prefix(length);
  }
  return std::nullopt;
}

/// Our words where yaml-cpp's would quote the file (a password may be what it quotes) or are unclear.
std::string reword(const std::string& message) {
  if (message.starts_with("the referenced anchor is not defined")) {
    return kNoAliases;
  }
  if (message.starts_with("unknown escape character")) {
    return "unknown escape in a double-quoted text; write \\\\ for a backslash, or use single quotes";
  }
  return "not valid YAML: " + message.substr(0, message.find(": "));
}

}  // namespace

std::expected<Node, SyntaxError> parse_yaml(const std::string& text) {
  if (text.size() > kMaxFileBytes) {
    return std::unexpected(SyntaxError{{}, "larger than 1 MiB; no configuration is that long"});
  }
  if (auto binary = find_binary(text)) {
    return std::unexpected(*std::move(binary));
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder tree;
    parser.HandleNextDocument(tree);
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
      const Place place = second.take().place;
      return std::unexpected(SyntaxError{place, "a second YAML document; keep one, without `---` between parts"});
    }
    return tree.take();
  } catch (const Refused& fault) {
    return std::unexpected(SyntaxError{place_of(fault.mark), fault.msg});
  } catch (const YAML::Exception& fault) {
    return std::unexpected(SyntaxError{place_of(fault.mark), reword(fault.msg)});
  }
}

}  // namespace dohmux::config
