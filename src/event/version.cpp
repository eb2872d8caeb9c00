// Version of libuv at run time; nothing else.
#include "event/version.h"

#include <uv.h>

namespace dohmux::event {
std::string library_version() {
  return uv_version_string();
}
}  // namespace dohmux::event
