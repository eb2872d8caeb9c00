// The one rule for names of proxies, upstreams and groups.
// It must not know what is named.
#include <fmt/format.h>

#include "config/readers.h"

namespace dohmux::config {

void check_name(const Text& name, Diagnostics& diagnostics) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
  constexpr std::size_t kMaxName = 253;
  if (name.value.size() > kMaxName || name.value.find_first_not_of(kAllowed) != std::string::npos) {
    diagnostics.error(name.where,
                      fmt::format("{} is not a name; use letters, digits and . _ : - (at most {} of them)", name.shown, kMaxName));
  }
}

}  // namespace dohmux::config
