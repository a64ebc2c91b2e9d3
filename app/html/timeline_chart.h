// A timeline chart: a band for each track with a bar for each span, coloured by name.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

struct TimelineChart {
  struct Bar {
    std::string track;
    std::string name;
    int series = 0;  // colour of the name: class s0, s1 and so on
    double start_ms = 0, end_ms = 0;
    bool faint = false;  // a warm-up
  };

  std::string label;              // description for screen readers
  double from_ms = 0, to_ms = 0;  // range shown; bars outside are not drawn
  std::vector<Bar> bars;
};

// Further tracks are not drawn; tracks_left_out() returns their number.
inline constexpr std::size_t kMaxTracks = 48;
[[nodiscard]] std::size_t tracks_left_out(const TimelineChart& chart);

// Returns an SVG element. Overlapping bars of a track are stacked in lanes. Bars with the same name and an
// invisible gap are merged. A name is printed on its bar if it fits.
[[nodiscard]] std::string timeline_chart_svg(const TimelineChart& chart);

}  // namespace imgpipe
