// Plots of measurements, as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace imgpipe {

struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x, y; a logarithmic axis omits those <= 0
  bool dashed = false;
};

struct LinePlot {
  std::string title;
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<PlotSeries> series;
};

// A dot plot with one row per name and one dot per series, over a logarithmic axis.
struct DotPlot {
  std::string title;
  std::string x_label;
  std::vector<std::string> rows;
  struct Dots {
    std::string name;
    std::vector<double> values;  // by row; <= 0: no dot
  };
  std::vector<Dots> dots;
};

// Draws the panels one below the other.
[[nodiscard]] std::string plot_svg(const std::vector<LinePlot>& panels);
[[nodiscard]] std::string plot_svg(const std::vector<DotPlot>& panels);

}  // namespace imgpipe
