// Plots of measurements, as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace imgpipe {

struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x, y; on a logarithmic axis those <= 0 are left out
  bool dashed = false;
};

// Lines over numbers.
struct LinePlot {
  std::string title;
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<PlotSeries> series;
};

// A row a name, a dot a series: many things under a few conditions. The axis is logarithmic.
struct DotPlot {
  std::string title;
  std::string x_label;
  std::vector<std::string> rows;
  struct Dots {
    std::string name;
    std::vector<double> values;  // by row; <= 0: none
  };
  std::vector<Dots> dots;
};

// The panels one below the other.
[[nodiscard]] std::string plot_svg(const std::vector<LinePlot>& panels);
[[nodiscard]] std::string plot_svg(const std::vector<DotPlot>& panels);

}  // namespace imgpipe
