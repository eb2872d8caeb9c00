// From libcurl's codes and what we saw ourselves to FailureKind: the one place where codes are interpreted.
#pragma once

#include <curl/curl.h>

#include <string>
#include <string_view>

#include "transport/curl/tcp.h"
#include "transport/transport.h"

namespace dohmux::transport {

/// What is known about a dial that did not succeed.
struct DialEvidence {
  CURLcode code = CURLE_OK;
  bool via_proxy = false;
  bool timed_out = false;
  bool socket_opened = false;    // at least one socket was handed to libcurl
  bool tcp_established = false;  // one of them got through
  int connect_status = 0;        // of the proxy's reply to CONNECT; 0: none
  long os_error = 0;
  long verify_result = 0;  // X509_V_*
  std::string_view text;   // libcurl's error buffer
};
[[nodiscard]] Failure classify_dial(const DialEvidence& evidence);

/// What is known about a request that did not succeed.
struct SendEvidence {
  CURLcode code = CURLE_OK;
  bool started = false;         // the request was handed to a connection
  bool resend_refused = false;  // libcurl wanted to send it again, and we did not let it
  bool http1 = false;
  bool header_seen = false;
  bool too_large = false;
  bool coded = false;
  bool evicted = false;
  bool woken = false;  // the connection had been idle before, and has answered nothing since
  // For a refused resend, both as they were at that moment.
  TcpState connection = TcpState::Established;
  std::string_view text;  // libcurl's error buffer
};
[[nodiscard]] Failure classify_send(const SendEvidence& evidence);

}  // namespace dohmux::transport
