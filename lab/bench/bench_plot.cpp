#include "lab/bench/bench_plot.h"

#include <algorithm>
#include <array>

#include "app/report/axis.h"
#include "app/report/svg.h"

namespace imgpipe {
namespace {

constexpr const char* kStyle =
    "text{font-family:sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}"
    ".tick{font-size:11px;fill:#555}.name{font-size:12px}.grid{stroke:#ddd}.axis{stroke:#444}"
    ".range{stroke:#bbb;stroke-width:2}";

// Colours that are distinct in print and to most eyes (Okabe and Ito 2008), then darker ones.
constexpr std::array<const char*, 12> kColors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#e69f00", "#56b4e9", "#000000", "#7a5195",
                                              "#8c564b", "#2f4b7c", "#a05195", "#665191"};
const char* color_of(std::size_t i) {
  return kColors[i % kColors.size()];
}

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

// Positions the names of the series, one below the other.
class Legend {
 public:
  explicit Legend(double top) : y_(top) {}
  // Returns the y coordinate of the next name and its mark.
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
  AxisRange across;
  AxisRange up;
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
  AxisRange across;
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
    AxisRange range;
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

// Returns the height of the rows or, if it has more lines, of the legend.
double dot_panel_height(const DotPlot& plot) {
  const auto names = static_cast<std::size_t>(std::ranges::count_if(plot.dots, is_drawn));
  return kNameHeight * static_cast<double>(std::max(plot.rows.size(), names));
}

}  // namespace

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
