#include "app/report/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

// Distance from the frame to the nearest points, in pixels.
constexpr double kInset = 8;

std::vector<double> logarithmic_ticks(double least, double most) {
  std::vector<double> ticks;
  const double decades = std::log10(most / least);
  const int first = static_cast<int>(std::floor(std::log10(least)));
  const int last = static_cast<int>(std::ceil(std::log10(most)));
  for (int exponent = first; exponent <= last; ++exponent) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double tick = step * std::pow(10.0, exponent);
      if (step > 1 && decades > 3) continue;
      if (tick >= least && tick <= most) ticks.push_back(tick);
    }
  }
  if (ticks.empty()) ticks = {least, most};
  return ticks;
}

}  // namespace

std::string short_number(double value) {
  constexpr std::array<std::pair<double, const char*>, 3> kUnits{{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [unit, name] : kUnits) {
    if (value >= unit) return short_number(value / unit) + name;
  }
  std::string text = number(value, value >= 1 ? 2 : 4);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::vector<double> axis_ticks(double least, double most, bool logarithmic) {
  if (logarithmic) return logarithmic_ticks(least, most);
  std::vector<double> ticks;
  const double rough = std::max(most - least, 1e-12) / 6;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  const double first = std::ceil(least / step);
  const auto count = static_cast<int>(std::floor(most / step - first + 1e-6)) + 1;
  ticks.reserve(static_cast<std::size_t>(std::max(count, 0)));
  for (int i = 0; i < count; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

double rounded_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value) return factor * power;
  }
  return 10 * power;
}

double rounded_down(double value) {
  return 1 / rounded_up(1 / value);
}

Axis::Axis(double least, double most, bool logarithmic, double from, double to)
    : ticks_(axis_ticks(least, most, logarithmic)), log_(logarithmic) {
  min_ = std::min(least, ticks_.front());
  max_ = std::max(most, ticks_.back());
  const double inward = from < to ? kInset : -kInset;
  from_ = from + inward;
  to_ = to - inward;
}

double Axis::at(double value) const {
  const auto place = [this](double v) { return log_ ? std::log10(v) : v; };
  return from_ + (place(value) - place(min_)) / (place(max_) - place(min_)) * (to_ - from_);
}

void AxisRange::add(double value, bool logarithmic) {
  if (logarithmic && value <= 0) return;
  least = std::min(least, value);
  most = std::max(most, value);
}

Axis AxisRange::axis(bool logarithmic, double from, double to) const {
  if (least > most) return {logarithmic ? 1.0 : 0.0, 1.0 + (logarithmic ? 9.0 : 0.0), logarithmic, from, to};
  if (logarithmic) {
    const double widen = least < most ? 1 : 2;
    return {least / widen, most * widen, logarithmic, from, to};
  }
  return {std::min(0.0, least), most > std::min(0.0, least) ? most : least + 1, logarithmic, from, to};
}

}  // namespace imgpipe
