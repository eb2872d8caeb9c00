// The table of contract.md §3. Each case is one of its rows; tests/scenario has one test for each.
#include "upstream/rules.h"

#include <fmt/format.h>

namespace dohmux::upstream {

using transport::FailureKind;

Verdict judge_dial(const transport::Failure& failure) {
  switch (failure.kind) {
    case FailureKind::ProxyRefused:
    case FailureKind::ProxySilent:
    case FailureKind::ProxyClosed:
    case FailureKind::ProxyAuth:
      return {Again::NotSent, Move::Leave, Book::Proxy};
    case FailureKind::Certificate:
      return {Again::NotSent, Move::Stay, Book::Host};
    case FailureKind::Internal:
      return {Again::NotSent, Move::Stay, Book::Host};
    default:  // the tunnel or what lies behind it; without a proxy, the way to the origin
      return {Again::NotSent, Move::Leave, Book::Lane};
  }
}

Verdict judge_exchange(const transport::Failure& failure, const transport::ConnectionUse& use) {
  switch (failure.kind) {
    case FailureKind::ConnectionLost:
      if (failure.header_seen) {
        return {Again::OtherUpstream, Move::Stay, Book::Host};  // an answer had begun: not the row for a lost connection
      }
      return {Again::Once, Move::Leave, Book::Lane};
    case FailureKind::Orderly:
      return {Again::Once, Move::Stay, Book::Nobody};
    case FailureKind::StreamReset:
      return {Again::Once, Move::Stay, Book::Host};
    case FailureKind::Timeout:
      return use.received_since ? Verdict{Again::Once, Move::Stay, Book::Host} : Verdict{Again::Once, Move::Leave, Book::Lane};
    default:
      return judge_bad_answer();
  }
}

std::string_view word(FailureKind kind) {
  switch (kind) {
    case FailureKind::ProxyRefused:
      return "proxy_refused";
    case FailureKind::ProxySilent:
      return "proxy_silent";
    case FailureKind::ProxyClosed:
      return "proxy_closed";
    case FailureKind::ProxyAuth:
      return "proxy_auth";
    case FailureKind::TunnelRefused:
      return "tunnel_refused";
    case FailureKind::TunnelSilent:
      return "tunnel_silent";
    case FailureKind::TunnelBroken:
      return "tunnel_broken";
    case FailureKind::OriginRefused:
      return "origin_refused";
    case FailureKind::OriginSilent:
      return "origin_silent";
    case FailureKind::TlsFailed:
      return "tls_failed";
    case FailureKind::Certificate:
      return "certificate";
    case FailureKind::NotConnected:
      return "not_connected";
    case FailureKind::ConnectionLost:
      return "connection_lost";
    case FailureKind::Orderly:
      return "orderly_close";
    case FailureKind::StreamReset:
      return "stream_reset";
    case FailureKind::Timeout:
      return "timeout";
    case FailureKind::TooLarge:
      return "too_large";
    case FailureKind::BadHttp:
      return "bad_http";
    case FailureKind::Internal:
      return "internal";
  }
  return "internal";
}

namespace {

std::string_view stage(FailureKind kind) {
  switch (kind) {
    case FailureKind::ProxyRefused:
    case FailureKind::ProxySilent:
    case FailureKind::ProxyClosed:
    case FailureKind::ProxyAuth:
      return "proxy";
    case FailureKind::TunnelRefused:
    case FailureKind::TunnelSilent:
      return "tunnel";
    case FailureKind::TunnelBroken:
    case FailureKind::TlsFailed:
    case FailureKind::Certificate:
      return "tls";
    case FailureKind::OriginRefused:
    case FailureKind::OriginSilent:
      return "connect";
    default:
      return "exchange";
  }
}

}  // namespace

std::string stage_text(const transport::Failure& failure) {
  if (failure.http_status != 0) {
    return fmt::format("{}: http {}", stage(failure.kind), failure.http_status);
  }
  if (failure.detail.empty()) {
    return fmt::format("{}: {}", stage(failure.kind), word(failure.kind));
  }
  const std::string prefix = fmt::format("{}: ", stage(failure.kind));
  return failure.detail.starts_with(prefix) ? failure.detail : prefix + failure.detail;
}

}  // namespace dohmux::upstream
