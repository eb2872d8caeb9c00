// An Exchanger that keeps each question until the test answers it, and a ReplySink that records.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "resolver/client.h"
#include "upstream/exchanger.h"

namespace dohmux::test {

class FakeExchanger final : public upstream::Exchanger {
 public:
  struct Asked {
    Bytes message;
    TimePoint deadline;
    Done done;
    bool cancelled = false;
  };

  [[nodiscard]] std::unique_ptr<Call> exchange(const dns::Query&, Bytes message, TimePoint deadline, Done done) override {
    asked.push_back(Asked{.message = std::move(message), .deadline = deadline, .done = std::move(done)});
    return std::make_unique<Ticket>(asked.back());
  }

  std::list<Asked> asked;

 private:
  struct Ticket final : Call {
    explicit Ticket(Asked& one) : of(one) {}
    ~Ticket() override { of.cancelled = true; }
    Asked& of;
  };
};

class RecordingSink final : public ReplySink {
 public:
  void reply(const Client& client, ByteView message) override {
    clients.push_back(client);
    replies.emplace_back(message.begin(), message.end());
  }
  void no_reply(const Client&) override { ++silent; }

  std::vector<Client> clients;
  std::vector<Bytes> replies;
  int silent = 0;
};

}  // namespace dohmux::test
