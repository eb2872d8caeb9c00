// Log lines over spdlog's standard-error sink: level filter, text or JSON, priority prefixes under systemd.
// The only file that sees spdlog; it must not know what is logged.
#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <ctime>

namespace dohmux::log {
namespace {

struct State {
  Level level = Level::Info;
  Format format = Format::Text;
  bool systemd = std::getenv("JOURNAL_STREAM") != nullptr;
  std::shared_ptr<spdlog::logger> sink = make_sink();  // spdlog's own ownership model

  static std::shared_ptr<spdlog::logger> make_sink() {
    auto logger = spdlog::stderr_logger_mt("dohmux");
    logger->set_pattern("%v");
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::trace);
    return logger;
  }
};

State& state() {
  static State instance;
  return instance;
}

constexpr std::string_view name(Level level) {
  switch (level) {
    case Level::Error:
      return "error";
    case Level::Warning:
      return "warning";
    case Level::Info:
      return "info";
    case Level::Debug:
      return "debug";
    case Level::Trace:
      return "trace";
  }
  return "info";
}

// sd-daemon(3): <3> error, <4> warning, <6> info, <7> debug.
constexpr int priority(Level level) {
  switch (level) {
    case Level::Error:
      return 3;
    case Level::Warning:
      return 4;
    case Level::Info:
      return 6;
    default:
      return 7;
  }
}

std::string timestamp() {
  std::timespec now{};
  std::timespec_get(&now, TIME_UTC);
  std::tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000);
}

}  // namespace

void configure(Level level, Format format) {
  state().level = level;
  state().format = format;
}

bool enabled(Level level) {
  return level <= state().level;
}

void write(Level level, std::string_view component, std::string_view message) {
  State& now = state();
  if (!enabled(level)) {
    return;
  }
  if (now.format == Format::Json) {
    now.sink->info(R"({{"ts":"{}","level":"{}","component":"{}","msg":"{}"}})", timestamp(), name(level), json_escape(component),
                   json_escape(message));
  } else if (now.systemd) {
    now.sink->info("<{}>{}: {}", priority(level), component, message);
  } else {
    now.sink->info("{} {} {}: {}", timestamp(), name(level), component, message);
  }
}

void write_raw(std::string_view line) {
  state().sink->info("{}", line);
}

std::string json_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace dohmux::log
