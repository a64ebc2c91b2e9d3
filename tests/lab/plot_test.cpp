// Reads drawings back as text: everything named is drawn, shapes are complete, no label hides another.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <regex>

#include <gtest/gtest.h>

#include "app/report/histogram_file.h"
#include "lab/bench/bench_plot.h"

namespace imgpipe::test::plot_test {
namespace {

using Attributes = std::map<std::string, std::string>;

// Returns every element `name` with its attributes, and its content under "".
std::vector<Attributes> elements(const std::string& svg, const std::string& name) {
  std::vector<Attributes> found;
  const std::regex element("<" + name + " ([^>]*)>([^<]*)");
  const std::regex attribute("([a-z0-9-]+)=\"([^\"]*)\"");
  for (std::sregex_iterator each(svg.begin(), svg.end(), element), end; each != end; ++each) {
    Attributes attributes{{"", (*each)[2]}};
    const std::string inside = (*each)[1];
    for (std::sregex_iterator one(inside.begin(), inside.end(), attribute); one != end; ++one)
      attributes[(*one)[1]] = (*one)[2];
    found.push_back(std::move(attributes));
  }
  return found;
}

double position(const Attributes& attributes, const std::string& name) {
  return std::stod(attributes.at(name));
}

bool holds_text(const std::string& svg, const std::string& text) {
  return svg.find(">" + text + "<") != std::string::npos;
}

// Expects that no circle leaves the frame of the axes.
void expect_whole_points(const std::string& svg) {
  double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
  for (const Attributes& line : elements(svg, "line")) {
    if (!line.contains("class") || line.at("class") == "range") continue;
    left = std::min(left, position(line, "x1"));
    right = std::max(right, position(line, "x2"));
    top = std::min(top, position(line, "y1"));
    bottom = std::max(bottom, position(line, "y2"));
  }
  std::size_t inside = 0;
  for (const Attributes& circle : elements(svg, "circle")) {
    const double x = position(circle, "cx"), y = position(circle, "cy"), r = position(circle, "r");
    if (x > right + r) continue;  // in the legend
    EXPECT_GT(x - r, left);
    EXPECT_LT(x + r, right);
    EXPECT_GT(y - r, top);
    EXPECT_LT(y + r, bottom);
    ++inside;
  }
  EXPECT_GT(inside, 0U);
  for (const char* broken : {"nan", "inf"}) EXPECT_EQ(svg.find(broken), std::string::npos);
}

DotPlot dot_plot(std::vector<DotPlot::Dots> dots) {
  DotPlot plot{"title", "GB/s", {}, std::move(dots)};
  for (std::size_t i = 0; i < plot.dots.front().values.size(); ++i)
    plot.rows.push_back("row " + std::to_string(i));
  return plot;
}

TEST(Plot, LegendsNameOnlyDrawnSeries) {
  const std::string dots = plot_svg(std::vector<DotPlot>{dot_plot(
      {{"drawn", {1, 2, 0}}, {"nowhere", {0, 0, 0}}, {"negative", {-1, 0, 0}}, {"last", {0, 0, 7}}})});
  EXPECT_TRUE(holds_text(dots, "drawn") && holds_text(dots, "last"));
  EXPECT_FALSE(holds_text(dots, "nowhere") || holds_text(dots, "negative"));
  const LinePlot plot{"title", "x",
                      "y",     true,
                      true,    {{"drawn", {{1, 2}, {3, 4}}}, {"nowhere", {{0, 1}, {1, -1}}}, {"empty", {}}}};
  const std::string lines = plot_svg(std::vector<LinePlot>{plot});
  EXPECT_TRUE(holds_text(lines, "drawn"));
  EXPECT_FALSE(holds_text(lines, "nowhere") || holds_text(lines, "empty"));
}

TEST(Plot, PointsOnTheFrameAreNotClipped) {
  for (const std::vector<double>& values :
       std::vector<std::vector<double>>{{1, 10}, {0.02, 5, 3}, {7}, {1e-9, 1e9}, {3, 3, 3}, {999, 1000}}) {
    expect_whole_points(plot_svg(std::vector<DotPlot>{dot_plot({{"a", values}, {"b", values}})}));
    for (const bool logarithmic : {false, true}) {
      PlotSeries series{"s", {}};
      for (const double value : values) series.points.emplace_back(value, value);
      expect_whole_points(
          plot_svg(std::vector<LinePlot>{{"t", "x", "y", logarithmic, logarithmic, {series}}}));
    }
  }
}

TEST(Plot, LongLegendStaysInItsPanel) {
  std::vector<DotPlot::Dots> many;
  for (int i = 0; i < 12; ++i) many.push_back({"series " + std::to_string(i), {1.0 + i}});
  const std::string svg = plot_svg(std::vector<DotPlot>{dot_plot(many), dot_plot(many)});
  double lowest_name = 0;
  double second_title = 0;
  for (const Attributes& text : elements(svg, "text")) {
    if (text.at("").starts_with("series") && second_title == 0)
      lowest_name = std::max(lowest_name, position(text, "y"));
    if (text.at("") == "title") second_title = position(text, "y");
    if (text.at("") == "title" && lowest_name == 0) second_title = 0;  // of the first panel
  }
  EXPECT_LT(lowest_name + 10, second_title);
}

// ---- histograms ---------------------------------------------------------------------------------------

HistogramPair histogram_of(int planes, std::vector<ContrastRange> ranges) {
  HistogramPair pair;
  pair.title = "x.png";
  pair.before.values.assign(static_cast<std::size_t>(256 * planes), 2);
  pair.after = pair.before;
  pair.ranges = std::move(ranges);
  return pair;
}

TEST(HistogramPlot, LabelsNeverCollide) {
  for (const auto& [lo, hi] : {std::pair{0, 1}, {0, 255}, {254, 255}, {127, 128}, {100, 120}}) {
    for (int planes : {1, 3}) {
      std::vector<ContrastRange> ranges;
      for (int plane = 0; plane < planes; ++plane) ranges.push_back({"contrast", plane, lo, hi});
      const std::string svg = histogram_svg(histogram_of(3, ranges));
      std::vector<double> ends;
      double top_of_lines = 1e9;
      for (const Attributes& line : elements(svg, "line")) {
        if (line.contains("class") && line.at("class").starts_with("mark "))
          top_of_lines = std::min(top_of_lines, position(line, "y1"));
      }
      for (const Attributes& text : elements(svg, "text")) {
        if (!text.at("class").starts_with("marktext ")) continue;
        EXPECT_LT(position(text, "y"), top_of_lines) << "above the lines";
        EXPECT_LE(position(text, "x"), 70 + 3 * 256);
        if (!ends.empty()) {
          EXPECT_GE(position(text, "x") - ends.back(), 66) << "eight bold letters of 12 pixels";
        }
        ends.push_back(position(text, "x"));
      }
      EXPECT_EQ(ends.size(), static_cast<std::size_t>(2 * planes));
    }
  }
}

TEST(HistogramPlot, PlaneIsNamedIfOnlyItWasStretched) {
  const std::string svg =
      histogram_svg(histogram_of(3, {{"contrast", 0, 9, 9}, {"contrast", 1, 3, 200}, {"contrast", 2, 9, 9}}));
  EXPECT_TRUE(holds_text(svg, "G lo 3") && holds_text(svg, "G hi 200"));
  EXPECT_EQ(svg.find("lo 9"), std::string::npos);
}

TEST(HistogramPlot, SixteenBitsUse256Bars) {
  HistogramPair pair = histogram_of(1, {{"contrast", 0, 0, 65535}});
  for (Counts* counts : {&pair.before, &pair.after}) {
    counts->sample = Sample::u16;
    counts->values.assign(65536, 0);
    counts->values[256] = counts->values[511] = 1;
  }
  const std::string svg = histogram_svg(pair);
  EXPECT_TRUE(holds_text(svg, "0") && holds_text(svg, "32768") && holds_text(svg, "65535"));
  EXPECT_FALSE(holds_text(svg, "255"));
  EXPECT_NE(svg.find("d=\"M73 276.0V76.0h3V276.0z\""), std::string::npos)
      << "two pixels are the most of a bar";
  EXPECT_NE(svg.find("x1=\"838.0\""), std::string::npos) << "the last value, right at the end";
  const std::string csv = histogram_text(pair, "h.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 65536);
  EXPECT_NE(csv.find("\n511,1,1\n"), std::string::npos);
}

TEST(HistogramPlot, SixteenBitAxisSpansTheOccurringValues) {
  struct Row {
    int least, most;
    const char *first_tick, *last_tick, *column;  // of the axis
  };
  for (const Row& row : {Row{60, 1206, "0", "2047", "a column is 8 values"},
                         {0, 255, "0", "255", nullptr},
                         {40000, 40300, "40000", "40511", "a column is 2 values"},
                         {65535, 65535, "65280", "65535", nullptr},
                         {0, 65535, "0", "65535", "a column is 256 values"}}) {
    HistogramPair pair = histogram_of(1, {});
    for (Counts* counts : {&pair.before, &pair.after}) {
      counts->sample = Sample::u16;
      counts->values.assign(65536, 0);
      counts->values[static_cast<std::size_t>(row.least)] = 1;
      counts->values[static_cast<std::size_t>(row.most)] = 1;
    }
    const std::string svg = histogram_svg(pair);
    EXPECT_TRUE(holds_text(svg, row.first_tick)) << row.least << ": " << row.first_tick;
    EXPECT_TRUE(holds_text(svg, row.last_tick)) << row.least << ": " << row.last_tick;
    EXPECT_EQ(svg.find("a column is") != svg.npos, row.column != nullptr) << row.least;
    if (row.column != nullptr) {
      EXPECT_NE(svg.find(row.column), svg.npos) << row.least;
    }
  }
}

TEST(HistogramPlot, TicksCountWholePixelsAndTitlesFit) {
  HistogramPair pair = histogram_of(1, {});
  const std::string svg = histogram_svg(pair);
  EXPECT_FALSE(holds_text(svg, "0.5") || holds_text(svg, "0.02"));
  EXPECT_TRUE(holds_text(svg, "1") && holds_text(svg, "2"));
  for (const std::string& letter :
       {std::string("n"), std::string("é"), std::string("日"), std::string("😀")}) {
    for (int lead = 0; lead < 4; ++lead) {
      pair.title = std::string(static_cast<std::size_t>(lead), '-');
      for (int i = 0; i < 100; ++i) pair.title += letter;
      const std::string title = elements(histogram_svg(pair), "text").front().at("");
      EXPECT_LE(title.size(), 80U);
      std::string rest = std::regex_replace(title, std::regex(letter + "|-|\\.\\.\\."), "");
      EXPECT_EQ(rest, "") << "no letter is cut";
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::plot_test
