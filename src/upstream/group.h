// A named set of upstreams and the way to choose among them; the Exchanger that the resolver sees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stats/metrics.h"
#include "upstream/exchanger.h"
#include "upstream/exits.h"
#include "upstream/host.h"

namespace dohmux::upstream {

/// One resolver as its group sees it. The host may be shared by several upstreams.
struct Upstream {
  std::string name;
  Host* host = nullptr;
  std::string host_name;
  std::string path;
  HttpMethod method = HttpMethod::Post;
  std::size_t metric = 0;
};

class Group final : public Exchanger {
 public:
  Group(std::vector<Upstream> upstreams, Strategy strategy, HostWorld world);

  [[nodiscard]] std::unique_ptr<Call> exchange(const dns::Query& query, Bytes message, TimePoint deadline, Done done) override;

  /// The index of an upstream not yet in `tried`: the first worth asking, else the first; nullopt when all were tried.
  /// `start` is where the walk begins.
  [[nodiscard]] std::optional<std::size_t> pick(std::size_t start, const std::vector<std::uint8_t>& tried) const;
  [[nodiscard]] const Upstream& at(std::size_t index) const { return upstreams_[index]; }
  [[nodiscard]] std::size_t size() const { return upstreams_.size(); }
  [[nodiscard]] const HostWorld& world() const { return world_; }

 private:
  std::vector<Upstream> upstreams_;
  Strategy strategy_;
  std::size_t turn_ = 0;
  HostWorld world_;
};

}  // namespace dohmux::upstream
