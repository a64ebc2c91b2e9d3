#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "app/report/axis.h"
#include "app/report/histogram_drawing.h"
#include "app/report/histogram_file.h"
#include "app/report/svg.h"

namespace imgpipe {
namespace {

// Layout in pixels of the SVG: two panels of bars, one above the other.
constexpr int kBars = 256;
constexpr int kPlotLeft = 70;
constexpr int kBarWidth = 3;
constexpr int kPlotWidth = kBars * kBarWidth;
constexpr int kPlotHeight = 200;
constexpr int kPanelTop[2] = {76, 358};
constexpr int kWidth = kPlotLeft + kPlotWidth + 30;
constexpr int kHeight = 606;
constexpr int kTitleHeight = 34;

// Classes select the colours: plane-r and so on for planes, range-r for their ranges; k is grey.
constexpr std::array<const char*, 3> kPlaneKeys{"r", "g", "b"};

// The values on a panel's axis; `size` is kBars times a power of two.
struct Window {
  int first = 0, size = kBars;
  [[nodiscard]] int per_bar() const { return size / kBars; }
  [[nodiscard]] int last() const { return first + size - 1; }
};

// Returns the smallest window that contains every sample and mark and starts at a multiple of an eighth of
// its size. 12-bit samples would fill only a sixteenth of a 16-bit axis.
Window window_of(const Counts& counts, const std::vector<ContrastRange>& marks) {
  int least = counts.bins() - 1;
  int most = 0;
  for (int plane = 0; plane < counts.planes(); ++plane) {
    for (int value = 0; value < counts.bins(); ++value) {
      if (counts.at(plane, value) == 0) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  for (const ContrastRange& mark : marks) {
    least = std::min(least, mark.lo);
    most = std::max(most, mark.hi);
  }
  Window window;
  for (; window.size < counts.bins(); window.size *= 2) {
    const int step = window.size / 8;
    window.first = std::min(least / step * step, counts.bins() - window.size);
    if (window.last() >= most) return window;
  }
  window.first = 0;
  return window;
}

std::string title_of(const std::string& text, const Window& window) {
  if (window.per_bar() == 1) return text;
  return text + "; a column is " + std::to_string(window.per_bar()) + " values";
}

// Counts span decades and single bins dominate, so heights are square roots.
class Panel {
 public:
  Panel(const Counts& counts, const std::vector<ContrastRange>& marks, int top, const std::string& title)
      : counts_(counts),
        window_(window_of(counts, marks)),
        bottom_(top + kPlotHeight),
        title_(title_of(title, window_)) {
    std::uint64_t most = 1;
    for (int plane = 0; plane < counts.planes(); ++plane) {
      for (int bar = 0; bar < kBars; ++bar) most = std::max(most, count_of(plane, bar));
    }
    top_count_ = rounded_up(static_cast<double>(most));
  }

  [[nodiscard]] std::string draw() const {
    std::string out = text_at(kPlotLeft, bottom_ - kPlotHeight - 26, "class=\"panel\"", title_);
    for (const double share : {0.01, 0.1, 0.25, 0.5, 1.0}) {
      const double y = height_of(top_count_ * share);
      if (top_count_ * share != std::floor(top_count_ * share)) continue;  // not a whole number of pixels
      out += line(kPlotLeft, y, kPlotLeft + kPlotWidth, y, "class=\"grid\"");
      out +=
          text_at(kPlotLeft - 8, y + 4, "class=\"tick\" text-anchor=\"end\"", count_text(top_count_ * share));
    }
    const bool color = counts_.planes() == 3;
    for (int plane = 0; plane < counts_.planes(); ++plane) {
      out += bars(plane, color ? kPlaneKeys[static_cast<std::size_t>(plane)] : "k", color ? "0.5" : "1");
    }
    out += line(kPlotLeft, bottom_, kPlotLeft + kPlotWidth, bottom_, "class=\"axis\"");
    for (int eighth = 0; eighth <= 8; ++eighth) {
      const int value = std::min(window_.first + window_.size / 8 * eighth, window_.last());
      const double x = center_of(value);
      out += line(x, bottom_, x, bottom_ + 5, "class=\"axis\"");
      out += text_at(x, bottom_ + 19, "class=\"tick\" text-anchor=\"middle\"", value_text(value));
    }
    return out;
  }

  // Draws the ranges as dashed lines; the dashes of several planes alternate where lines coincide. The values
  // are in columns above the plot, so they never overlap, however close the lines are.
  [[nodiscard]] std::string marks(const std::vector<ContrastRange>& ranges, bool alone) const {
    constexpr std::array<const char*, 3> kPlaneNames{"R ", "G ", "B "};
    constexpr double kPlace = 68;
    std::string out;
    double x = kPlotLeft + kPlotWidth + kPlace * (1 - 2 * static_cast<double>(ranges.size()));
    for (const ContrastRange& range : ranges) {
      const auto plane = static_cast<std::size_t>(range.plane);
      const std::string key = alone ? "k" : kPlaneKeys[plane];
      const std::string dashes =
          alone ? "5 3" : "4 8\" stroke-dashoffset=\"" + std::to_string(12 - 4 * range.plane);
      std::string line_style = "class=\"mark range-";
      line_style.append(key).append("\" stroke-dasharray=\"").append(dashes).append("\"");
      const std::string text_style = "class=\"marktext range-" + key + "\" text-anchor=\"end\"";
      for (const auto& [name, value] : {std::pair{"lo ", range.lo}, {"hi ", range.hi}}) {
        out += line(center_of(value), bottom_ - kPlotHeight, center_of(value), bottom_, line_style);
        out += text_at(x, bottom_ - kPlotHeight - 8, text_style,
                       (alone ? "" : kPlaneNames[plane]) + std::string(name) + std::to_string(value));
        x += kPlace;
      }
    }
    return out;
  }

 private:
  // The last bin of floats has the upper limit, the others the value at which they begin.
  [[nodiscard]] std::string value_text(int value) const {
    if (!is_float(counts_.sample)) return std::to_string(value);
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g",
                  counts_.limits.edge(value == window_.last() ? counts_.limits.bins : value));
    return text.data();
  }
  [[nodiscard]] double center_of(int value) const {
    return kPlotLeft + kPlotWidth * (value - window_.first + 0.5) / window_.size;
  }
  [[nodiscard]] std::uint64_t count_of(int plane, int bar) const {
    const int values = window_.per_bar();
    std::uint64_t count = 0;
    for (int i = 0; i < values; ++i) count += counts_.at(plane, window_.first + bar * values + i);
    return count;
  }
  [[nodiscard]] double height_of(double count) const {
    return bottom_ - kPlotHeight * std::sqrt(count / top_count_);
  }

  [[nodiscard]] std::string bars(int plane, const std::string& key, const std::string& opacity) const {
    std::string path = "<path class=\"plane-" + key + "\" fill-opacity=\"" + opacity + "\" d=\"";
    for (int bar = 0; bar < kBars; ++bar) {
      const auto count = static_cast<double>(count_of(plane, bar));
      if (count == 0) continue;
      path += "M" + std::to_string(kPlotLeft + bar * kBarWidth) + " " + coordinate(bottom_) + "V" +
              coordinate(std::min(height_of(count), bottom_ - 1.0)) + "h" + std::to_string(kBarWidth) + "V" +
              coordinate(bottom_) + "z";
    }
    return path + "\"/>\n";
  }

  static std::string count_text(double count) {
    std::array<char, 32> text{};
    if (count >= 1e6) {
      std::snprintf(text.data(), text.size(), "%gM", count / 1e6);
    } else if (count >= 1e3) {
      std::snprintf(text.data(), text.size(), "%gk", count / 1e3);
    } else {
      std::snprintf(text.data(), text.size(), "%g", count);
    }
    return text.data();
  }

  const Counts& counts_;
  Window window_;
  double bottom_;
  std::string title_;
  double top_count_ = 1;
};

}  // namespace

HistogramDrawing histogram_drawing(const HistogramPair& pair) {
  std::string out;
  std::vector<ContrastRange> stretched = pair.ranges;
  std::erase_if(stretched, [](const ContrastRange& range) { return range.hi <= range.lo; });
  const Panel before(pair.before, stretched, kPanelTop[0], "before: " + pair.before_label);
  const Panel after(pair.after, {}, kPanelTop[1], "after: " + pair.after_label);
  out += before.draw();
  out += before.marks(stretched, pair.ranges.size() == 1);
  out += after.draw();
  out += text_at(kPlotLeft, kHeight - 10, "class=\"tick\"",
                 "value of a sample; height: square root of the number of pixels");
  return {kWidth, kHeight, kTitleHeight, out};
}

std::string histogram_svg(const HistogramPair& pair) {
  constexpr const char* kStyle =
      "text{font-family:sans-serif}.title{font-size:16px;font-weight:bold}.panel{font-size:14px}"
      ".title,.panel{fill:#222}.tick{font-size:11px;fill:#555}.grid{stroke:#ddd}.axis{stroke:#444}"
      ".mark{stroke-width:1.5}.marktext{font-size:12px;font-weight:bold}"
      ".plane-r{fill:#d62728}.plane-g{fill:#2ca02c}.plane-b{fill:#1f5fd6}.plane-k{fill:#3b4252}"
      "line.range-r{stroke:#d62728}line.range-g{stroke:#2ca02c}line.range-b{stroke:#1f5fd6}"
      "line.range-k{stroke:#b35f00}text.range-r{fill:#d62728}text.range-g{fill:#2ca02c}"
      "text.range-b{fill:#1f5fd6}text.range-k{fill:#b35f00}";
  const HistogramDrawing content = histogram_drawing(pair);
  return drawing(kWidth, kHeight, kStyle,
                 text_at(kPlotLeft, 28, "class=\"title\"", shortened(pair.title, 73)) + content.elements);
}

}  // namespace imgpipe
