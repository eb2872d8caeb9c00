// The control socket: lines in, replies out, each ended by a line ".".
#pragma once

#include <map>
#include <memory>
#include <string>

#include "support/lab/laboratory.h"
#include "support/lab/loop.h"

namespace lab {

class ControlServer final : public Pollable {
 public:
  ControlServer(Laboratory& laboratory, Loop& loop);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer() override;

  [[nodiscard]] Result<void> start(const std::string& path);
  void on_ready(std::uint32_t events) override;

 private:
  class Client;

  void forget(int fd);

  Laboratory& laboratory_;
  Loop& loop_;
  UniqueFd listener_;
  std::map<int, std::unique_ptr<Client>> clients_;
};

}  // namespace lab
