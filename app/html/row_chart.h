// A drawing of rows: a name at the left, a bar or a dot for each of its values, the value as text at the
// right. The text has places of its own, so that nothing of it collides, however close the values are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/report/axis.h"

namespace imgpipe {

struct RowChart {
  struct Mark {
    int series = 0;                         // its colour: class s0, s1 and so on
    double value = 0;                       // <= 0: there is none
    std::optional<double> least{}, most{};  // the range around it
    std::string text;                       // the value, for people
  };
  struct Row {
    std::string name;
    std::vector<Mark> marks;  // one below the other
  };
  // A line across all rows, with its name at the top.
  struct Limit {
    std::string name;
    double value = 0;
  };

  std::string label;  // of the whole, for those who do not see it
  std::string unit;   // below the axis
  bool bars = true;   // from the axis' beginning; else dots
  bool logarithmic = false;
  std::vector<Row> rows;
  std::vector<Limit> limits;
};

// As an element of a page, whose style sheet colours it (app/html/page_style.h).
[[nodiscard]] std::string row_chart_svg(const RowChart& chart);

// The beginning and the end of any of the pages' drawings, of so many pixels; `label` is for those who do not
// see it.
[[nodiscard]] std::string page_drawing(int width, double height, const std::string& label,
                                       const std::string& content);
inline constexpr int kPageDrawingWidth = 900;

// What lies behind the rows from `top` to `bottom`: lines at the ticks of their axis, and below them the
// numbers and the unit, 44 pixels high.
[[nodiscard]] std::string page_axis(const Axis& axis, double left, double right, double top, double bottom,
                                    const std::string& unit);
inline constexpr double kPageAxisHeight = 44;

}  // namespace imgpipe
