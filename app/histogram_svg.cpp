#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "app/histogram_file.h"
#include "app/svg.h"

namespace imgpipe {
namespace {

// The drawing, in pixels of the SVG: two panels of 256 bars, one above the other.
constexpr int kLeft = 70;
constexpr int kBarWidth = 3;
constexpr int kPlotWidth = kBins * kBarWidth;
constexpr int kPlotHeight = 200;
constexpr int kPanelTop[2] = {76, 358};
constexpr int kWidth = kLeft + kPlotWidth + 30;
constexpr int kHeight = 606;

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
    top_count_ =
        round_up(static_cast<double>(std::max<std::uint64_t>(1, *std::ranges::max_element(counts.values))));
  }

  [[nodiscard]] std::string draw() const {
    std::string out = text_at(kLeft, bottom_ - kPlotHeight - 26, "class=\"panel\"", title_);
    for (const double share : {0.01, 0.1, 0.25, 0.5, 1.0}) {
      const double y = height_of(top_count_ * share);
      out += line(kLeft, y, kLeft + kPlotWidth, y, "class=\"grid\"");
      out += text_at(kLeft - 8, y + 4, "class=\"tick\" text-anchor=\"end\"", count_text(top_count_ * share));
    }
    const bool color = counts_.planes() == 3;
    constexpr std::array<const char*, 3> kColors{"#d62728", "#2ca02c", "#1f5fd6"};
    for (int plane = 0; plane < counts_.planes(); ++plane) {
      out += bars(plane, color ? kColors[static_cast<std::size_t>(plane)] : "#3b4252", color ? "0.5" : "1");
    }
    out += line(kLeft, bottom_, kLeft + kPlotWidth, bottom_, "class=\"axis\"");
    for (const int value : {0, 32, 64, 96, 128, 160, 192, 224, 255}) {
      const double x = center_of(value);
      out += line(x, bottom_, x, bottom_ + 5, "class=\"axis\"");
      out += text_at(x, bottom_ + 19, "class=\"tick\" text-anchor=\"middle\"", std::to_string(value));
    }
    return out;
  }

  // A dashed line through the plot at a value; its label stands above the plot or, as one of several, in it.
  [[nodiscard]] std::string mark(int value, const std::string& label, bool label_left, int slot) const {
    const double x = center_of(value);
    const double top = bottom_ - kPlotHeight;
    const double y = slot < 0 ? top - 4 : top + 14 + 15 * slot;
    return line(x, top - 8, x, bottom_, "class=\"mark\"") +
           text_at(x + (label_left ? -5 : 5), y,
                   label_left ? "class=\"marktext\" text-anchor=\"end\"" : "class=\"marktext\"", label);
  }

 private:
  [[nodiscard]] static double center_of(int value) { return kLeft + kBarWidth * (value + 0.5); }
  [[nodiscard]] double height_of(double count) const {
    return bottom_ - kPlotHeight * std::sqrt(count / top_count_);
  }

  [[nodiscard]] std::string bars(int plane, const std::string& color, const std::string& opacity) const {
    std::string path = "<path fill=\"" + color + "\" fill-opacity=\"" + opacity + "\" d=\"";
    for (int bin = 0; bin < kBins; ++bin) {
      const auto count = static_cast<double>(counts_.at(plane, bin));
      if (count == 0) continue;
      path += "M" + std::to_string(kLeft + bin * kBarWidth) + " " + coordinate(bottom_) + "V" +
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
      "text{font-family:sans-serif;fill:#222}.title{font-size:16px;font-weight:bold}.panel{font-size:14px}"
      ".tick{font-size:11px;fill:#555}.grid{stroke:#ddd}.axis{stroke:#444}"
      ".mark{stroke:#e67e00;stroke-width:1.5;stroke-dasharray:5 3}"
      ".marktext{font-size:12px;fill:#b35f00;font-weight:bold}";
  std::string out;
  out += text_at(kLeft, 28, "class=\"title\"", pair.title);
  const Panel before(pair.before, kPanelTop[0], "before: " + pair.before_label);
  const Panel after(pair.after, kPanelTop[1], "after: " + pair.after_label);
  out += before.draw();
  const bool several = pair.ranges.size() > 1;
  constexpr std::array<const char*, 3> kPlanes{" R", " G", " B"};
  for (const ContrastRange& range : pair.ranges) {
    if (range.hi <= range.lo) continue;
    const std::string plane = several ? kPlanes[static_cast<std::size_t>(range.plane)] : "";
    // A label stays inside the drawing: left of its line near the right edge.
    const int slot = several ? range.plane : -1;
    out += before.mark(range.lo, "lo" + plane + " " + std::to_string(range.lo), range.lo > 215, slot);
    out += before.mark(range.hi, "hi" + plane + " " + std::to_string(range.hi), range.hi > 40, slot);
  }
  out += after.draw();
  out += text_at(kLeft, kHeight - 10, "class=\"tick\"",
                 "value of a sample; height: square root of the number of pixels");
  return drawing(kWidth, kHeight, kStyle, out);
}

}  // namespace imgpipe
