// DNS over HTTPS by libcurl's multi interface on our loop. The door of this folder: nothing else of it is included
// from outside.
#pragma once

#include <memory>

#include "event/loop.h"
#include "transport/transport.h"

namespace dohmux::transport {

/// `loop` outlives the transport; the transport outlives its lanes.
[[nodiscard]] std::unique_ptr<Transport> make_curl_transport(event::Loop& loop);

}  // namespace dohmux::transport
