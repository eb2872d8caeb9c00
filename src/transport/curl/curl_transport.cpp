// The factory of lanes, and what they share: trust stores and the loop.
// It must not keep lanes: their user owns them.
#include "transport/curl/curl_transport.h"

#include <utility>

#include "transport/curl/ca_store.h"
#include "transport/curl/lane.h"

namespace dohmux::transport {

namespace {

class CurlTransport final : public Transport {
 public:
  explicit CurlTransport(event::Loop& loop) : loop_(loop) { initialize_libcurl(); }

  [[nodiscard]] std::expected<std::unique_ptr<Lane>, std::string> open(const LaneSpec& spec) override {
    const auto trust = stores_.get(spec.origin.ca);
    if (!trust) {
      return std::unexpected(trust.error());
    }
    auto options = LaneOptions::make(spec, *trust);
    if (!options) {
      return std::unexpected(std::move(options.error()));
    }
    return std::make_unique<CurlLane>(loop_, spec.origin, std::move(*options));
  }

 private:
  event::Loop& loop_;
  CaStores stores_;
};

}  // namespace

std::unique_ptr<Transport> make_curl_transport(event::Loop& loop) {
  return std::make_unique<CurlTransport>(loop);
}

}  // namespace dohmux::transport
