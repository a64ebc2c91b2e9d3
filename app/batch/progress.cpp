#include "app/batch/progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace imgpipe {
namespace {

constexpr std::size_t kBarColumns = 20;
constexpr std::chrono::milliseconds kBetweenDrawings{100};

std::string clock_text(double seconds) {
  const long long whole = std::llround(seconds);
  std::array<char, 48> text{};
  if (whole < 3600) {
    std::snprintf(text.data(), text.size(), "%lld:%02lld", whole / 60, whole % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text.data();
}

void put(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t columns) {
  const std::size_t filled = state.total == 0 ? kBarColumns : kBarColumns * state.done / state.total;
  std::string line = "[" + std::string(filled, '=') + std::string(kBarColumns - filled, ' ') + "] " +
                     std::to_string(state.done) + "/" + std::to_string(state.total);
  if (state.done > 0 && state.seconds > 0) {
    const double per_second = static_cast<double>(state.done) / state.seconds;
    std::array<char, 96> rates{};
    std::snprintf(rates.data(), rates.size(), "  %.1f images/s  %.1f MP/s", per_second,
                  static_cast<double>(state.pixels) / 1e6 / state.seconds);
    line += rates.data();
    line += "  " + clock_text(static_cast<double>(state.total - state.done) / per_second) + " left";
  }
  if (state.failed > 0) line += "  " + std::to_string(state.failed) + " failed";
  return line.substr(0, columns);
}

Progress::Progress(bool wanted) : enabled_(wanted && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  clear();
}

void Progress::show(const ProgressState& state) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || now - last_ < kBetweenDrawings) return;
  last_ = now;
  drawn_ = true;
  // The last column stays free: some terminals wrap behind it.
  put("\r\x1b[K" + progress_line(state, std::max<std::size_t>(terminal_columns(), 2) - 1));
}

void Progress::clear() {
  if (drawn_) put("\r\x1b[K");
  drawn_ = false;
  last_ = {};
}

}  // namespace imgpipe
