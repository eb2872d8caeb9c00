// Connections, deadlines and reply heads of the HTTP endpoint.
// It must not know what is served: paths belong to the handler, syntax to request_head.
#include "web/endpoint.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "event/tcp_stream.h"
#include "web/request_head.h"

namespace dohmux::web {

namespace {

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 414:
      return "URI Too Long";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

int status_of(HeadFault fault) {
  switch (fault) {
    case HeadFault::MethodNotAllowed:
      return 405;
    case HeadFault::UriTooLong:
      return 414;
    case HeadFault::Misdirected:
      return 421;
    case HeadFault::TooLarge:
      return 431;
    case HeadFault::Version:
      return 505;
    case HeadFault::Incomplete:
    case HeadFault::Malformed:
      break;
  }
  return 400;
}

WebReply fault_reply(HeadFault fault) {
  const int status = status_of(fault);
  std::string text = fmt::format("{} {}\n", status, reason(status));
  if (fault == HeadFault::Misdirected) {
    text += "Use an IP address or localhost in the URL: other names are refused, as a guard against DNS rebinding.\n";
  }
  return {.status = status, .body = std::move(text)};
}

Bytes render(const WebReply& reply, Method method, AfterReply after) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: {}\r\n{}\r\n",
      reply.status, reason(reply.status), reply.content_type, reply.body.size(), after == AfterReply::Close ? "close" : "keep-alive",
      reply.status == 405 ? "Allow: GET, HEAD\r\n" : "");
  Bytes octets(head.begin(), head.end());
  if (method == Method::Get) {
    octets.insert(octets.end(), reply.body.begin(), reply.body.end());
  }
  return octets;
}

}  // namespace

struct WebEndpoint::Connection {
  std::uint64_t id = 0;
  std::optional<event::TcpStream> stream;  // nothing: closed
  std::string received;
  bool last_reply = false;     // what else comes is ignored
  bool peer_finished = false;  // requests that came before its FIN are answered
  std::unique_ptr<Timer> timer;
};

WebEndpoint::WebEndpoint(event::Loop& loop, UniqueFd listening, Handler handler, const WebLimits& limits)
    : loop_(loop),
      handler_(std::move(handler)),
      limits_(limits),
      bury_(loop, [this] { closed_.clear(); }),
      acceptor_(loop, std::move(listening), [this](UniqueFd fd, const Endpoint&) { accept(std::move(fd)); }) {}

WebEndpoint::~WebEndpoint() = default;

void WebEndpoint::accept(UniqueFd fd) {
  if (!make_room()) {
    ++counters_.refused;
    return;
  }
  ++counters_.accepted;
  auto owned = std::make_unique<Connection>();
  Connection& connection = *owned;
  connection.id = ++last_id_;
  connections_.emplace(connection.id, std::move(owned));
  connection.stream.emplace(loop_, std::move(fd),
                            event::TcpStream::Handlers{
                                .data =
                                    [this, &connection](ByteView octets) {
                                      if (!connection.last_reply) {
                                        connection.received.append(octets.begin(), octets.end());
                                        serve(connection);
                                      }
                                    },
                                .end =
                                    [this, &connection](int error) {
                                      connection.peer_finished = true;
                                      if (error != 0) {
                                        close(connection);
                                      } else {
                                        serve(connection);
                                      }
                                    },
                                .drained = [this, &connection] { serve(connection); },
                            });
  connection.stream->start_reading();
  restart_timer(connection, limits_.request);
}

// A kept-alive connection without a request gives way to a new client.
bool WebEndpoint::make_room() {
  if (connections_.size() < limits_.connections) {
    return true;
  }
  Connection* oldest = nullptr;
  for (const auto& [id, connection] : connections_) {
    const bool idle = connection->received.empty() && connection->stream->unsent() == 0;
    if (idle && (oldest == nullptr || id < oldest->id)) {
      oldest = connection.get();
    }
  }
  if (oldest != nullptr) {
    close(*oldest);
  }
  return oldest != nullptr;
}

void WebEndpoint::serve(Connection& connection) {
  while (!connection.last_reply && connection.stream->unsent() == 0 && !connection.received.empty()) {
    const auto head = parse_request_head(connection.received);
    if (!head && head.error() == HeadFault::Incomplete) {
      break;
    }
    if (!head) {
      ++counters_.faults;
      const Method method = connection.received.starts_with("HEAD ") ? Method::Head : Method::Get;
      connection.stream->write(render(fault_reply(head.error()), method, AfterReply::Close));
      begin_last_reply(connection);
      break;
    }
    ++counters_.requests;
    connection.received.erase(0, head->length);
    const AfterReply after = connection.peer_finished && connection.received.empty() ? AfterReply::Close : head->after;
    connection.stream->write(render(handler_(head->path), head->method, after));
    restart_timer(connection, limits_.request);
    if (after == AfterReply::Close) {
      begin_last_reply(connection);
    }
  }
  if (connection.stream->unsent() != 0 && !connection.last_reply) {
    connection.stream->stop_reading();  // its next requests wait in the kernel
  } else if (connection.peer_finished && connection.stream->unsent() == 0) {
    close(connection);
  } else {
    connection.stream->start_reading();
  }
}

// FIN after the reply, then the client closes. Closing first could reset the connection while the reply is under way.
void WebEndpoint::begin_last_reply(Connection& connection) {
  connection.last_reply = true;
  connection.received.clear();
  connection.stream->finish();
  restart_timer(connection, connection.stream->unsent() == 0 ? limits_.linger : limits_.request);
}

void WebEndpoint::restart_timer(Connection& connection, Duration limit) {
  connection.timer = loop_.after(limit, [this, &connection] {
    counters_.timeouts += connection.last_reply ? 0 : 1;
    close(connection);
  });
}

void WebEndpoint::close(Connection& connection) {
  connection.timer.reset();
  connection.stream->discard_input();
  connection.stream.reset();
  auto node = connections_.extract(connection.id);
  closed_.push_back(std::move(node.mapped()));
  bury_.request();
}

}  // namespace dohmux::web
