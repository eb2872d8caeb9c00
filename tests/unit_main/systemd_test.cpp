// One datagram per notification, to a path or an abstract name; silence outside systemd.
#include "main/systemd.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/unique_fd.h"

namespace {

/// A bound datagram socket; `name` begins with '@' if abstract.
dohmux::UniqueFd receiver(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path[0], name.data(), name.size());
  const bool abstract = name.front() == '@';
  if (abstract) {
    address.sun_path[0] = '\0';
  }
  dohmux::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (abstract ? 0 : 1));
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0);
  return fd;
}

std::string received(const dohmux::UniqueFd& fd) {
  std::array<char, 256> buffer{};
  const auto count = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
  return count < 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(count));
}

}  // namespace

TEST_CASE("a notification reaches a socket in the file system and an abstract one") {
  std::string folder = (std::filesystem::temp_directory_path() / "dohmux-notify-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  for (const std::string& name : {folder + "/socket", "@dohmux-test-" + std::to_string(::getpid())}) {
    const auto fd = receiver(name);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    dohmux::program::notify_systemd("READY=1\nSTATUS=x");
    CHECK(received(fd) == "READY=1\nSTATUS=x");
  }
  ::unlink((folder + "/socket").c_str());
  ::rmdir(folder.c_str());
  ::unsetenv("NOTIFY_SOCKET");
}

TEST_CASE("no socket, a wrong name or nobody there: nothing happens") {
  ::unsetenv("NOTIFY_SOCKET");
  dohmux::program::notify_systemd("READY=1");
  for (const std::string& name :
       {std::string(), std::string("/"), std::string("relative"), std::string(200, '/'), std::string("/nonexistent/x")}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    dohmux::program::notify_systemd("READY=1");
  }
  ::unsetenv("NOTIFY_SOCKET");
}
