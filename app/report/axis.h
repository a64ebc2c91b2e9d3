// Axes of drawings: map values to pixels and choose round ticks.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace imgpipe {

// 1500000 as "1.5M", 0.25 as "0.25".
[[nodiscard]] std::string short_number(double value);

// Returns tick positions between `least` and `most`: 1, 2 and 5 times powers of ten, or round steps.
[[nodiscard]] std::vector<double> axis_ticks(double least, double most, bool logarithmic);

// Round to 1, 2 or 5 times a power of ten: the smallest at or above `value`, and the largest at or below it.
// `value` must be positive.
[[nodiscard]] double rounded_up(double value);
[[nodiscard]] double rounded_down(double value);

// Maps values to pixels. The frame spans `from` to `to`; values stay a few pixels inside, so that points are
// drawn whole.
class Axis {
 public:
  Axis(double least, double most, bool logarithmic, double from, double to);
  [[nodiscard]] bool shows(double value) const { return !log_ || value > 0; }
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  std::vector<double> ticks_;
  bool log_;
  double min_, max_, from_, to_;
};

struct AxisRange {
  double least = std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::lowest();

  void add(double value, bool logarithmic);
  // A linear axis includes 0. A single value is centred on a logarithmic axis.
  [[nodiscard]] Axis axis(bool logarithmic, double from, double to) const;
};

}  // namespace imgpipe
