// A drawing of what ran when: a band for each track, in it a bar for each span, coloured by what ran.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

struct TimelineChart {
  struct Bar {
    std::string track;
    std::string name;
    int series = 0;  // of the name: class s0, s1 and so on
    double start_ms = 0, end_ms = 0;
    bool faint = false;  // a warm-up
  };

  std::string label;              // of the whole, for those who do not see it
  double from_ms = 0, to_ms = 0;  // what is shown; bars that lie outside are not drawn
  std::vector<Bar> bars;
};

// Tracks beyond this are not drawn; how many those are.
inline constexpr std::size_t kMostTracks = 48;
[[nodiscard]] std::size_t tracks_left_out(const TimelineChart& chart);

// As an element of a page. Bars of one track that overlap lie in lanes of their own; neighbours of one name
// that no eye tells apart are one. A name stands on its bar where it fits there.
[[nodiscard]] std::string timeline_chart_svg(const TimelineChart& chart);

}  // namespace imgpipe
