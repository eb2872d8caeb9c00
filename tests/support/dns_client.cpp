// Sends batches of queries over UDP or TCP and collects what comes back.
// Must not retry, and must not know DNS messages beyond their id and length (dns_message.cpp does).
#include "support/dns_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <utility>

namespace dohmux::test {

namespace {

using Clock = std::chrono::steady_clock;

void close_if_open(int fd) {
  if (fd >= 0) {
    ::close(fd);
  }
}

int connected_socket(std::uint16_t port, int kind) {
  const int fd = ::socket(AF_INET, kind | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close_if_open(fd);
    return -1;
  }
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

// One socket and what has arrived on it.
struct Line {
  int fd = -1;
  std::string input;
  std::string output;
};

class BatchRun {
 public:
  explicit BatchRun(const BatchOptions& options) : options_(options) {
    result_.replies.resize(options.queries);
    sent_at_.resize(options.queries);
    const bool tcp = options.protocol == Protocol::Tcp;
    for (std::size_t i = 0; i < (tcp ? std::max<std::size_t>(1, options.connections) : 1); ++i) {
      lines_.push_back({connected_socket(options.port, tcp ? SOCK_STREAM : SOCK_DGRAM), {}, {}});
    }
  }
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;
  ~BatchRun() {
    for (const Line& line : lines_) {
      close_if_open(line.fd);
    }
  }

  BatchResult run() {
    const auto begin = Clock::now();
    while (finished_ < options_.queries) {
      send_more();
      wait();
      expire();
    }
    result_.wall = std::chrono::duration_cast<Millis>(Clock::now() - begin);
    return std::move(result_);
  }

 private:
  void send_more() {
    while (next_ < options_.queries && in_flight_.size() < std::min<std::size_t>(options_.in_flight, 60000)) {
      const std::size_t index = next_;
      const auto id = static_cast<std::uint16_t>(index);
      if (in_flight_.contains(id)) {
        return;  // 65,536 queries later the first with this id still waits
      }
      ++next_;
      const std::string name = options_.name ? options_.name(index) : fmt::format("q{}.batch.example", index);
      const std::string query = make_query({name, options_.type, options_.edns}, id);
      Line& line = lines_[index % lines_.size()];
      if (options_.protocol == Protocol::Tcp) {
        line.output += static_cast<char>(query.size() >> 8U);
        line.output += static_cast<char>(query.size() & 0xffU);
        line.output += query;
      } else {
        [[maybe_unused]] const ssize_t sent = ::send(line.fd, query.data(), query.size(), 0);
      }
      sent_at_[index] = Clock::now();
      in_flight_[id] = index;
      order_.push_back(index);
    }
  }

  void wait() {
    std::vector<pollfd> ready;
    ready.reserve(lines_.size());
    for (const Line& line : lines_) {
      ready.push_back({line.fd, static_cast<short>(line.output.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    }
    const auto left = order_.empty() ? Clock::duration::zero() : sent_at_[order_.front()] + options_.timeout - Clock::now();
    const auto limit = std::clamp<long>(std::chrono::duration_cast<Millis>(left).count() + 1, 0, 1000);
    ::poll(ready.data(), ready.size(), static_cast<int>(limit));
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (options_.protocol == Protocol::Tcp) {
        serve_tcp(lines_[i], ready[i].revents);
      } else if (ready[i].revents != 0) {
        read_datagrams(lines_[i]);
      }
    }
  }

  void read_datagrams(const Line& line) {
    std::array<char, 65536> buffer{};
    for (;;) {
      const ssize_t length = ::recv(line.fd, buffer.data(), buffer.size(), 0);
      if (length < 0 && errno != ECONNREFUSED) {
        return;
      }
      if (length >= 0) {
        take({buffer.data(), static_cast<std::size_t>(length)});
      }
    }
  }

  void serve_tcp(Line& line, short events) {
    if (!line.output.empty() && (events & POLLOUT) != 0) {
      const ssize_t sent = ::send(line.fd, line.output.data(), line.output.size(), MSG_NOSIGNAL);
      line.output.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) {
      return;
    }
    std::array<char, 65536> buffer{};
    const ssize_t length = ::recv(line.fd, buffer.data(), buffer.size(), 0);
    if (length == 0 || (length < 0 && errno != EAGAIN)) {
      ::close(std::exchange(line.fd, -1));  // poll ignores it from now on; its queries expire
      return;
    }
    line.input.append(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    while (line.input.size() >= 2) {
      const std::size_t size =
          (static_cast<std::size_t>(static_cast<unsigned char>(line.input[0])) << 8U) | static_cast<unsigned char>(line.input[1]);
      if (line.input.size() < size + 2) {
        return;
      }
      take(std::string_view(line.input).substr(2, size));
      line.input.erase(0, size + 2);
    }
  }

  void take(std::string_view message) {
    Reply reply = read_reply(message);
    const auto found = in_flight_.find(reply.id);
    if (!reply.came || found == in_flight_.end()) {
      ++result_.strange;
      return;
    }
    const std::size_t index = found->second;
    reply.latency = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - sent_at_[index]);
    result_.replies[index] = std::move(reply);
    finish(index);
  }

  void expire() {
    while (!order_.empty()) {
      const std::size_t index = order_.front();
      const auto found = in_flight_.find(static_cast<std::uint16_t>(index));
      const bool waiting = found != in_flight_.end() && found->second == index;
      if (waiting && sent_at_[index] + options_.timeout > Clock::now()) {
        return;
      }
      order_.pop_front();
      if (waiting) {
        finish(index);
      }
    }
  }

  void finish(std::size_t index) {
    in_flight_.erase(static_cast<std::uint16_t>(index));
    ++finished_;
    if (options_.on_finished) {
      options_.on_finished(finished_);
    }
  }

  const BatchOptions& options_;
  BatchResult result_;
  std::vector<Line> lines_;
  std::vector<Clock::time_point> sent_at_;
  std::map<std::uint16_t, std::size_t> in_flight_;  // by id
  std::deque<std::size_t> order_;                   // as sent, finished ones too
  std::size_t next_ = 0;
  std::size_t finished_ = 0;
};

template <class Wanted>
std::size_t count_replies(const std::vector<Reply>& replies, Wanted wanted) {
  return static_cast<std::size_t>(std::ranges::count_if(replies, wanted));
}

}  // namespace

std::size_t BatchResult::answered() const {
  return count_replies(replies, [](const Reply& reply) { return reply.came; });
}

std::size_t BatchResult::with_rcode(std::uint8_t rcode) const {
  return count_replies(replies, [rcode](const Reply& reply) { return reply.came && reply.rcode == rcode; });
}

std::size_t BatchResult::with_answer() const {
  return count_replies(replies, [](const Reply& reply) { return reply.came && reply.rcode == 0 && reply.answers > 0; });
}

std::map<std::uint16_t, std::size_t> BatchResult::ede_codes() const {
  std::map<std::uint16_t, std::size_t> codes;
  for (const Reply& reply : replies) {
    if (reply.ede) {
      ++codes[*reply.ede];
    }
  }
  return codes;
}

std::chrono::microseconds BatchResult::percentile(double share) const {
  std::vector<std::chrono::microseconds> latencies;
  for (const Reply& reply : replies) {
    if (reply.came) {
      latencies.push_back(reply.latency);
    }
  }
  if (latencies.empty()) {
    return std::chrono::microseconds(0);
  }
  std::ranges::sort(latencies);
  const auto index = static_cast<std::size_t>(share * static_cast<double>(latencies.size() - 1));
  return latencies[index];
}

BatchResult run_batch(const BatchOptions& options) {
  return BatchRun(options).run();
}

Reply ask(std::uint16_t port, Protocol protocol, const Question& question, Millis timeout) {
  BatchOptions options;
  options.port = port;
  options.protocol = protocol;
  options.queries = 1;
  options.in_flight = 1;
  options.timeout = timeout;
  options.edns = question.edns;
  options.type = question.type;
  options.name = [&question](std::size_t) { return question.name; };
  return run_batch(options).replies.front();
}

}  // namespace dohmux::test
