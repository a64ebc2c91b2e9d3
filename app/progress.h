// Progress of a long run: a bar on a terminal, otherwise a line every ten seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "app/log.h"

namespace imgpipe {

// Returns at most `columns` characters, without the skipped images: "[=====     ] 120/500  85.3 images/s  690
// MP/s  0:12 left  2 failed". If the total is unknown: "12 pages  3.4 pages/s  27 MP/s".
[[nodiscard]] std::string progress_bar(const RunCounts& counts, std::size_t columns);
// "130 of 510 images: 118 done, 10 skipped, 2 failed, 85.3 images/s, 690.0 MP/s, 0:12 left"
[[nodiscard]] std::string progress_text(const RunCounts& counts);

class Progress {
 public:
  enum class Way { none, bar, lines };
  // Returns none unless `wanted`, a bar if stderr is a terminal and the log is text, otherwise lines.
  [[nodiscard]] static Way style_for_stderr(bool wanted);

  static constexpr double kSecondsBetweenLines = 10;
  using WriteLine = std::function<void(std::string_view text, const RunCounts& counts)>;
  explicit Progress(Way way, WriteLine say_line = log_progress);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Call often, with `now_s` seconds since the start of the run. Redraws the bar at most ten times a second.
  // Writes a line once ten seconds have passed since the last one, or since the start.
  void show(const RunCounts& counts, double now_s);
  void show(const RunCounts& counts) { show(counts, counts.seconds); }
  // Shows a text instead of counts; a line is logged as a notice.
  void show(const std::string& text, double now_s);
  // Removes the bar so that other text can be written.
  void clear();

 private:
  [[nodiscard]] bool is_line_due(double now_s);
  void draw(const std::function<std::string(std::size_t columns)>& text);

  Way way_;
  WriteLine say_line_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_drawing_{};
  double last_line_s_ = 0;
};

}  // namespace imgpipe
