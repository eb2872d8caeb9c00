// The corpus of odd packets against the real binary, over UDP and TCP, with good queries between.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "corpus.h"
#include "house.h"
#include "tools.h"

using namespace dohmux::test;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
using Packets = std::vector<OddPacket>;

constexpr std::size_t kBatch = 20;
constexpr Millis kReplyTime = 3000ms * kSlack;
constexpr Millis kSilence = 60ms;          // behind the last wanted reply of a batch
constexpr std::uint16_t kGoodId = 0x0ffe;  // below all ids of the corpus but 0

Packets corpus() {
  std::string error;
  const auto all = read_corpus(std::string(DOHMUX_SOURCE_DIR) + "/tests/corpus/odd_packets.txt", error);
  INFO(error);
  REQUIRE(all.has_value());
  return *all;
}

/// A datagram's socket: what comes to it is the reply to that datagram.
class Datagram {
 public:
  Datagram(std::uint16_t port, std::string_view octets) : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
      sent_ = ::send(fd_, octets.data(), octets.size(), 0) == static_cast<ssize_t>(octets.size());
    }
  }
  Datagram(const Datagram&) = delete;
  Datagram& operator=(const Datagram&) = delete;
  ~Datagram() { ::close(fd_); }

  [[nodiscard]] bool sent() const { return sent_; }
  [[nodiscard]] int fd() const { return fd_; }
  void collect(std::vector<std::string>& messages) const {
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = ::recv(fd_, buffer.data(), buffer.size(), 0)) >= 0;) {
      messages.emplace_back(buffer.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  int fd_;
  bool sent_ = false;
};

/// All at once; until all that must be answered are and for a little while after, or too much time has passed.
std::vector<Observed> send_datagrams(std::uint16_t port, std::span<const OddPacket> packets) {
  std::vector<std::unique_ptr<Datagram>> sockets;
  for (const OddPacket& packet : packets) {
    sockets.push_back(std::make_unique<Datagram>(port, packet.octets));
  }
  std::vector<Observed> observed(packets.size());
  auto end = Clock::now() + kReplyTime;
  bool settled = false;
  while (Clock::now() < end) {
    std::vector<pollfd> waiting;
    bool missing = false;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      sockets[i]->collect(observed[i].messages);
      waiting.push_back({sockets[i]->fd(), POLLIN, 0});
      missing = missing || (observed[i].messages.empty() && !packets[i].accepts(Protocol::Udp, "silent"));
    }
    if (!missing && !settled) {
      settled = true;
      end = Clock::now() + kSilence;
    }
    ::poll(waiting.data(), waiting.size(), 10);
  }
  return observed;
}

std::string with_length(std::string_view message) {
  return std::string{static_cast<char>(message.size() >> 8U), static_cast<char>(message.size() & 0xffU)}.append(message);
}

/// One connection for as many packets as it survives.
class Stream {
 public:
  explicit Stream(std::uint16_t port) : port_(port) {}

  /// A good query follows each packet. Its answer ends the wait for packets that need none.
  Observed send(const OddPacket& packet) {
    if (packet.stream) {
      return send_stream(packet);
    }
    if (!client_) {
      client_ = std::make_unique<TcpClient>(port_);
    }
    Observed observed;
    static_cast<void>(client_->send(with_length(packet.octets)) && client_->send(framed({.name = "good.x.example"}, kGoodId)));
    bool good = false;
    while (!good || (observed.messages.empty() && !packet.accepts(Protocol::Tcp, "silent"))) {
      Reply reply = client_->receive(kReplyTime);
      if (reply.message.empty()) {
        observed.closed = client_->closed_within(0ms);
        client_.reset();
        return observed;
      }
      if (reply.id == kGoodId) {
        good = reply.answers == 1;
      } else {
        observed.messages.push_back(std::move(reply.message));
      }
    }
    return observed;
  }

 private:
  [[nodiscard]] Observed send_stream(const OddPacket& packet) const {
    TcpClient client(port_);
    Observed observed;
    static_cast<void>(client.send(packet.octets));
    if (packet.finish) {
      client.finish();
    }
    for (Reply reply = client.receive(kReplyTime); !reply.message.empty(); reply = client.receive(kReplyTime)) {
      observed.messages.push_back(std::move(reply.message));
    }
    observed.closed = client.closed_within(0ms);
    return observed;
  }

  std::uint16_t port_;
  std::unique_ptr<TcpClient> client_;
};

Packets sent_over(const Packets& all, Protocol protocol) {
  Packets chosen;
  std::ranges::copy_if(all, std::back_inserter(chosen), [protocol](const OddPacket& packet) { return !packet.accepted(protocol).empty(); });
  return chosen;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " | ") + word;
  }
  return text;
}

/// Outcomes that the corpus does not accept, one a line. `replies` gets what came.
std::string wrong_outcomes(House& house, const Packets& all, Protocol protocol, std::vector<std::string>& replies) {
  const Packets packets = sent_over(all, protocol);
  std::string wrong;
  Stream stream(house.daemon.tcp_port());
  for (std::size_t at = 0; at < packets.size(); at += kBatch) {
    const auto batch = std::span(packets).subspan(at, std::min(kBatch, packets.size() - at));
    std::vector<Observed> observed;
    if (protocol == Protocol::Udp) {
      observed = send_datagrams(house.daemon.udp_port(), batch);
    } else {
      std::ranges::transform(batch, std::back_inserter(observed), [&stream](const OddPacket& packet) { return stream.send(packet); });
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (const std::string fault = judge(batch[i], protocol, observed[i]); !fault.empty()) {
        wrong += fmt::format("{} ({}): {}; accepted: {}\n", batch[i].id, batch[i].odd, fault, joined(batch[i].accepted(protocol)));
      }
      std::ranges::copy(observed[i].messages, std::back_inserter(replies));
    }
    const Reply good = ask(house.daemon.udp_port(), protocol, {.name = "good.x.example"});
    if (!good.came || good.answers != 1) {
      wrong += fmt::format("no answer to a good query behind {}\n", batch.back().id);
    }
  }
  return wrong;
}

void check_outcomes(House& house, const Packets& all) {
  for (const Protocol protocol : {Protocol::Udp, Protocol::Tcp}) {
    std::vector<std::string> replies;
    const std::string wrong = wrong_outcomes(house, all, protocol, replies);
    INFO((protocol == Protocol::Udp ? "UDP\n" : "TCP\n") << wrong);
    CHECK(wrong.empty());
  }
}

/// A connection that was just closed takes the daemon a moment to see: the number when it has not changed for a while.
long settled_descriptors(pid_t pid) {
  long count = open_descriptors(pid);
  int unchanged = 0;
  for (int i = 0; i < 200 && unchanged < 20; ++i) {
    std::this_thread::sleep_for(20ms);
    unchanged = open_descriptors(pid) == count ? unchanged + 1 : 0;
    count = open_descriptors(pid);
  }
  return count;
}

}  // namespace

TEST_CASE("odd packets: at least 300 cases, ids unique, every one accepts something") {
  const Packets all = corpus();
  CHECK(all.size() >= 300);
  std::set<std::string> ids;
  for (const OddPacket& packet : all) {
    INFO(packet.id);
    CHECK(ids.insert(packet.id).second);
    CHECK_FALSE(packet.odd.empty());
    CHECK_FALSE((packet.udp.empty() && packet.tcp.empty()));
  }
}

TEST_CASE("odd packets: no wrong outcome over UDP and TCP, nothing left behind in the daemon") {
  House house({.resolvers = 1, .proxies = 1});
  REQUIRE(house.daemon.ready());
  const Packets all = corpus();
  check_outcomes(house, all);
  const pid_t pid = house.daemon.process().pid();
  const long descriptors = settled_descriptors(pid);
  const long memory = proc_status(pid, "VmRSS");
  check_outcomes(house, all);
  CHECK(settled_descriptors(pid) == descriptors);
  if constexpr (!kSanitized) {
    CHECK(std::abs(proc_status(pid, "VmRSS") - memory) <= 1024);
  }
  for (const char* key : {"trailing", "unpadded", "id_nonzero"}) {
    INFO(key);
    CHECK(house.lab.count("r1", key) == 0);
  }
  CHECK(house.daemon.stop() == 0);
}

TEST_CASE("odd packets: what the daemon replies, sent to another, is met with silence") {
  House house({.resolvers = 1, .proxies = 1});
  Daemon other({.config = house.lab.config({})});
  REQUIRE(house.daemon.ready());
  REQUIRE(other.ready());
  std::vector<std::string> replies;
  static_cast<void>(wrong_outcomes(house, corpus(), Protocol::Udp, replies));
  REQUIRE(replies.size() > 200);
  Packets returned;
  for (const std::string& reply : replies) {
    returned.push_back({.id = "a reply", .odd = {}, .octets = reply, .udp = {"silent"}, .tcp = {}, .has = {}});
  }
  const auto answers = [](const Observed& one) { return !one.messages.empty(); };
  for (std::size_t at = 0; at < returned.size(); at += kBatch) {
    const auto batch = std::span<const OddPacket>(returned).subspan(at, std::min(kBatch, returned.size() - at));
    CHECK(std::ranges::none_of(send_datagrams(other.udp_port(), batch), answers));
  }
  CHECK(ask(other.udp_port(), Protocol::Udp, {.name = "good.x.example"}).answers == 1);
}
