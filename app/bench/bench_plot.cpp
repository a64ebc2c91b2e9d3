#include "app/bench/bench_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/report/svg.h"
#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

constexpr const char* kStyle =
    "text{font-family:sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}"
    ".tick{font-size:11px;fill:#555}.name{font-size:12px}.grid{stroke:#ddd}.axis{stroke:#444}"
    ".range{stroke:#bbb;stroke-width:2}";

// Distinct in print and to most eyes (Okabe and Ito 2008), then darker ones.
constexpr std::array<const char*, 12> kColors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#e69f00", "#56b4e9", "#000000", "#7a5195",
                                              "#8c564b", "#2f4b7c", "#a05195", "#665191"};
const char* color_of(std::size_t i) {
  return kColors[i % kColors.size()];
}

// 1500000 as "1.5M", 0.25 as "0.25".
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

// Between the frame and the points nearest to it, in pixels, so that each is drawn whole and clear of the
// names.
constexpr double kInset = 8;

// From values to pixels. The frame reaches from `from` to `to`.
class Axis {
 public:
  Axis(double least, double most, bool logarithmic, double from, double to)
      : ticks_(axis_ticks(least, most, logarithmic)), log_(logarithmic) {
    least_ = std::min(least, ticks_.front());
    most_ = std::max(most, ticks_.back());
    const double inward = from < to ? kInset : -kInset;
    from_ = from + inward;
    to_ = to - inward;
  }
  [[nodiscard]] bool shows(double value) const { return !log_ || value > 0; }
  [[nodiscard]] double at(double value) const {
    const auto place = [this](double v) { return log_ ? std::log10(v) : v; };
    return from_ + (place(value) - place(least_)) / (place(most_) - place(least_)) * (to_ - from_);
  }
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  std::vector<double> ticks_;
  bool log_;
  double least_, most_, from_, to_;
};

struct Range {
  double least = std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::lowest();

  void add(double value, bool logarithmic) {
    if (logarithmic && value <= 0) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  [[nodiscard]] Axis axis(bool logarithmic, double from, double to) const {
    if (least > most)
      return {logarithmic ? 1.0 : 0.0, 1.0 + (logarithmic ? 9.0 : 0.0), logarithmic, from, to};
    // A linear axis begins at nothing. A single value stands in the middle.
    if (logarithmic) {
      const double widen = least < most ? 1 : 2;
      return {least / widen, most * widen, logarithmic, from, to};
    }
    return {std::min(0.0, least), most > std::min(0.0, least) ? most : least + 1, logarithmic, from, to};
  }
};

std::string upright_axis(const Axis& axis, double left, double right) {
  std::string out;
  for (const double tick : axis.ticks()) {
    out += line(left, axis.at(tick), right, axis.at(tick), "class=\"grid\"");
    out += text_at(left - 8, axis.at(tick) + 4, "class=\"tick\" text-anchor=\"end\"", short_number(tick));
  }
  return out;
}

std::string level_axis(const Axis& axis, double top, double bottom) {
  std::string out;
  for (const double tick : axis.ticks()) {
    out += line(axis.at(tick), top, axis.at(tick), bottom, "class=\"grid\"");
    out += text_at(axis.at(tick), bottom + 17, "class=\"tick\" text-anchor=\"middle\"", short_number(tick));
  }
  return out;
}

std::string dot(double x, double y, const std::string& color, double radius) {
  return "<circle cx=\"" + coordinate(x) + "\" cy=\"" + coordinate(y) + "\" r=\"" + coordinate(radius) +
         "\" fill=\"" + color + "\"/>\n";
}

constexpr int kWidth = 1000;
constexpr double kTitleHeight = 40;
constexpr double kAxisHeight = 48;
constexpr double kNameHeight = 17;

// The names of what is drawn, one below the other.
class Legend {
 public:
  explicit Legend(double top) : y_(top) {}
  // The height of the next name, for its mark.
  double next() {
    y_ += kNameHeight;
    return y_ - kNameHeight;
  }

 private:
  double y_;
};

std::string line_panel(const LinePlot& plot, double top, double plot_height) {
  constexpr double kLeft = 70;
  constexpr double kRight = kWidth - 250;
  const double begin = top + kTitleHeight;
  const double bottom = begin + plot_height;
  Range across;
  Range up;
  for (const PlotSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      across.add(x, plot.log_x);
      up.add(y, plot.log_y);
    }
  }
  const Axis x_axis = across.axis(plot.log_x, kLeft, kRight);
  const Axis y_axis = up.axis(plot.log_y, bottom, begin);
  std::string out = text_at(kLeft, top + 20, "class=\"title\"", plot.title);
  out += level_axis(x_axis, begin, bottom) + upright_axis(y_axis, kLeft, kRight);
  out += line(kLeft, bottom, kRight, bottom, "class=\"axis\"") +
         line(kLeft, begin, kLeft, bottom, "class=\"axis\"");
  out += text_at((kLeft + kRight) / 2, bottom + 36, "class=\"name\" text-anchor=\"middle\"", plot.x_label);
  out += text_at(kLeft - 8, begin - 4, "class=\"tick\" text-anchor=\"end\"", plot.y_label);
  Legend legend(begin + 4);
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    const std::string color = color_of(i);
    const std::string dashes = series.dashed || i >= kColors.size() ? " stroke-dasharray=\"6 4\"" : "";
    std::string path;
    for (const auto& [x, y] : series.points) {
      if (!x_axis.shows(x) || !y_axis.shows(y)) continue;
      path += (path.empty() ? "M" : "L") + coordinate(x_axis.at(x)) + " " + coordinate(y_axis.at(y));
      if (series.points.size() <= 24) out += dot(x_axis.at(x), y_axis.at(y), color, 2.5);
    }
    if (path.empty()) continue;
    std::string stroke = "stroke-width=\"2\" stroke=\"";
    stroke.append(color).append("\"").append(dashes);
    out.append("<path fill=\"none\" ").append(stroke).append(" d=\"").append(path).append("\"/>\n");
    const double y = legend.next();
    out += line(kRight + 16, y, kRight + 40, y, stroke);
    out += text_at(kRight + 46, y + 4, "class=\"name\"", series.name);
  }
  return out;
}

bool is_drawn(const DotPlot::Dots& dots) {
  return std::ranges::any_of(dots.values, [](double value) { return value > 0; });
}

std::string dot_panel(const DotPlot& plot, double top) {
  constexpr double kLeft = 190;
  constexpr double kRight = kWidth - 150;
  const double begin = top + kTitleHeight;
  const double bottom = begin + kNameHeight * static_cast<double>(plot.rows.size());
  Range across;
  for (const DotPlot::Dots& dots : plot.dots) {
    for (const double value : dots.values) across.add(value, true);
  }
  const Axis axis = across.axis(true, kLeft, kRight);
  std::string out = text_at(kLeft, top + 20, "class=\"title\"", plot.title);
  out += level_axis(axis, begin, bottom);
  out += line(kLeft, bottom, kRight, bottom, "class=\"axis\"");
  out += text_at((kLeft + kRight) / 2, bottom + 36, "class=\"name\" text-anchor=\"middle\"", plot.x_label);
  for (std::size_t row = 0; row < plot.rows.size(); ++row) {
    const double y = begin + kNameHeight * (static_cast<double>(row) + 0.5);
    out += text_at(kLeft - 10, y + 4, "class=\"name\" text-anchor=\"end\"", plot.rows[row]);
    Range range;
    std::string marks;
    for (std::size_t i = 0; i < plot.dots.size(); ++i) {
      const double value = plot.dots[i].values[row];
      range.add(value, true);
      if (value > 0) marks += dot(axis.at(value), y, color_of(i), 4.5);
    }
    if (range.least < range.most)
      out += line(axis.at(range.least), y, axis.at(range.most), y, "class=\"range\"");
    out += marks;
  }
  Legend legend(begin + 4);
  for (std::size_t i = 0; plot.dots.size() > 1 && i < plot.dots.size(); ++i) {
    if (!is_drawn(plot.dots[i])) continue;
    const double y = legend.next();
    out += dot(kRight + 22, y, color_of(i), 4.5) +
           text_at(kRight + 34, y + 4, "class=\"name\"", plot.dots[i].name);
  }
  return out;
}

// Of the rows or, where that has more lines, of the legend.
double dot_panel_height(const DotPlot& plot) {
  const auto names = static_cast<std::size_t>(std::ranges::count_if(plot.dots, is_drawn));
  return kNameHeight * static_cast<double>(std::max(plot.rows.size(), names));
}

}  // namespace

std::vector<double> axis_ticks(double least, double most, bool logarithmic) {
  std::vector<double> ticks;
  if (logarithmic) {
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
  const double rough = std::max(most - least, 1e-12) / 6;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  const double first = std::ceil(least / step);
  const auto count = static_cast<int>(std::floor(most / step - first + 1e-6)) + 1;
  for (int i = 0; i < count; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::string plot_svg(const std::vector<LinePlot>& panels) {
  std::string content;
  double top = 10;
  for (const LinePlot& plot : panels) {
    const double height = std::max(320.0, kNameHeight * static_cast<double>(plot.series.size()) + 10);
    content += line_panel(plot, top, height);
    top += kTitleHeight + height + kAxisHeight;
  }
  return drawing(kWidth, static_cast<int>(top) + 10, kStyle, content);
}

std::string plot_svg(const std::vector<DotPlot>& panels) {
  std::string content;
  double top = 10;
  for (const DotPlot& plot : panels) {
    content += dot_panel(plot, top);
    top += kTitleHeight + dot_panel_height(plot) + kAxisHeight;
  }
  return drawing(kWidth, static_cast<int>(top) + 10, kStyle, content);
}

}  // namespace imgpipe
