// One row per way to fail: evidence in, kind and phase out.
#include "transport/curl/failure.h"

#include <openssl/x509_vfy.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cerrno>

namespace dohmux::transport {

namespace {

constexpr std::string_view kAlert = "TLS connect error: error:0A000410:SSL routines::sslv3 alert handshake failure";

DialEvidence proxied(CURLcode code) {
  return {.code = code, .via_proxy = true, .timed_out = false, .socket_opened = true, .tcp_established = true, .text = ""};
}

DialEvidence direct(CURLcode code) {
  DialEvidence evidence = proxied(code);
  evidence.via_proxy = false;
  return evidence;
}

DialEvidence tunnelled(CURLcode code, int status = 200) {
  DialEvidence evidence = proxied(code);
  evidence.connect_status = status;
  return evidence;
}

DialEvidence late(DialEvidence evidence, bool established) {
  evidence.timed_out = true;
  evidence.tcp_established = established;
  return evidence;
}

SendEvidence sent(CURLcode code, TcpState connection = TcpState::Established) {
  return {.code = code, .started = true, .connection = connection, .text = ""};
}

SendEvidence resend(std::string_view text, TcpState connection, bool woken = false) {
  return {.code = CURLE_COULDNT_CONNECT, .started = true, .resend_refused = true, .woken = woken, .connection = connection, .text = text};
}

struct DialRow {
  DialEvidence evidence;
  FailureKind kind;
  Phase phase;
};

struct SendRow {
  SendEvidence evidence;
  FailureKind kind;
};

}  // namespace

TEST_CASE("what a dial through a proxy can end with") {
  DialEvidence gave_up = proxied(CURLE_COULDNT_CONNECT);
  gave_up.os_error = ETIMEDOUT;
  const std::vector<DialRow> rows = {
      {proxied(CURLE_COULDNT_CONNECT), FailureKind::ProxyRefused, Phase::ProxyConnect},
      {gave_up, FailureKind::ProxySilent, Phase::ProxyConnect},
      {late(proxied(CURLE_OPERATION_TIMEDOUT), false), FailureKind::ProxySilent, Phase::ProxyConnect},
      {late(proxied(CURLE_OPERATION_TIMEDOUT), true), FailureKind::TunnelSilent, Phase::Tunnel},
      {proxied(CURLE_RECV_ERROR), FailureKind::ProxyClosed, Phase::Tunnel},
      {proxied(CURLE_SEND_ERROR), FailureKind::ProxyClosed, Phase::Tunnel},
      {proxied(CURLE_GOT_NOTHING), FailureKind::ProxyClosed, Phase::Tunnel},
      {proxied(CURLE_WEIRD_SERVER_REPLY), FailureKind::ProxyClosed, Phase::Tunnel},
      {tunnelled(CURLE_RECV_ERROR, 407), FailureKind::ProxyAuth, Phase::Tunnel},
      {tunnelled(CURLE_RECV_ERROR, 403), FailureKind::TunnelRefused, Phase::Tunnel},
      {tunnelled(CURLE_RECV_ERROR, 503), FailureKind::TunnelRefused, Phase::Tunnel},
      {tunnelled(CURLE_RECV_ERROR, 302), FailureKind::TunnelRefused, Phase::Tunnel},
      {tunnelled(CURLE_SSL_CONNECT_ERROR), FailureKind::TunnelBroken, Phase::TlsHandshake},
      {tunnelled(CURLE_RECV_ERROR), FailureKind::TunnelBroken, Phase::TlsHandshake},
      {late(tunnelled(CURLE_OPERATION_TIMEDOUT), true), FailureKind::TunnelBroken, Phase::TlsHandshake},
      {tunnelled(CURLE_PEER_FAILED_VERIFICATION), FailureKind::Certificate, Phase::TlsHandshake},
      {tunnelled(CURLE_SSL_PINNEDPUBKEYNOTMATCH), FailureKind::Certificate, Phase::TlsHandshake},
      {proxied(CURLE_OUT_OF_MEMORY), FailureKind::Internal, Phase::Connect},
      {proxied(CURLE_COULDNT_RESOLVE_PROXY), FailureKind::Internal, Phase::Connect},
  };
  for (const DialRow& row : rows) {
    const Failure failure = classify_dial(row.evidence);
    CAPTURE(static_cast<int>(row.evidence.code), row.evidence.connect_status, failure.detail);
    CHECK(failure.kind == row.kind);
    CHECK(failure.phase == row.phase);
    CHECK_FALSE(failure.detail.empty());
  }
  CHECK(classify_dial(tunnelled(CURLE_RECV_ERROR, 503)).http_status == 503);
  CHECK(classify_dial(tunnelled(CURLE_RECV_ERROR)).http_status == 0);
}

TEST_CASE("what a direct dial can end with") {
  DialEvidence gave_up = direct(CURLE_COULDNT_CONNECT);
  gave_up.os_error = ETIMEDOUT;
  const std::vector<DialRow> rows = {
      {direct(CURLE_COULDNT_CONNECT), FailureKind::OriginRefused, Phase::Connect},
      {gave_up, FailureKind::OriginSilent, Phase::Connect},
      {late(direct(CURLE_OPERATION_TIMEDOUT), false), FailureKind::OriginSilent, Phase::Connect},
      {late(direct(CURLE_OPERATION_TIMEDOUT), true), FailureKind::TlsFailed, Phase::TlsHandshake},
      {direct(CURLE_SSL_CONNECT_ERROR), FailureKind::TlsFailed, Phase::TlsHandshake},
      {direct(CURLE_RECV_ERROR), FailureKind::TlsFailed, Phase::TlsHandshake},
      {direct(CURLE_PEER_FAILED_VERIFICATION), FailureKind::Certificate, Phase::TlsHandshake},
  };
  for (const DialRow& row : rows) {
    const Failure failure = classify_dial(row.evidence);
    CAPTURE(static_cast<int>(row.evidence.code), failure.detail);
    CHECK(failure.kind == row.kind);
    CHECK(failure.phase == row.phase);
  }
}

TEST_CASE("a dial that never got a socket is our own trouble") {
  DialEvidence evidence = proxied(CURLE_COULDNT_CONNECT);
  evidence.socket_opened = evidence.tcp_established = false;
  CHECK(classify_dial(evidence).kind == FailureKind::Internal);
  CHECK(classify_dial(evidence).detail == "no socket could be opened");
  evidence.code = CURLE_OPERATION_TIMEDOUT;
  evidence.timed_out = true;
  CHECK(classify_dial(evidence).detail == "no connection slot became free");
}

TEST_CASE("TLS failures say why in few words") {
  DialEvidence evidence = tunnelled(CURLE_SSL_CONNECT_ERROR);
  CHECK(classify_dial(evidence).detail == "tls: connection cut during the handshake");
  evidence.text = kAlert;
  CHECK(classify_dial(evidence).detail == "tls: sslv3 alert handshake failure");
  evidence = tunnelled(CURLE_PEER_FAILED_VERIFICATION);
  evidence.verify_result = X509_V_ERR_CERT_HAS_EXPIRED;
  CHECK(classify_dial(evidence).detail == "tls: certificate has expired");
  evidence.verify_result = X509_V_OK;
  CHECK(classify_dial(evidence).detail == "tls: certificate does not match the host name");
}

TEST_CASE("what a request can end with") {
  SendEvidence evicted = sent(CURLE_SEND_ERROR, TcpState::LocalClosed);
  evicted.evicted = true;
  SendEvidence large = sent(CURLE_WRITE_ERROR);
  large.too_large = true;
  SendEvidence coded = sent(CURLE_WRITE_ERROR);
  coded.coded = true;
  SendEvidence refused = sent(CURLE_HTTP2_STREAM);
  refused.text = "HTTP/2 stream 1 was not closed cleanly: REFUSED_STREAM (err 7)";
  SendEvidence woken = sent(CURLE_HTTP2, TcpState::PeerClosed);
  woken.woken = true;
  SendEvidence answering = woken;
  answering.header_seen = true;
  SendEvidence http1 = resend("", TcpState::PeerClosed);
  http1.http1 = true;
  SendEvidence http1_woken = http1;
  http1_woken.woken = true;
  const std::vector<SendRow> rows = {
      {{.code = CURLE_COULDNT_CONNECT}, FailureKind::NotConnected},
      {{.code = CURLE_PEER_FAILED_VERIFICATION}, FailureKind::NotConnected},
      {resend("", TcpState::Established), FailureKind::Orderly},
      {resend("", TcpState::LocalClosed), FailureKind::Orderly},
      {resend("", TcpState::PeerClosed), FailureKind::Orderly},  // it closed because libcurl did
      {resend("Recv failure: Connection reset by peer", TcpState::Dead), FailureKind::ConnectionLost},
      {resend("Recv failure: Connection reset by peer", TcpState::Dead, true), FailureKind::Orderly},
      {resend("HTTP/2 stream 5 was not closed cleanly: HTTP_1_1_REQUIRED (err 13)", TcpState::Established), FailureKind::StreamReset},
      {http1, FailureKind::ConnectionLost},
      {http1_woken, FailureKind::Orderly},
      {sent(CURLE_HTTP2), FailureKind::ConnectionLost},
      {sent(CURLE_SEND_ERROR, TcpState::Dead), FailureKind::ConnectionLost},
      {sent(CURLE_RECV_ERROR, TcpState::Dead), FailureKind::ConnectionLost},
      {sent(CURLE_GOT_NOTHING, TcpState::PeerClosed), FailureKind::ConnectionLost},
      {woken, FailureKind::Orderly},
      {answering, FailureKind::ConnectionLost},
      {evicted, FailureKind::ConnectionLost},
      {sent(CURLE_HTTP2_STREAM), FailureKind::StreamReset},
      {refused, FailureKind::Orderly},
      {sent(CURLE_PARTIAL_FILE), FailureKind::BadHttp},
      {sent(CURLE_PARTIAL_FILE, TcpState::PeerClosed), FailureKind::ConnectionLost},
      {sent(CURLE_WEIRD_SERVER_REPLY), FailureKind::BadHttp},
      {sent(CURLE_TOO_LARGE), FailureKind::BadHttp},
      {large, FailureKind::TooLarge},
      {coded, FailureKind::BadHttp},
      {sent(CURLE_OPERATION_TIMEDOUT), FailureKind::Timeout},
      {sent(CURLE_OUT_OF_MEMORY), FailureKind::Internal},
  };
  for (const SendRow& row : rows) {
    const Failure failure = classify_send(row.evidence);
    CAPTURE(static_cast<int>(row.evidence.code), row.evidence.text, failure.detail);
    CHECK(failure.kind == row.kind);
    CHECK(failure.header_seen == row.evidence.header_seen);
    CHECK_FALSE(failure.detail.empty());
  }
}

}  // namespace dohmux::transport
