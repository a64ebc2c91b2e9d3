// Axes of the drawings: from values to pixels, with round ticks.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace imgpipe {

// 1500000 as "1.5M", 0.25 as "0.25".
[[nodiscard]] std::string short_number(double value);

// Where an axis from `least` to `most` has its ticks: 1, 2 and 5 times powers of ten, or round steps.
[[nodiscard]] std::vector<double> axis_ticks(double least, double most, bool logarithmic);

// 1, 2 or 5 times a power of ten: the least that is not below `value`, and the largest that is not above it;
// both for values above 0.
[[nodiscard]] double rounded_up(double value);
[[nodiscard]] double rounded_down(double value);

// From values to pixels. The frame reaches from `from` to `to`; values stay a few pixels clear of it, so that
// each point is drawn whole.
class Axis {
 public:
  Axis(double least, double most, bool logarithmic, double from, double to);
  [[nodiscard]] bool shows(double value) const { return !log_ || value > 0; }
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  std::vector<double> ticks_;
  bool log_;
  double least_, most_, from_, to_;
};

// The values that an axis is to show.
struct AxisRange {
  double least = std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::lowest();

  void add(double value, bool logarithmic);
  // A linear axis begins at nothing. A single value stands in the middle of a logarithmic one.
  [[nodiscard]] Axis axis(bool logarithmic, double from, double to) const;
};

}  // namespace imgpipe
