// Decides what becomes of one DoH request (RFC 8484 §4): the right answer, or the wrong one that was asked for.
// Must not know connections or protocols' framing.
#include "support/lab/answer.h"

#include <openssl/evp.h>

#include <vector>

namespace lab {

namespace {

constexpr std::string_view kDnsType = "application/dns-message";

std::string decode_base64url(std::string text) {
  for (char& c : text) {
    c = c == '-' ? '+' : (c == '_' ? '/' : c);
  }
  const std::size_t padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string out(text.size() / 4 * 3 + 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0 || static_cast<std::size_t>(length) < padding) {
    return {};
  }
  out.resize(static_cast<std::size_t>(length) - padding);
  return out;
}

HttpReply plain_reply(int status) {
  return HttpReply{status, {{"content-type", "text/plain"}}, "lab\n", BodyPlan::Whole, 0};
}

void add_length(HttpReply& reply) {
  reply.headers.emplace_back("content-length", std::to_string(reply.body.size()));
}

// The DNS message of the request, or the HTTP status that says why there is none.
Result<std::string> message_of(const HttpRequest& request, int& status) {
  const std::size_t mark = request.path.find('?');
  status = 404;
  if (std::string_view(request.path).substr(0, mark) != "/dns-query") {
    return std::unexpected("path");
  }
  if (request.method == "POST") {
    status = 415;
    return request.header("content-type") == kDnsType ? Result<std::string>(request.body) : std::unexpected("content-type");
  }
  const std::size_t value = mark == std::string::npos ? mark : request.path.find("dns=", mark);
  status = request.method == "GET" ? 400 : 405;
  if (request.method != "GET" || value == std::string::npos) {
    return std::unexpected("method or parameter");
  }
  const std::string parameter = request.path.substr(value + 4);
  return decode_base64url(parameter.substr(0, parameter.find('&')));
}

// Where a fault is taken from: names first, then the resolver.
class Sources {
 public:
  Sources(AnswerFaults* by_name, AnswerFaults& by_resolver) : by_name_(by_name), by_resolver_(by_resolver) {}

  template <class T>
  std::optional<T> use(Fault<T> AnswerFaults::* member) {
    if (by_name_ != nullptr) {
      if (auto value = (by_name_->*member).use()) {
        return value;
      }
    }
    return (by_resolver_.*member).use();
  }
  bool has(Flag AnswerFaults::* member) { return use(member).has_value(); }

 private:
  AnswerFaults* by_name_;
  AnswerFaults& by_resolver_;
};

AnswerShape shape_of(Sources& sources) {
  constexpr std::uint16_t kResponse = 0x8000;
  constexpr std::uint16_t kTruncated = 0x0200;
  constexpr std::uint16_t kAuthentic = 0x0020;
  AnswerShape shape;
  shape.rcode = sources.use(&AnswerFaults::rcode);
  shape.size = sources.use(&AnswerFaults::size).value_or(0);
  shape.ede = sources.use(&AnswerFaults::ede).value_or("");
  shape.id_xor = sources.has(&AnswerFaults::wrong_id) ? 0x5a5a : 0;
  shape.other_question = sources.has(&AnswerFaults::wrong_question);
  shape.flags_cleared = sources.has(&AnswerFaults::not_a_response) ? kResponse : 0;
  shape.flags_set = sources.has(&AnswerFaults::truncated) ? kTruncated : 0;
  if (sources.has(&AnswerFaults::authentic)) {
    shape.flags_set |= kAuthentic;
  }
  return shape;
}

std::string body_of(const DnsQuery& query, Sources& sources) {
  if (sources.has(&AnswerFaults::empty)) {
    return {};
  }
  if (sources.has(&AnswerFaults::junk)) {
    return std::string(40, '\xa5');
  }
  return build_answer(query, shape_of(sources));
}

HttpReply dns_reply(const DnsQuery& query, Sources& sources) {
  HttpReply reply;
  if (auto status = sources.use(&AnswerFaults::status)) {
    reply = plain_reply(status->status);
    reply.headers.insert(reply.headers.end(), status->headers.begin(), status->headers.end());
    if (status->status >= 200 && status->status <= 299) {
      reply.headers.front().second = kDnsType;
      reply.body = body_of(query, sources);
    }
  } else {
    reply.headers = {{"content-type", std::string(kDnsType)}};
    reply.body = body_of(query, sources);
  }
  if (auto type = sources.use(&AnswerFaults::type)) {
    if (type->empty()) {
      reply.headers.erase(reply.headers.begin());
    } else {
      reply.headers.front().second = *type;
    }
  }
  if (auto age = sources.use(&AnswerFaults::age)) {
    reply.headers.emplace_back("age", std::to_string(*age));
  }
  if (auto header = sources.use(&AnswerFaults::header)) {
    reply.headers.push_back(*header);
  }
  return reply;
}

// Faults that leave no room for an answer.
bool plan_fate(AnswerPlan& plan, Sources& sources) {
  if (sources.has(&AnswerFaults::hang)) {
    plan.fate = AnswerPlan::Fate::Silence;
    plan.fault = "hang";
  } else if (auto code = sources.use(&AnswerFaults::reset)) {
    plan.fate = AnswerPlan::Fate::Reset;
    plan.reset_code = *code;
    plan.fault = "rst";
  } else if (sources.has(&AnswerFaults::drop)) {
    plan.fate = AnswerPlan::Fate::Drop;
    plan.fault = "drop";
  }
  return plan.fate != AnswerPlan::Fate::Reply;
}

void plan_body(AnswerPlan& plan, Sources& sources) {
  if (sources.has(&AnswerFaults::half)) {
    plan.reply.plan = BodyPlan::HalfThenSilence;
    plan.fault = "half";
  } else if (auto code = sources.use(&AnswerFaults::half_reset)) {
    plan.reply.plan = BodyPlan::HalfThenReset;
    plan.reply.reset_code = *code;
    plan.fault = "half-rst";
  }
}

}  // namespace

AnswerPlan plan_answer(const HttpRequest& request, AnswerFaults& by_resolver, NameFaults& names) {
  AnswerPlan plan;
  int status = 200;
  const auto message = message_of(request, status);
  if (message) {
    plan.query = parse_query(*message);
  }
  if (!plan.query) {
    plan.reply = plain_reply(message ? 400 : status);
    add_length(plan.reply);
    plan.fault = "bad request";
    return plan;
  }
  Sources sources(faults_for(names, plan.query->name), by_resolver);
  plan.delay = sources.use(&AnswerFaults::delay).value_or(Millis(0)) + Millis(wishes_of(plan.query->name).delay_ms);
  if (plan_fate(plan, sources)) {
    return plan;
  }
  plan.reply = dns_reply(*plan.query, sources);
  add_length(plan.reply);
  plan_body(plan, sources);
  return plan;
}

}  // namespace lab
