// The line on a terminal that says how far a batch is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace imgpipe {

struct ProgressState {
  std::size_t total = 0, done = 0, failed = 0;  // `done`: with the failed
  std::int64_t pixels = 0;                      // of the images done
  double seconds = 0;
};

// "[=====>    ] 120/500  85.3 images/s  690 MP/s  0:12 left  2 failed", never longer than `columns`.
[[nodiscard]] std::string progress_line(const ProgressState& state, std::size_t columns);

// Draws on stderr when that is a terminal, else nothing.
class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Draws the line anew, at most ten times a second.
  void show(const ProgressState& state);
  // Takes the line away, for other text to be written.
  void clear();

 private:
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace imgpipe
