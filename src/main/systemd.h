// The notification protocol of systemd (sd_notify(3)), without its library.
#pragma once

#include <string>

namespace dohmux::program {

/// Sends `state` ("READY=1\nSTATUS=…") to $NOTIFY_SOCKET; does nothing outside systemd. A lost message is not an error:
/// there is nobody to tell.
void notify_systemd(const std::string& state);

}  // namespace dohmux::program
