#include "app/progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include "app/report/text_columns.h"

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

void write_to_stderr(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// Returns "25.0 images/s", "200.0 MP/s" and "0:10 left", as far as they are known.
std::vector<std::string> rate_texts(const RunCounts& counts) {
  const std::size_t worked = counts.done + counts.failed;
  if (worked == 0 || counts.seconds <= 0) return {};
  std::vector<std::string> texts{number(counts.images_per_s(), 1) + " " + std::string(counts.unit) + "/s",
                                 number(counts.megapixels_per_s(), 1) + " MP/s"};
  if (counts.total > 0) {
    const double left = static_cast<double>(counts.total - counts.ended());
    texts.push_back(clock_text(left * counts.seconds / static_cast<double>(worked)) + " left");
  }
  return texts;
}

std::string bar_of(std::size_t ended, std::size_t total) {
  const std::size_t filled = total == 0 ? kBarColumns : kBarColumns * ended / total;
  return "[" + std::string(filled, '=') + std::string(kBarColumns - filled, ' ') + "] " +
         std::to_string(ended) + "/" + std::to_string(total);
}

}  // namespace

std::string progress_bar(const RunCounts& counts, std::size_t columns) {
  const std::size_t ended = counts.done + counts.failed;
  std::string line = counts.pass.empty() ? "" : counts.pass + ": ";
  line += counts.total == 0 ? std::to_string(ended) + " " + std::string(counts.unit)
                            : bar_of(ended, counts.total - counts.skipped);
  for (const std::string& text : rate_texts(counts)) line += "  " + text;
  if (counts.failed > 0) line += "  " + std::to_string(counts.failed) + " failed";
  return line.substr(0, columns);
}

std::string progress_text(const RunCounts& counts) {
  std::string text = counts.pass.empty() ? "" : counts.pass + ": ";
  text += std::to_string(counts.ended());
  if (counts.total > 0) text += " of " + std::to_string(counts.total);
  text += " " + std::string(counts.unit) + ": " + std::to_string(counts.done) + " done, " +
          std::to_string(counts.skipped) + " skipped, " + std::to_string(counts.failed) + " failed";
  for (const std::string& rate : rate_texts(counts)) text += ", " + rate;
  return text;
}

Progress::Way Progress::style_for_stderr(bool wanted) {
  if (!wanted) return Way::none;
  return !logs_json() && ::isatty(STDERR_FILENO) == 1 ? Way::bar : Way::lines;
}

Progress::Progress(Way way, WriteLine say_line) : way_(way), say_line_(std::move(say_line)) {}

Progress::~Progress() {
  clear();
}

void Progress::show(const RunCounts& counts, double now_s) {
  if (way_ == Way::bar) return draw([&](std::size_t columns) { return progress_bar(counts, columns); });
  if (!is_line_due(now_s)) return;
  say_line_(progress_text(counts), counts);
}

void Progress::show(const std::string& text, double now_s) {
  if (way_ == Way::bar) return draw([&](std::size_t columns) { return text.substr(0, columns); });
  if (is_line_due(now_s)) log_notice(text);
}

bool Progress::is_line_due(double now_s) {
  if (way_ == Way::none || now_s - last_line_s_ < kSecondsBetweenLines) return false;
  last_line_s_ = now_s;
  return true;
}

void Progress::draw(const std::function<std::string(std::size_t columns)>& text) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawing_ < kBetweenDrawings) return;
  last_drawing_ = now;
  drawn_ = true;
  // Leave the last column free: some terminals wrap after it.
  write_to_stderr("\r\x1b[K" + text(std::max<std::size_t>(terminal_columns(), 2) - 1));
}

void Progress::clear() {
  if (drawn_) write_to_stderr("\r\x1b[K");
  drawn_ = false;
  last_drawing_ = {};
}

}  // namespace imgpipe
