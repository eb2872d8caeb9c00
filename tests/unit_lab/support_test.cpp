// The helpers of tests/support themselves.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <thread>

#include "support/dns_client.h"
#include "support/process.h"

namespace dohmux::test {

namespace {

// Answers what it likes to each datagram, on a thread of its own.
class Responder {
 public:
  explicit Responder(bool (*wants)(std::size_t)) : wants_(wants), fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(fd_ >= 0);
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    socklen_t length = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  ~Responder() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void serve() {
    std::array<char, 2048> buffer{};
    sockaddr_in peer{};
    for (std::size_t count = 0;; ++count) {
      socklen_t length = sizeof peer;
      const ssize_t size = ::recvfrom(fd_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&peer), &length);
      if (size <= 0) {
        return;
      }
      if (wants_(count)) {
        buffer[2] = static_cast<char>(static_cast<unsigned char>(buffer[2]) | 0x80U);
        ::sendto(fd_, buffer.data(), static_cast<std::size_t>(size), 0, reinterpret_cast<const sockaddr*>(&peer), length);
      }
    }
  }

  bool (*wants_)(std::size_t);
  int fd_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a process is run, read, signalled and waited for") {
  const Outcome done =
      run({"sh", {"-c", "echo out; echo err >&2; echo $VARIABLE; exit 3"}, {{"VARIABLE", "value"}, {"PATH", "/usr/bin:/bin"}}});
  CHECK(done.status == 3);
  CHECK(done.output == "out\nvalue\n");
  CHECK(done.errors == "err\n");
  CHECK(run({"no-such-program", {}, {}}).status == 127);
  Process sleeper({"sh", {"-c", "echo begun; sleep 60"}, {}});
  CHECK(sleeper.wait_for_line("beg", std::chrono::seconds(5)) == "begun");
  CHECK(sleeper.running());
  sleeper.signal(SIGTERM);
  CHECK(sleeper.wait(std::chrono::seconds(5)) == 128 + SIGTERM);
  CHECK_FALSE(sleeper.wait_for_line("never", std::chrono::seconds(5)).has_value());
}

TEST_CASE("a batch asks each name once and matches replies by id") {
  const Responder responder([](std::size_t) { return true; });
  BatchOptions options;
  options.port = responder.port();
  options.queries = 300;
  options.in_flight = 20;
  std::size_t last = 0;
  options.on_finished = [&last](std::size_t done) { last = done; };
  const BatchResult result = run_batch(options);
  CHECK(result.answered() == 300);
  CHECK(result.with_rcode(0) == 300);
  CHECK(result.with_answer() == 0);
  CHECK(result.strange == 0);
  CHECK(last == 300);
}

TEST_CASE("a batch does not ask again: what is not answered is missing") {
  const Responder responder([](std::size_t count) { return count % 3 != 0; });
  BatchOptions options;
  options.port = responder.port();
  options.queries = 30;
  options.in_flight = 10;
  options.timeout = Millis(100);
  CHECK(run_batch(options).answered() == 20);
}

TEST_CASE("replies are read with EDE and flags") {
  std::string message = make_query({"a.example", 1, Edns::DnssecOk}, 7);
  CHECK_FALSE(read_reply(message).came);
  message[2] = static_cast<char>(0x83);  // QR, TC, RD
  message[3] = 2;
  message[message.size() - 1] = 8;  // RDLENGTH
  message += std::string("\x00\x0f\x00\x04\x00\x17no", 8);
  const Reply reply = read_reply(message);
  CHECK(reply.came);
  CHECK(reply.id == 7);
  CHECK(reply.rcode == 2);
  CHECK(reply.truncated);
  CHECK(reply.ede == 23);
  CHECK(reply.ede_text == "no");
}

}  // namespace dohmux::test
