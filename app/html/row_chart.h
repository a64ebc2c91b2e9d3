// A chart of rows: a name on the left, a bar or dot for each value, the value as text on the right. Text has
// its own columns, so nothing overlaps, however close the values are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/report/axis.h"

namespace imgpipe {

struct RowChart {
  struct Mark {
    int series = 0;                         // its colour: class s0, s1 and so on
    double value = 0;                       // <= 0: no mark
    std::optional<double> least{}, most{};  // range of the value
    std::string text;                       // the value, for people
  };
  struct Row {
    std::string name;
    std::vector<Mark> marks;  // one below another
  };
  // A line across all rows, with its name at the top.
  struct Limit {
    std::string name;
    double value = 0;
  };

  std::string label;  // description for screen readers
  std::string unit;   // below the axis
  bool bars = true;   // bars from the start of the axis; false: dots
  bool logarithmic = false;
  std::vector<Row> rows;
  std::vector<Limit> limits;
};

// Returns an SVG element that the page's style sheet colours (app/html/page_style.h).
[[nodiscard]] std::string row_chart_svg(const RowChart& chart);

// Wraps a drawing of `width` by `height` pixels in an SVG element; `label` describes it for screen readers.
[[nodiscard]] std::string page_drawing(int width, double height, const std::string& label,
                                       const std::string& content);
inline constexpr int kPageDrawingWidth = 900;

// Draws the background of the rows from `top` to `bottom`: lines at the ticks, and below them the numbers and
// the unit in 44 pixels.
[[nodiscard]] std::string page_axis(const Axis& axis, double left, double right, double top, double bottom,
                                    const std::string& unit);
inline constexpr double kPageAxisHeight = 44;

}  // namespace imgpipe
