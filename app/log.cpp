#include "app/log.h"

#include <cstdlib>
#include <memory>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace imgpipe {
namespace {

std::shared_ptr<spdlog::logger> make_logger(Verbosity verbosity, bool color) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(color ? spdlog::color_mode::always
                                                                          : spdlog::color_mode::never);
  sink->set_color(spdlog::level::critical, sink->green);  // log_always()
  auto made = std::make_shared<spdlog::logger>("imgpipe", std::move(sink));
  made->set_pattern("%^imgpipe:%$ %v");
  made->set_level(verbosity == Verbosity::verbose  ? spdlog::level::debug
                  : verbosity == Verbosity::normal ? spdlog::level::info
                                                   : spdlog::level::warn);
  return made;
}

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance = make_logger(Verbosity::normal, false);
  return instance;
}

}  // namespace

void set_up_log(Verbosity verbosity, bool color) {
  logger() = make_logger(verbosity, color);
}

void log_error(std::string_view text) {
  logger()->error("{}", text);
}

void log_warning(std::string_view text) {
  logger()->warn("warning: {}", text);
}

void log_notice(std::string_view text) {
  logger()->info("{}", text);
}

void log_always(std::string_view text) {
  logger()->log(spdlog::level::critical, "{}", text);
}

void log_detail(std::string_view text) {
  logger()->debug("{}", text);
}

bool wants_color(int fd, bool no_color_option) {
  const char* no_color = std::getenv("NO_COLOR");
  return !no_color_option && (no_color == nullptr || *no_color == '\0') && ::isatty(fd) == 1;
}

}  // namespace imgpipe
