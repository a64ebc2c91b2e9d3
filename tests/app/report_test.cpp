// The numbers that the report derives from a timeline: medians, totals, speed-ups; no clock involved.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/report/fields.h"
#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/report/report_tables.h"
#include "images/error.h"
#include "kernels/stage.h"

namespace imgpipe::test::report_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;

class ReportTest : public testing::Test {
 protected:
  void add(const std::string& name, SpanKind kind, std::int64_t start_ms, std::int64_t end_ms,
           std::int64_t bytes = 0, int pass = 0) {
    timeline_.add({name, "host", kind, start_ms * kMs, end_ms * kMs, bytes, pass});
  }
  static const ReportRow& row(const std::vector<ReportRow>& rows, const std::string& name) {
    for (const ReportRow& row : rows) {
      if (row.name == name) return row;
    }
    throw std::runtime_error("no row " + name);
  }

  Timeline timeline_;
  Plan plan_ = make_plan(parse_stages("smooth"), {10, 10, 1});
};

TEST_F(ReportTest, RowsInOrderOfFirstStartWithBusyTimes) {
  add("encode", SpanKind::host, 30, 40);
  add("decode", SpanKind::host, 0, 10, 500);
  add("smooth", SpanKind::kernel, 10, 14, 2'000'000);
  add("smooth", SpanKind::kernel, 20, 24, 2'000'000);
  const ImageReport report =
      make_image_report({.timeline = &timeline_, .plan = &plan_, .wall_ms = 40, .copy_bandwidth = 10e9});
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].name, "decode");
  EXPECT_EQ(report.rows[1].name, "smooth");
  EXPECT_EQ(report.rows[2].name, "encode");
  EXPECT_DOUBLE_EQ(report.rows[1].time_ms, 8);
  EXPECT_EQ(report.rows[1].bytes, 4'000'000);
  EXPECT_DOUBLE_EQ(*report.rows[1].gb_per_s, 0.5);
  EXPECT_DOUBLE_EQ(*report.rows[1].copy_share, 0.05);
  EXPECT_FALSE(report.rows[0].copy_share) << "a share of the copy bandwidth is for kernels";
  EXPECT_DOUBLE_EQ(report.span_union_ms, 10 + 4 + 4 + 10);
}

TEST_F(ReportTest, RepeatedPassesReportMediansAndOneEndToEndRun) {
  add("decode", SpanKind::host, 0, 10);
  add("smooth", SpanKind::kernel, 10, 110, 100, kWarmUpPass);
  add("smooth", SpanKind::kernel, 110, 114, 100, 0);
  add("smooth", SpanKind::kernel, 114, 120, 100, 1);
  add("smooth", SpanKind::kernel, 120, 121, 100, 2);
  add("write", SpanKind::host, 121, 126);
  Timeline reference;
  reference.add({"smooth", "host", SpanKind::kernel, 0, 40 * kMs, 100, 0});
  const std::vector<Difference> same(1);
  const ImageReport report = make_image_report({.timeline = &timeline_,
                                                .plan = &plan_,
                                                .wall_ms = 126,
                                                .reference = &reference,
                                                .differences = &same});
  EXPECT_DOUBLE_EQ(row(report.rows, "smooth").time_ms, 4);
  EXPECT_EQ(row(report.rows, "smooth").bytes, 100) << "of one pass";
  EXPECT_DOUBLE_EQ(*row(report.rows, "smooth").speed_up(), 10);
  EXPECT_EQ(row(report.rows, "smooth").comparison, "identical");
  EXPECT_DOUBLE_EQ(row(report.totals, "kernels").time_ms, 4);
  EXPECT_DOUBLE_EQ(row(report.totals, "end to end").time_ms, 126 - 111 + 4);
  EXPECT_DOUBLE_EQ(*row(report.totals, "end to end").reference_ms, 15 + 40);
  EXPECT_TRUE(report.identical);
}

// Two stages, each slow in one pass: the median pass takes 11 ms, but the median of each stage is 1 ms.
TEST_F(ReportTest, TotalsAreMediansOfSumsOnBothSides) {
  plan_ = make_plan(parse_stages("smooth,smooth"), {10, 10, 1});
  Timeline reference;
  for (int pass = 0; pass < 3; ++pass) {
    const std::int64_t start = 20 * pass;
    const std::int64_t split = start + (pass == 1 ? 10 : 1);
    const std::int64_t end = start + (pass == 2 ? 2 : 11);
    add("smooth", SpanKind::kernel, start, split, 100, pass);
    add("smooth#2", SpanKind::kernel, split, end, 100, pass);
    reference.add({"smooth", "host", SpanKind::kernel, 10 * start * kMs, 10 * split * kMs, 100, pass});
    reference.add({"smooth#2", "host", SpanKind::kernel, 10 * split * kMs, 10 * end * kMs, 100, pass});
  }
  const std::vector<Difference> same(2);
  const ImageReport report = make_image_report(
      {.timeline = &timeline_, .plan = &plan_, .wall_ms = 60, .reference = &reference, .differences = &same});
  const double rows = *row(report.rows, "smooth").reference_ms + *row(report.rows, "smooth#2").reference_ms;
  for (const char* total : {"kernels", "kernels + transfers"}) {
    EXPECT_DOUBLE_EQ(row(report.totals, total).time_ms, 11);
    EXPECT_DOUBLE_EQ(*row(report.totals, total).reference_ms, 110);
    EXPECT_DOUBLE_EQ(*row(report.totals, total).speed_up(), 10);
  }
  EXPECT_NE(rows, 110) << "else this test tells nothing apart";
  ProcessOptions options;
  options.reports.repeat = 5;
  RunFacts facts;
  facts.options = &options;
  facts.input.shape = facts.output = {10, 10, 1};
  const std::string table = image_report_table(report, facts, false);
  EXPECT_NE(table.find("medians of 5 passes"), std::string::npos) << table;
  EXPECT_NE(table.find("with 3 passes"), std::string::npos) << table;
}

TEST_F(ReportTest, TransfersHaveASeparateTotal) {
  add("upload", SpanKind::transfer, 0, 3);
  add("smooth", SpanKind::kernel, 3, 5);
  add("download", SpanKind::transfer, 5, 6);
  const ImageReport report = make_image_report({.timeline = &timeline_, .plan = &plan_, .wall_ms = 6});
  EXPECT_DOUBLE_EQ(row(report.totals, "kernels").time_ms, 2);
  EXPECT_DOUBLE_EQ(row(report.totals, "kernels + transfers").time_ms, 6);
  EXPECT_DOUBLE_EQ(row(report.totals, "end to end").time_ms, 6);
  EXPECT_FALSE(row(report.totals, "kernels").speed_up());
}

TEST_F(ReportTest, DifferencesAppearInEveryReport) {
  add("smooth", SpanKind::kernel, 0, 2);
  std::vector<Difference> differences(1);
  differences[0] = {3, 9, false};
  const ImageReport report = make_image_report({.timeline = &timeline_,
                                                .plan = &plan_,
                                                .wall_ms = 2,
                                                .reference = &timeline_,
                                                .differences = &differences});
  EXPECT_FALSE(report.identical);
  ProcessOptions options;
  options.input.path = "in,\"x\".png";
  options.output.path = "out.png";
  RunFacts facts;
  facts.options = &options;
  facts.input.shape = facts.output = {10, 10, 1};
  EXPECT_NE(image_report_table(report, facts, false).find("3 pixels differ (max 9)"), std::string::npos);
  EXPECT_EQ(image_report_table(report, facts, false).find('\x1b'), std::string::npos);
  EXPECT_NE(image_report_table(report, facts, true).find("\x1b[1;31m3 pixels differ"), std::string::npos);
  const auto json = nlohmann::json::parse(image_report_json(report, facts));
  EXPECT_EQ(json["comparison"], "different");
  EXPECT_EQ(json["rows"][0]["comparison"], "3 pixels differ (max 9)");
  EXPECT_TRUE(json["device"]["copy_bandwidth_gb_per_s"].is_null());
}

// Each cell of a table equals the JSON value under the same key.
TEST(ReportTables, CellsAreTheFieldsOfTheJson) {
  ImageReport report;
  report.compared = true;
  report.rows = {{"decode", SpanKind::codec, 12.5, 0},
                 {"smooth", SpanKind::kernel, 0.25, 4096, 16.4, 0.5, 2.0, "identical"}};
  report.totals = {{"end to end", SpanKind::host, 13, 0}};
  const ResultTable table = row_table(report);
  ASSERT_EQ(table.rows.size(), 3U);
  std::vector<ReportRow> rows = report.rows;
  rows.insert(rows.end(), report.totals.begin(), report.totals.end());
  for (std::size_t y = 0; y < rows.size(); ++y) {
    const Json json = fields_of([&](Fields& fields) { add_time_row(fields, rows[y]); }).json();
    ASSERT_EQ(table.rows[y].size(), table.columns.size());
    for (std::size_t x = 0; x < table.columns.size(); ++x) {
      const TableCell& cell = table.rows[y][x];
      const Json& value = json.at(table.columns[x].key);
      if (cell.value)
        EXPECT_EQ(value, *cell.value) << table.columns[x].key;
      else if (!cell.text.empty())
        EXPECT_EQ(value, cell.text) << table.columns[x].key;
      else
        EXPECT_TRUE(value.is_null() || value == 0) << table.columns[x].key;
    }
  }
  EXPECT_EQ(table.rows[1][4].text, "50.0%");
  report.compared = false;
  const std::string text = table_text(row_table(report));
  EXPECT_EQ(text.find("speed-up"), std::string::npos) << text;
}

TEST(HistogramSvg, NamesAreEscapedAndMarksDrawn) {
  HistogramPair pair;
  pair.title = "<a&b>.png";
  pair.before.values.assign(256, 0);
  pair.before.values[10] = 5;
  pair.after.values.assign(768, 3);
  pair.ranges = {{"contrast", 0, 10, 250}};
  const std::string svg = histogram_svg(pair);
  EXPECT_NE(svg.find("&lt;a&amp;b&gt;.png"), std::string::npos);
  EXPECT_NE(svg.find("lo 10"), std::string::npos);
  EXPECT_NE(svg.find("hi 250"), std::string::npos);
  pair.ranges[0].hi = 10;
  EXPECT_EQ(histogram_svg(pair).find("hi 10"), std::string::npos) << "nothing was stretched";
}

TEST(Options, PercentagesAreExact) {
  const auto clip = [](const std::string& text) {
    const std::vector<OptionValue> options{{"clip", text}};
    const Parameters parameters = StagePresets(options).of(*find_stage("contrast"));
    return std::pair(parameters[0], parameters[1]);
  };
  EXPECT_EQ(clip("0.5"), (std::pair<std::int64_t, std::int64_t>{500'000, 500'000}));
  EXPECT_EQ(clip("0.000001,99.999999"), (std::pair<std::int64_t, std::int64_t>{1, 99'999'999}));
  EXPECT_EQ(clip("7,0"), (std::pair<std::int64_t, std::int64_t>{7'000'000, 0}));
  for (const char* text : {"", ",", "1,", ",1", "1,2,3", "100", ".5", "5.", "1.2.3", "+1", "nan", " 1"})
    EXPECT_THROW((void)clip(text), Error) << text;
}

}  // namespace
}  // namespace imgpipe::test::report_test
