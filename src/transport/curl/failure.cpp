// The table of curl.md §6 and contract.md §3 (dial and exchange rows), as two functions without side effects.
// It must not ask the kernel or libcurl for anything: all evidence comes in.
#include "transport/curl/failure.h"

#include <fmt/format.h>
#include <openssl/x509_vfy.h>

#include <cerrno>
#include <utility>

namespace dohmux::transport {

namespace {

Failure failure(FailureKind kind, Phase phase, std::string detail) {
  return Failure{.kind = kind, .phase = phase, .http_status = 0, .header_seen = false, .detail = std::move(detail)};
}

bool is_certificate(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_ISSUER_ERROR || code == CURLE_SSL_PINNEDPUBKEYNOTMATCH ||
         code == CURLE_SSL_INVALIDCERTSTATUS;
}

// Codes by which a byte stream ends or stops making sense, whichever protocol was being spoken on it.
bool is_broken_stream(CURLcode code) {
  return code == CURLE_SSL_CONNECT_ERROR || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
         code == CURLE_HTTP2 || code == CURLE_SSL_SHUTDOWN_FAILED;
}

bool is_not_http(CURLcode code) {
  return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_BAD_CONTENT_ENCODING ||
         code == CURLE_TOO_LARGE;
}

// "TLS connect error: error:0A000410:SSL routines::sslv3 alert handshake failure" → the last part.
std::string tls_detail(std::string_view text, CURLcode code) {
  const auto colons = text.rfind("::");
  if (colons != std::string_view::npos) {
    return fmt::format("tls: {}", text.substr(colons + 2));
  }
  return code == CURLE_SSL_CONNECT_ERROR ? "tls: connection cut during the handshake" : fmt::format("tls: {}", curl_easy_strerror(code));
}

std::string certificate_detail(long verify_result) {
  if (verify_result == X509_V_OK || verify_result == X509_V_ERR_UNSPECIFIED) {  // the chain is good: libcurl compared the names
    return "tls: certificate does not match the host name";
  }
  return fmt::format("tls: {}", X509_verify_cert_error_string(verify_result));
}

std::string internal_detail(const DialEvidence& evidence) {
  if (!evidence.socket_opened && evidence.code == CURLE_COULDNT_CONNECT) {
    return "no socket could be opened";
  }
  return evidence.timed_out ? "no connection slot became free" : fmt::format("libcurl: {}", curl_easy_strerror(evidence.code));
}

bool is_internal(const DialEvidence& evidence) {
  if (!evidence.socket_opened) {
    return true;
  }
  return !(evidence.timed_out || evidence.code == CURLE_COULDNT_CONNECT || is_certificate(evidence.code) ||
           is_broken_stream(evidence.code) || is_not_http(evidence.code));
}

Failure classify_tls(const DialEvidence& evidence) {
  if (!evidence.timed_out && is_certificate(evidence.code)) {
    return failure(FailureKind::Certificate, Phase::TlsHandshake, certificate_detail(evidence.verify_result));
  }
  const FailureKind kind = evidence.via_proxy ? FailureKind::TunnelBroken : FailureKind::TlsFailed;
  return failure(kind, Phase::TlsHandshake,
                 evidence.timed_out ? "tls: handshake not finished in time" : tls_detail(evidence.text, evidence.code));
}

Failure classify_proxy_dial(const DialEvidence& evidence) {
  if (evidence.connect_status / 100 == 2) {
    return classify_tls(evidence);
  }
  if (evidence.connect_status != 0) {
    constexpr int kAuthenticationRequired = 407;
    const bool auth = evidence.connect_status == kAuthenticationRequired;
    Failure result = failure(auth ? FailureKind::ProxyAuth : FailureKind::TunnelRefused, Phase::Tunnel,
                             fmt::format("tunnel: http {}", evidence.connect_status));
    result.http_status = evidence.connect_status;
    return result;
  }
  if (evidence.timed_out) {
    return evidence.tcp_established ? failure(FailureKind::TunnelSilent, Phase::Tunnel, "tunnel: no reply to CONNECT in time")
                                    : failure(FailureKind::ProxySilent, Phase::ProxyConnect, "proxy: no TCP connection in time");
  }
  if (evidence.code == CURLE_COULDNT_CONNECT) {
    return evidence.os_error == ETIMEDOUT ? failure(FailureKind::ProxySilent, Phase::ProxyConnect, "proxy: no TCP connection in time")
                                          : failure(FailureKind::ProxyRefused, Phase::ProxyConnect, "proxy: TCP connection refused");
  }
  return failure(FailureKind::ProxyClosed, Phase::Tunnel,
                 is_not_http(evidence.code) ? "proxy: its reply to CONNECT is not HTTP" : "proxy: closed before its reply to CONNECT");
}

Failure classify_direct_dial(const DialEvidence& evidence) {
  if (evidence.timed_out && !evidence.tcp_established) {
    return failure(FailureKind::OriginSilent, Phase::Connect, "no TCP connection in time");
  }
  if (!evidence.timed_out && evidence.code == CURLE_COULDNT_CONNECT) {
    return evidence.os_error == ETIMEDOUT ? failure(FailureKind::OriginSilent, Phase::Connect, "no TCP connection in time")
                                          : failure(FailureKind::OriginRefused, Phase::Connect, "TCP connection refused");
  }
  return classify_tls(evidence);
}

bool ended_by_peer(const SendEvidence& evidence) {
  return evidence.connection == TcpState::PeerClosed || evidence.connection == TcpState::Dead;
}

// A connection that ended under a request.
Failure lost(const SendEvidence& evidence, std::string detail) {
  if (ended_by_peer(evidence) && evidence.woken && !evidence.header_seen) {
    return failure(FailureKind::Orderly, Phase::Send, "idle connection found closed");
  }
  return failure(FailureKind::ConnectionLost, Phase::Receive, std::move(detail));
}

// libcurl sends again of its own accord after REFUSED_STREAM, which is also how nghttp2 reports streams above a GOAWAY's
// last id, without a word; after an error in receiving, having described it; and, on HTTP/1.1, when a connection closed.
Failure classify_refused_resend(const SendEvidence& evidence) {
  if (evidence.text.starts_with("HTTP/2 stream")) {
    return failure(FailureKind::StreamReset, Phase::Receive, "stream reset");
  }
  if (evidence.http1 || !evidence.text.empty()) {
    return lost(evidence, evidence.connection == TcpState::PeerClosed ? "connection closed by the peer" : "connection reset");
  }
  return failure(FailureKind::Orderly, Phase::Send, "not processed: GOAWAY or REFUSED_STREAM");
}

Failure classify_sent(const SendEvidence& evidence) {
  if (evidence.too_large) {
    return failure(FailureKind::TooLarge, Phase::Receive, "body larger than 65535 octets");
  }
  if (evidence.evicted) {
    return failure(FailureKind::ConnectionLost, Phase::Receive, "connection evicted as dead");
  }
  if (evidence.resend_refused) {
    return classify_refused_resend(evidence);
  }
  if (evidence.coded) {
    return failure(FailureKind::BadHttp, Phase::Receive, "body coded in a way not asked for");
  }
  if (evidence.code == CURLE_HTTP2_STREAM) {
    return evidence.text.contains("REFUSED_STREAM") ? failure(FailureKind::Orderly, Phase::Send, "not processed: REFUSED_STREAM")
                                                    : failure(FailureKind::StreamReset, Phase::Receive, "stream reset");
  }
  if (evidence.code == CURLE_PARTIAL_FILE) {
    return ended_by_peer(evidence) ? failure(FailureKind::ConnectionLost, Phase::Receive, "connection lost in the body")
                                   : failure(FailureKind::BadHttp, Phase::Receive, "body cut short");
  }
  if (is_broken_stream(evidence.code)) {
    return lost(evidence, evidence.connection == TcpState::Dead ? "connection reset" : "connection lost");
  }
  if (is_not_http(evidence.code)) {
    return failure(FailureKind::BadHttp, Phase::Receive, "not a valid HTTP answer");
  }
  if (evidence.code == CURLE_OPERATION_TIMEDOUT) {
    return failure(FailureKind::Timeout, Phase::Receive, "no complete answer in time");
  }
  return failure(FailureKind::Internal, Phase::Send, fmt::format("libcurl: {}", curl_easy_strerror(evidence.code)));
}

}  // namespace

Failure classify_dial(const DialEvidence& evidence) {
  if (is_internal(evidence)) {
    return failure(FailureKind::Internal, Phase::Connect, internal_detail(evidence));
  }
  return evidence.via_proxy ? classify_proxy_dial(evidence) : classify_direct_dial(evidence);
}

Failure classify_send(const SendEvidence& evidence) {
  if (!evidence.started) {
    return failure(FailureKind::NotConnected, Phase::Connect, "no live connection");
  }
  Failure result = classify_sent(evidence);
  result.header_seen = evidence.header_seen;
  return result;
}

}  // namespace dohmux::transport
