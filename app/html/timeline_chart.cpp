#include "app/html/timeline_chart.h"

#include <algorithm>
#include <set>

#include "app/html/html_text.h"
#include "app/html/row_chart.h"
#include "app/report/axis.h"
#include "app/report/svg.h"

namespace imgpipe {
namespace {

using Bar = TimelineChart::Bar;

constexpr double kTimelineLeft = 130;
constexpr double kTimelineRight = kPageDrawingWidth - 10.0;
constexpr double kTop = 6;
constexpr double kLaneHeight = 20;
constexpr double kTrackGap = 6;
constexpr std::size_t kMaxLanes = 8;  // per track
constexpr std::size_t kMaxSpanNameBytes = 16;

bool is_shown(const Bar& bar, const TimelineChart& chart) {
  return bar.end_ms >= chart.from_ms && bar.start_ms <= chart.to_ms;
}

struct Track {
  std::string name;
  std::vector<std::vector<Bar>> lanes;

  // Adds a bar to the first free lane. Merges it with the lane's last bar if the gap is too small to see.
  void add(const Bar& bar, double seen_ms) {
    std::size_t at = 0;
    while (at < lanes.size() && lanes[at].back().end_ms > bar.start_ms && at + 1 < kMaxLanes) ++at;
    if (at == lanes.size()) lanes.emplace_back();
    if (!lanes[at].empty()) {
      Bar& last = lanes[at].back();
      if (last.name == bar.name && last.faint == bar.faint && bar.start_ms - last.end_ms < seen_ms) {
        last.end_ms = std::max(last.end_ms, bar.end_ms);
        return;
      }
    }
    lanes[at].push_back(bar);
  }
};

std::vector<Track> tracks_of(const TimelineChart& chart, double seen_ms) {
  std::vector<Bar> bars;
  for (Bar bar : chart.bars) {
    if (!is_shown(bar, chart)) continue;
    bar.start_ms = std::max(bar.start_ms, chart.from_ms);
    bar.end_ms = std::min(bar.end_ms, chart.to_ms);
    bars.push_back(std::move(bar));
  }
  std::ranges::stable_sort(bars, {}, &Bar::start_ms);
  std::vector<Track> tracks;
  for (const Bar& bar : bars) {
    auto track = std::ranges::find(tracks, bar.track, &Track::name);
    if (track == tracks.end()) {
      tracks.push_back({bar.track, {}});
      track = tracks.end() - 1;
    }
    track->add(bar, seen_ms);
  }
  if (tracks.size() > kMaxTracks) tracks.resize(kMaxTracks);
  return tracks;
}

std::string drawn(const Bar& bar, const Axis& axis, double y) {
  const double x = axis.at(bar.start_ms);
  const double width = std::max(axis.at(bar.end_ms) - x, 1.0);
  std::string out = "<rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y + 2) + "\" width=\"" +
                    coordinate(width) + "\" height=\"" + coordinate(kLaneHeight - 4) + "\" class=\"s" +
                    std::to_string(bar.series) + (bar.faint ? " faint" : "") + "\"><title>" + html(bar.name) +
                    "</title></rect>\n";
  if (8.0 * static_cast<double>(bar.name.size()) + 8 <= width)
    out +=
        text_at(x + width / 2, y + kLaneHeight / 2 + 4, "class=\"onbar\" text-anchor=\"middle\"", bar.name);
  return out;
}

}  // namespace

std::size_t tracks_left_out(const TimelineChart& chart) {
  std::set<std::string> tracks;
  for (const Bar& bar : chart.bars)
    if (is_shown(bar, chart)) tracks.insert(bar.track);
  return tracks.size() - std::min(tracks.size(), kMaxTracks);
}

std::string timeline_chart_svg(const TimelineChart& chart) {
  const double length_ms = std::max(chart.to_ms - chart.from_ms, 1e-6);
  // The axis shows the time since from_ms.
  const Axis axis(0, length_ms, false, kTimelineLeft, kTimelineRight);
  std::string out;
  double y = kTop;
  for (const Track& track : tracks_of(chart, length_ms / (kTimelineRight - kTimelineLeft) / 2)) {
    const double height = kLaneHeight * static_cast<double>(track.lanes.size());
    out += "<rect x=\"" + coordinate(kTimelineLeft) + "\" y=\"" + coordinate(y) + "\" width=\"" +
           coordinate(kTimelineRight - kTimelineLeft) + "\" height=\"" + coordinate(height) +
           "\" class=\"lane\"/>\n";
    out += text_at(kTimelineLeft - 8, y + kLaneHeight / 2 + 4, "class=\"name\" text-anchor=\"end\"",
                   shortened(track.name, kMaxSpanNameBytes));
    for (const std::vector<Bar>& lane : track.lanes) {
      for (Bar bar : lane) {
        bar.start_ms -= chart.from_ms;
        bar.end_ms -= chart.from_ms;
        out += drawn(bar, axis, y);
      }
      y += kLaneHeight;
    }
    y += kTrackGap;
  }
  out = page_axis(axis, kTimelineLeft, kTimelineRight, kTop, y, "ms") + out;
  return page_drawing(kPageDrawingWidth, y + kPageAxisHeight, chart.label, out);
}

}  // namespace imgpipe
