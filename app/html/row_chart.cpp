#include "app/html/row_chart.h"

#include <algorithm>
#include <cmath>

#include "app/html/html_text.h"
#include "app/report/axis.h"
#include "app/report/svg.h"

namespace imgpipe {
namespace {

// In pixels of the drawing. The longest names and values that are not shortened fit in any sans-serif font.
constexpr double kLeft = 200;
constexpr double kRight = kPageDrawingWidth - 130.0;
constexpr std::size_t kMaxNameBytes = 26;
constexpr std::size_t kMaxLimitBytes = 48;
constexpr double kMarkHeight = 16;
constexpr double kRowGap = 8;
constexpr double kLimitHeight = 18;

double height_of(const RowChart::Row& row) {
  return kMarkHeight * static_cast<double>(std::max<std::size_t>(row.marks.size(), 1)) + kRowGap;
}

std::string series_class(int series) {
  return "class=\"s" + std::to_string(series) + "\"";
}

Axis axis_of(const RowChart& chart) {
  AxisRange range;
  for (const RowChart::Row& row : chart.rows) {
    for (const RowChart::Mark& mark : row.marks) {
      if (mark.value <= 0) continue;
      for (const double value : {mark.value, mark.least.value_or(mark.value), mark.most.value_or(mark.value)})
        range.add(value, chart.logarithmic);
    }
  }
  for (const RowChart::Limit& limit : chart.limits) range.add(limit.value, chart.logarithmic);
  if (chart.bars && chart.logarithmic) range.add(1, true);
  if (chart.logarithmic && range.least < range.most) {
    // Extend the axis to a round number at both ends.
    range.add(rounded_down(range.least), true);
    range.add(rounded_up(range.most), true);
  }
  return range.axis(chart.logarithmic, kLeft, kRight);
}

std::string bar(const RowChart::Mark& mark, const Axis& axis, double from, double y) {
  const double to = axis.at(mark.value);
  const double width = std::max(std::abs(to - from), 1.0);
  return "<rect x=\"" + coordinate(std::min(from, to)) + "\" y=\"" + coordinate(y - 5.5) + "\" width=\"" +
         coordinate(width) + "\" height=\"11\" " + series_class(mark.series) + "/>\n";
}

std::string dot(const RowChart::Mark& mark, const Axis& axis, double y) {
  std::string out;
  if (mark.least && mark.most) {
    out += line(axis.at(*mark.least), y, axis.at(*mark.most), y, "class=\"whisker\"");
    for (const double end : {*mark.least, *mark.most})
      out += line(axis.at(end), y - 4, axis.at(end), y + 4, "class=\"whisker\"");
  }
  return out + "<circle cx=\"" + coordinate(axis.at(mark.value)) + "\" cy=\"" + coordinate(y) +
         "\" r=\"4.5\" " + series_class(mark.series) + "/>\n";
}

// Draws each limit's name on its own line of text, on the side of the limit with more space.
std::string limits(const RowChart& chart, const Axis& axis, double bottom) {
  std::string out;
  double y = 14;
  for (const RowChart::Limit& limit : chart.limits) {
    const double x = axis.at(limit.value);
    const bool left = x < (kLeft + kRight) / 2;
    out += line(x, y - 10, x, bottom, "class=\"limit\"");
    out += text_at(x + (left ? 6 : -6), y, left ? "class=\"tick\"" : "class=\"tick\" text-anchor=\"end\"",
                   shortened(limit.name, kMaxLimitBytes));
    y += kLimitHeight;
  }
  return out;
}

}  // namespace

std::string page_drawing(int width, double height, const std::string& label, const std::string& content) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"" + html(label) +
         "\" viewBox=\"0 0 " + std::to_string(width) + " " + coordinate(height) + "\">\n" + content +
         "</svg>\n";
}

std::string page_axis(const Axis& axis, double left, double right, double top, double bottom,
                      const std::string& unit) {
  std::string out;
  double free_from = -1e9;  // the line of numbers is free to the right of this x
  for (const double tick : axis.ticks()) {
    const double x = axis.at(tick);
    out += line(x, top, x, bottom, "class=\"grid\"");
    const std::string text = short_number(tick);
    const double half = 3.9 * static_cast<double>(text.size());
    if (x - half < free_from) continue;
    out += text_at(x, bottom + 16, "class=\"tick\" text-anchor=\"middle\"", text);
    free_from = x + half + 6;
  }
  out += line(left, bottom, right, bottom, "class=\"axis\"");
  return out + text_at((left + right) / 2, bottom + 34, "class=\"tick\" text-anchor=\"middle\"", unit);
}

std::string row_chart_svg(const RowChart& chart) {
  const Axis axis = axis_of(chart);
  const double top = 6 + kLimitHeight * static_cast<double>(chart.limits.size());
  double bottom = top + kRowGap;
  for (const RowChart::Row& row : chart.rows) bottom += height_of(row);
  // Bars start at 0, on a logarithmic axis at 1.
  const double from = chart.bars ? axis.at(chart.logarithmic ? 1 : 0) : 0;
  std::string out = page_axis(axis, kLeft, kRight, top, bottom, chart.unit);
  double y = top + kRowGap;
  for (const RowChart::Row& row : chart.rows) {
    const double rows_height = height_of(row) - kRowGap;
    const std::string name = shortened(row.name, kMaxNameBytes);
    out += text_at(kLeft - 10, y + rows_height / 2 + 4, "class=\"name\" text-anchor=\"end\"", name);
    double mark_y = y + kMarkHeight / 2;
    for (const RowChart::Mark& mark : row.marks) {
      if (mark.value > 0 && axis.shows(mark.value))
        out += chart.bars ? bar(mark, axis, from, mark_y) : dot(mark, axis, mark_y);
      out += text_at(kPageDrawingWidth - 4, mark_y + 4, "class=\"value\" text-anchor=\"end\"", mark.text);
      mark_y += kMarkHeight;
    }
    y += height_of(row);
  }
  out += limits(chart, axis, bottom);
  return page_drawing(kPageDrawingWidth, bottom + kPageAxisHeight, chart.label, out);
}

}  // namespace imgpipe
