// Tables and plots of the lab's measurements.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/report/axis.h"
#include "app/report/result_table.h"
#include "lab/bench/bench_plot.h"

namespace imgpipe::test::bench_table_test {
namespace {

ResultTable sample_table() {
  return {"A title",
          {{"stage", "", true}, {"variant", "variant", true}, {"median_us", "median us"}, {"share", "share"}},
          {{"hist", "a, \"quoted\"", {1.5, 2}, {0.25, 1, 100, "%"}},
           {"hist", "b", TableCell(), {1.0 / 3, 1, 100, "%"}}},
          {"a note"}};
}

TEST(ResultTables, TextTables) {
  EXPECT_EQ(table_text(sample_table()),
            "A title\n"
            " variant      median us  share\n"
            " a, \"quoted\"       1.50  25.0%\n"
            " b                       33.3%\n"
            " a note\n");
  EXPECT_EQ(
      table_markdown(sample_table()),
      "**A title**\n\n| variant | median us | share |\n|---|--:|--:|\n| a, \"quoted\" | 1.50 | 25.0% |\n"
      "| b |  | 33.3% |\n\na note\n");
}

TEST(ResultTables, MachineReadableTables) {
  EXPECT_EQ(
      table_csv(sample_table()),
      "stage,variant,median_us,share\nhist,\"a, \"\"quoted\"\"\",1.5,0.25\nhist,b,,0.3333333333333333\n");
  const ResultTable table = sample_table();
  EXPECT_EQ(table_csv(table, &table).substr(0, 5), "hist,") << "no second header";
  const nlohmann::ordered_json json = table_json(table);
  EXPECT_EQ(json[0]["median_us"], 1.5);
  EXPECT_EQ(json[0]["variant"], "a, \"quoted\"");
  EXPECT_TRUE(json[1]["median_us"].is_null());
}

TEST(Plots, Ticks) {
  EXPECT_EQ(axis_ticks(0, 100, false), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(axis_ticks(0, 255, false), (std::vector<double>{0, 50, 100, 150, 200, 250}));
  EXPECT_EQ(axis_ticks(1, 100, true), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  const std::vector<double> wide = axis_ticks(0.5, 2e6, true);
  EXPECT_DOUBLE_EQ(wide.front(), 1);
  EXPECT_DOUBLE_EQ(wide.back(), 1e6);
  EXPECT_EQ(wide.size(), 7U);
  EXPECT_FALSE(axis_ticks(3, 3, true).empty());
  EXPECT_FALSE(axis_ticks(0, 0, false).empty());
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

TEST(Plots, EveryPointIsInside) {
  const LinePlot plot{
      "a < b & c",
      "x",
      "y",
      true,
      true,
      {{"one", {{1, 1}, {10, 100}, {100, 10}}, false}, {"zero is left out", {{1, 0}, {10, 5}}, true}}};
  const std::string svg = plot_svg(std::vector<LinePlot>{plot, plot});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(count_of(svg, "<circle"), 8U);
  EXPECT_EQ(count_of(svg, "a &lt; b &amp; c"), 2U);
  EXPECT_EQ(count_of(svg, "<text"), count_of(svg, "</text>"));
  const DotPlot dots{"dots", "GB/s", {"a", "b"}, {{"first", {1, 0}}, {"second", {100, 10}}}};
  const std::string dotted = plot_svg(std::vector<DotPlot>{dots});
  EXPECT_EQ(count_of(dotted, "r=\"4.5\""), 5U) << "three values and two in the legend";
  EXPECT_EQ(plot_svg(std::vector<LinePlot>{{"nothing", "x", "y", true, true, {}}}).find("nan"),
            std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test::bench_table_test
