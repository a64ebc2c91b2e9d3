#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "app/report/histogram_file.h"
#include "app/report/svg.h"

namespace imgpipe {
namespace {

// The drawing, in pixels of the SVG: two panels of bars, one above the other. A bar is a value of 8 bits, or
// the 256 values of 16 bits that begin with it.
constexpr int kBars = 256;
constexpr int kLeft = 70;
constexpr int kBarWidth = 3;
constexpr int kPlotWidth = kBars * kBarWidth;
constexpr int kPlotHeight = 200;
constexpr int kPanelTop[2] = {76, 358};
constexpr int kWidth = kLeft + kPlotWidth + 30;
constexpr int kHeight = 606;

constexpr std::array<const char*, 3> kPlaneColors{"#d62728", "#2ca02c", "#1f5fd6"};

// A name may be as long as the file system allows, the drawing is not: its ends stay.
std::string shortened(const std::string& text) {
  constexpr std::size_t kEnd = 36;  // two of them fit
  if (text.size() <= 2 * kEnd) return text;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  std::size_t first = kEnd;
  std::size_t last = text.size() - kEnd;
  while (continues(text[first])) --first;
  while (last < text.size() && continues(text[last])) ++last;
  return text.substr(0, first) + "..." + text.substr(last);
}

// 1, 2 or 5 times a power of ten, at least `value`.
double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(value, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (factor * power >= value) return factor * power;
  }
  return 10 * power;
}

// Counts span decades and single bins tower over the rest, so the height shows the square root.
class Panel {
 public:
  Panel(const Counts& counts, int top, const std::string& title)
      : counts_(counts), bottom_(top + kPlotHeight), title_(title) {
    std::uint64_t most = 1;
    for (int plane = 0; plane < counts.planes(); ++plane) {
      for (int bar = 0; bar < kBars; ++bar) most = std::max(most, count_of(plane, bar));
    }
    top_count_ = round_up(static_cast<double>(most));
  }

  [[nodiscard]] std::string draw() const {
    std::string out = text_at(kLeft, bottom_ - kPlotHeight - 26, "class=\"panel\"", title_);
    for (const double share : {0.01, 0.1, 0.25, 0.5, 1.0}) {
      const double y = height_of(top_count_ * share);
      if (top_count_ * share != std::floor(top_count_ * share)) continue;  // of no pixels
      out += line(kLeft, y, kLeft + kPlotWidth, y, "class=\"grid\"");
      out += text_at(kLeft - 8, y + 4, "class=\"tick\" text-anchor=\"end\"", count_text(top_count_ * share));
    }
    const bool color = counts_.planes() == 3;
    for (int plane = 0; plane < counts_.planes(); ++plane) {
      out +=
          bars(plane, color ? kPlaneColors[static_cast<std::size_t>(plane)] : "#3b4252", color ? "0.5" : "1");
    }
    out += line(kLeft, bottom_, kLeft + kPlotWidth, bottom_, "class=\"axis\"");
    for (int eighth = 0; eighth <= 8; ++eighth) {
      const int value = std::min(counts_.bins() * eighth / 8, counts_.bins() - 1);
      const double x = center_of(value);
      out += line(x, bottom_, x, bottom_ + 5, "class=\"axis\"");
      out += text_at(x, bottom_ + 19, "class=\"tick\" text-anchor=\"middle\"", std::to_string(value));
    }
    return out;
  }

  // The ranges as dashed lines; where those of several planes meet, their dashes take turns. Their values
  // stand above the plot, each in a place of its own, so that they never collide however close the lines are.
  [[nodiscard]] std::string marks(const std::vector<ContrastRange>& ranges, bool alone) const {
    constexpr std::array<const char*, 3> kPlaneNames{"R ", "G ", "B "};
    constexpr double kPlace = 68;
    std::string out;
    double x = kLeft + kPlotWidth + kPlace * (1 - 2 * static_cast<double>(ranges.size()));
    for (const ContrastRange& range : ranges) {
      const auto plane = static_cast<std::size_t>(range.plane);
      const std::string color = alone ? "#b35f00" : kPlaneColors[plane];
      const std::string dashes =
          alone ? "5 3" : "4 8\" stroke-dashoffset=\"" + std::to_string(12 - 4 * range.plane);
      std::string line_style = "class=\"mark\" stroke=\"";
      line_style.append(color).append("\" stroke-dasharray=\"").append(dashes).append("\"");
      std::string text_style = "class=\"marktext\" text-anchor=\"end\" fill=\"";
      text_style.append(color).append("\"");
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
  [[nodiscard]] double center_of(int value) const {
    return kLeft + kPlotWidth * (value + 0.5) / counts_.bins();
  }
  [[nodiscard]] std::uint64_t count_of(int plane, int bar) const {
    const int values = counts_.bins() / kBars;
    std::uint64_t count = 0;
    for (int i = 0; i < values; ++i) count += counts_.at(plane, bar * values + i);
    return count;
  }
  [[nodiscard]] double height_of(double count) const {
    return bottom_ - kPlotHeight * std::sqrt(count / top_count_);
  }

  [[nodiscard]] std::string bars(int plane, const std::string& color, const std::string& opacity) const {
    std::string path = "<path fill=\"" + color + "\" fill-opacity=\"" + opacity + "\" d=\"";
    for (int bar = 0; bar < kBars; ++bar) {
      const auto count = static_cast<double>(count_of(plane, bar));
      if (count == 0) continue;
      path += "M" + std::to_string(kLeft + bar * kBarWidth) + " " + coordinate(bottom_) + "V" +
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
  double bottom_;
  std::string title_;
  double top_count_ = 1;
};

}  // namespace

std::string histogram_svg(const HistogramPair& pair) {
  constexpr const char* kStyle =
      "text{font-family:sans-serif}.title{font-size:16px;font-weight:bold}.panel{font-size:14px}"
      ".title,.panel{fill:#222}.tick{font-size:11px;fill:#555}.grid{stroke:#ddd}.axis{stroke:#444}"
      ".mark{stroke-width:1.5}.marktext{font-size:12px;font-weight:bold}";
  std::string out;
  out += text_at(kLeft, 28, "class=\"title\"", shortened(pair.title));
  const Panel before(pair.before, kPanelTop[0], "before: " + pair.before_label);
  const Panel after(pair.after, kPanelTop[1], "after: " + pair.after_label);
  out += before.draw();
  std::vector<ContrastRange> stretched = pair.ranges;
  std::erase_if(stretched, [](const ContrastRange& range) { return range.hi <= range.lo; });
  out += before.marks(stretched, pair.ranges.size() == 1);
  out += after.draw();
  const bool deep = pair.before.bins() > kBars || pair.after.bins() > kBars;
  out += text_at(kLeft, kHeight - 10, "class=\"tick\"",
                 std::string("value of a sample; height: square root of the number of pixels") +
                     (deep ? "; of 16 bits a column is 256 values" : ""));
  return drawing(kWidth, kHeight, kStyle, out);
}

}  // namespace imgpipe
