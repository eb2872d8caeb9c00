// Where passwords come from. It must not put a password, a file name or a variable's name into a message:
// somebody will write the password itself there, and the place in the file says enough.
#include "config/secrets.h"

#include <fmt/format.h>

#include <cstdlib>

#include "config/files.h"

namespace dohmux::config {

std::optional<std::string> read_secret_file(const Field& field) {
  const auto name = field.secret();
  if (!name) {
    return std::nullopt;
  }
  const auto& context = field.context();
  auto content = read_file_bytes(resolve_name(context.folder, name->value), kMaxSecretBytes);
  if (!content) {
    field.error(fmt::format("the file named here cannot be read: {}; give a file that holds the password alone", content.error()));
    return std::nullopt;
  }
  if (content->mode == FileMode::Shared) {
    field.context().diagnostics.warning(
        fmt::format("{} (line {}): the password file may be read by other users; chmod 600 it", field.path(), field.where().place.line));
  }
  std::string& bytes = content->bytes;
  if (bytes.ends_with('\n')) {
    bytes.pop_back();
    if (bytes.ends_with('\r')) {
      bytes.pop_back();
    }
  }
  if (bytes.empty()) {
    field.error("the file named here is empty; write the password into it");
    return std::nullopt;
  }
  return std::move(bytes);
}

std::optional<std::string> read_secret_variable(const Field& field) {
  const auto name = field.secret();
  if (!name) {
    return std::nullopt;
  }
  const char* value = std::getenv(name->value.c_str());  // NOLINT(concurrency-mt-unsafe): read at start, before threads
  if (value == nullptr || *value == '\0') {
    field.error("the environment variable named here is not set or empty; give the name of one that holds the password");
    return std::nullopt;
  }
  return std::string(value);
}

std::optional<std::string> read_inline_secret(const Field& field) {
  auto text = field.secret();
  if (!text) {
    return std::nullopt;
  }
  if (text->value.empty()) {
    field.error("is empty; give the password, or better password_file");
    return std::nullopt;
  }
  if (text->literal && field.context().mode == FileMode::Shared) {
    field.error("a password in a file that other users may read; chmod 600 the file, or use password_file or password_env");
    return std::nullopt;
  }
  return std::move(text->value);
}

}  // namespace dohmux::config
