#include "app/log.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "app/files/text_file.h"
#include "app/options/logging_options.h"
#include "images/files/file.h"

namespace imgpipe {
namespace {

using Level = spdlog::level::level_enum;
using Clock = std::chrono::system_clock;

std::FILE* const original_stderr = stderr;  // set_up_process() replaces it

bool json_now = false;

std::shared_ptr<spdlog::logger> make_logger(const LoggingOptions& options) {
  const bool text = options.log_format == LogFormat::text;
  const bool color = text && should_use_color(STDERR_FILENO, options.no_color);
  using Sink = spdlog::sinks::ansicolor_sink<spdlog::details::console_mutex>;
  auto sink =
      std::make_shared<Sink>(original_stderr, color ? spdlog::color_mode::always : spdlog::color_mode::never);
  sink->set_color(Level::critical, sink->green);  // log_always()
  auto made = std::make_shared<spdlog::logger>("imgpipe", std::move(sink));
  made->set_pattern(text ? "%^imgpipe:%$ %v" : "%v");
  made->set_level(options.verbose ? Level::debug : options.quiet ? Level::warn : Level::info);
  return made;
}

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance = make_logger({});
  return instance;
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::err:
      return "error";
    case Level::warn:
      return "warning";
    case Level::debug:
      return "debug";
    default:
      return "info";
  }
}

void write_json_line(Level level, const LogLine& line) {
  if (logger()->should_log(level)) logger()->log(level, "{}", json_line(line, Clock::now()));
}

void write_log_line(Level level, std::string_view text, const LogSubject& subject) {
  if (!json_now) return logger()->log(level, "{}{}", level == Level::warn ? "warning: " : "", text);
  write_json_line(
      level,
      {.level = name_of(level), .event = "message", .message = text, .subject = &subject, .counts = {}});
}

void say_counts(std::string_view event, std::string_view text, const RunCounts& counts) {
  write_json_line(Level::info, {.level = name_of(Level::info),
                                .event = event,
                                .message = text,
                                .subject = nullptr,
                                .counts = &counts});
}

}  // namespace

void set_up_log(const LoggingOptions& options) {
  json_now = options.log_format == LogFormat::json;
  logger() = make_logger(options);
}

bool logs_json() {
  return json_now;
}

void log_error(std::string_view text, const LogSubject& subject) {
  write_log_line(Level::err, text, subject);
}

void log_warning(std::string_view text, const LogSubject& subject) {
  write_log_line(Level::warn, text, subject);
}

void log_notice(std::string_view text, const LogSubject& subject) {
  write_log_line(Level::info, text, subject);
}

void log_always(std::string_view text) {
  write_log_line(Level::critical, text, {});
}

void log_detail(std::string_view text, const LogSubject& subject) {
  write_log_line(Level::debug, text, subject);
}

void log_removed(std::size_t files) {
  if (files > 0) log_detail("removed " + std::to_string(files) + " temporary files of runs that were killed");
}

void log_progress(std::string_view text, const RunCounts& counts) {
  if (!json_now) return write_log_line(Level::info, text, {});
  say_counts("progress", text, counts);
}

void log_summary(std::string_view text, const RunCounts& counts) {
  if (json_now) say_counts("summary", text, counts);
}

std::string summary_line(std::string_view text, const RunCounts& counts) {
  if (!json_now) return "imgpipe: " + std::string(text) + "\n";
  return json_line({.level = name_of(Level::info),
                    .event = "summary",
                    .message = text,
                    .subject = nullptr,
                    .counts = &counts},
                   Clock::now()) +
         "\n";
}

void log_error_without_memory(std::string_view text) noexcept {
  std::array<char, 512> line{};
  const int length = static_cast<int>(text.size());
  const int all =
      !json_now
          ? std::snprintf(line.data(), line.size(), "imgpipe: %.*s\n", length, text.data())
          : std::snprintf(line.data(), line.size(),
                          R"({"schema":"%s","time":"%s","level":"error","event":"message","message":"%.*s",)"
                          R"("input":null,"output":null,"reason":null,"progress":null})"
                          "\n",
                          kLogSchemaId.data(), time_text(Clock::now()).data(), length, text.data());
  if (all <= 0 || static_cast<std::size_t>(all) >= line.size()) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(all));
}

void print_table(const std::string& table, bool stdout_is_taken) {
  if (!stdout_is_taken) return write_text(kStandardStream, table);
  if (json_now) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, table.data(), table.size());
}

bool should_use_color(int fd, bool no_color_option) {
  const char* no_color = std::getenv("NO_COLOR");
  return !no_color_option && (no_color == nullptr || *no_color == '\0') && ::isatty(fd) == 1;
}

}  // namespace imgpipe
