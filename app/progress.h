// Progress of a long run: a bar on a terminal, a line every ten seconds elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "app/log.h"

namespace imgpipe {

// "[=====     ] 120/500  85.3 images/s  690 MP/s  0:12 left  2 failed", without those skipped, and never
// longer than `columns`; "12 pages  3.4 pages/s  27 MP/s" where the total is unknown.
[[nodiscard]] std::string progress_bar(const RunCounts& counts, std::size_t columns);
// "130 of 510 images: 118 done, 10 skipped, 2 failed, 85.3 images/s, 690.0 MP/s, 0:12 left"
[[nodiscard]] std::string progress_text(const RunCounts& counts);

class Progress {
 public:
  enum class Way { none, bar, lines };
  // On this process's stderr: a bar where that is a terminal for people, else lines.
  [[nodiscard]] static Way way_here(bool wanted);

  static constexpr double kSecondsBetweenLines = 10;
  using SayLine = std::function<void(std::string_view text, const RunCounts& counts)>;
  explicit Progress(Way way, SayLine say_line = log_progress);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // To be called often, `now_s` seconds after the run began. Draws the bar again, at most ten times a second;
  // writes a line if ten seconds have passed since the last one, or since the beginning.
  void show(const RunCounts& counts, double now_s);
  void show(const RunCounts& counts) { show(counts, counts.seconds); }
  // The same with a text in place of counts; a line is a notice.
  void show(const std::string& text, double now_s);
  // Removes the bar, so that other text can be written.
  void clear();

 private:
  [[nodiscard]] bool is_line_due(double now_s);
  void draw(const std::function<std::string(std::size_t columns)>& text);

  Way way_;
  SayLine say_line_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_drawing_{};
  double last_line_s_ = 0;
};

}  // namespace imgpipe
