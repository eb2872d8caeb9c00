// The program's own lines on their way to base/log: from the public words for levels and formats to the log's.
// It must not know what is reported.
#include <dohmux/report.h>

#include "base/log.h"

namespace dohmux {
namespace {

log::Level to_level(LogLevel level) {
  switch (level) {
    case LogLevel::Error:
      return log::Level::Error;
    case LogLevel::Warning:
      return log::Level::Warning;
    case LogLevel::Info:
      return log::Level::Info;
    case LogLevel::Debug:
      return log::Level::Debug;
    case LogLevel::Trace:
      return log::Level::Trace;
  }
  return log::Level::Info;
}

}  // namespace

void apply_log(const LogConfig& log) {
  log::configure(to_level(log.level), log.format == LogFormat::Json ? log::Format::Json : log::Format::Text);
}

void report(const LogConfig& log, LogLevel level, const std::string& message) {
  apply_log(log);
  if (log::enabled(to_level(level))) {
    log::write(to_level(level), "main", message);
  }
}

}  // namespace dohmux
