// Reads a whole file that must be small, with the mode that it had when it was opened.
// It must not print names: the name of a password file may be a password put into the wrong key.
#include "config/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/unique_fd.h"

namespace dohmux::config {
namespace {

std::string explain(int error) {
  switch (error) {
    case ENOENT:
      return "there is no such file";
    case EACCES:
    case EPERM:
      return "permission denied";
    case EISDIR:
      return "it is a folder";
    default:
      return std::generic_category().message(error);
  }
}

}  // namespace

std::expected<FileContent, std::string> read_file_bytes(const std::string& name, std::size_t max_bytes) {
  const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));  // NOLINT(cppcoreguidelines-pro-type-vararg): POSIX
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return std::unexpected(explain(errno));
  }
  FileContent content;
  content.mode = (status.st_mode & (S_IRGRP | S_IROTH)) != 0 ? FileMode::Shared : FileMode::Private;
  std::array<char, 16384> buffer{};
  while (content.bytes.size() <= max_bytes) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return std::unexpected(explain(errno));
    }
    if (count == 0) {
      return content;
    }
    content.bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return std::unexpected("it is larger than " + std::to_string(max_bytes) + " bytes");
}

std::string resolve_name(const std::string& folder, const std::string& name) {
  return name.starts_with('/') ? name : folder + name;
}

}  // namespace dohmux::config
