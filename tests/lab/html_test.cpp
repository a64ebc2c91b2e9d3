// The parts of pages: text that cannot break out, drawings, small images, and the code of every variant.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/files/replaceable.h"
#include "app/html/html_text.h"
#include "app/html/page.h"
#include "app/html/picture.h"
#include "app/html/row_chart.h"
#include "app/html/timeline_chart.h"
#include "app/report/svg.h"
#include "app/run_context.h"
#include "images/synth.h"
#include "images/text.h"
#include "lab/bench/source_text.h"
#include "lab/bench/variant_source.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/lab_transfer.h"
#include "pipeline/engine.h"

namespace imgpipe::test::html_test {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

TEST(HtmlText, HostileNamesAreEscaped) {
  EXPECT_EQ(html("<script>alert(\"&\")</script>"), "&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;");
  EXPECT_EQ(html("a\x1b[31m\n\xff"), "a\\x1B[31m\\x0A\\xFF");
  EXPECT_EQ(html("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(html_lines("a < b;\n\tc\r"), "a &lt; b;\n\tc\\x0D");
  EXPECT_EQ(html_lines(""), "");
}

TEST(HtmlText, Base64FollowsTheStandard) {
  const auto coded = [](const char* text) {
    return base64(std::as_bytes(std::span(text, std::strlen(text))));
  };
  EXPECT_EQ(coded(""), "");
  EXPECT_EQ(coded("f"), "Zg==");
  EXPECT_EQ(coded("fo"), "Zm8=");
  EXPECT_EQ(coded("foo"), "Zm9v");
  EXPECT_EQ(coded("foobar"), "Zm9vYmFy");
  const std::byte high[3]{std::byte{0xFF}, std::byte{0xEF}, std::byte{0xBE}};
  EXPECT_EQ(base64(high), "/+++");
}

TEST(HtmlText, ShortenedTextsKeepWholeCharacters) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("abcdefghij", 8), "ab...hij");
  EXPECT_EQ(shortened("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 7), "\xc3\xa4...\xc3\x9f");
  EXPECT_EQ(shortened("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 6), "...\xc3\x9f");
  EXPECT_EQ(shortened("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 5), "...");
}

TEST(HtmlPage, IsSelfContainedAndReplaceable) {
  HtmlPage page("a <title>");
  page.paragraph("x & y");
  const std::string text = page.text();
  EXPECT_TRUE(is_own_text(text));
  EXPECT_FALSE(is_own_text("<!DOCTYPE html>\n<html><head><title>another program's</title>"));
  EXPECT_NE(text.find("<title>a &lt;title&gt;</title>"), std::string::npos);
  EXPECT_EQ(text.find("http://"), std::string::npos);
  EXPECT_EQ(text.find("https://"), std::string::npos);
}

TEST(HtmlPage, FoldedTablesIncludeTheirNotes) {
  ResultTable table;
  table.columns = {{"a", "A", true}};
  table.notes = {"7 more"};
  for (const bool folded : {false, true}) {
    HtmlPage page("t");
    page.table(table, "caption", folded);
    const std::string text = page.text();
    const std::size_t note = text.find("<p>7 more</p>");
    ASSERT_NE(note, std::string::npos);
    EXPECT_EQ(text.find("</details>", note) != std::string::npos, folded);
  }
}

TEST(RunContext, RecordsTimeMachineAndCommand) {
  const RunContext position = run_context();
  ASSERT_EQ(position.date.size(), 20U) << position.date;
  EXPECT_EQ(position.date.substr(0, 2), "20");
  EXPECT_EQ(position.date[10], 'T');
  EXPECT_EQ(position.date.back(), 'Z');
  EXPECT_TRUE(command_text().starts_with("imgpipe")) << "whatever the program's file is called";
  EXPECT_GT(peak_memory_bytes(), 1 << 20);
  EXPECT_LT(peak_memory_bytes(), std::int64_t{1} << 40);
}

TEST(RunContext, ArgumentsAreQuotedForAShell) {
  for (const std::string& argument :
       {std::string(), std::string("plain.png"), std::string("two words"), std::string("it's $(id) `x` \\n"),
        std::string("a\nb"), std::string("\x1b[31m'\\1"), std::string("rlo\xe2\x80\xaegnp"),
        std::string("\xff\xfe"
                    "1"),
        std::string("\xef\xbf\xbf"), std::string("gr\xc3\xbc\xc3\x9f\t")}) {
    const std::string quoted = shell_quoted(argument);
    EXPECT_EQ(printable(quoted), quoted);
    // sh is often dash, which does not support $'...'.
    const std::unique_ptr<FILE, int (*)(FILE*)> shell(
        ::popen(("exec bash -c " + shell_quoted("printf %s " + quoted)).c_str(), "r"), ::pclose);
    ASSERT_NE(shell, nullptr);
    std::string back(1000, '\0');
    back.resize(std::fread(back.data(), 1, back.size(), shell.get()));
    EXPECT_EQ(back, argument) << quoted;
  }
}

// ---- drawings -----------------------------------------------------------------------------------------

RowChart::Mark mark(int series, double value) {
  return {.series = series, .value = value, .least = {}, .most = {}, .text = "v"};
}

TEST(RowChart, BarLengthsMatchTheirValues) {
  RowChart chart;
  chart.rows = {{"a", {mark(0, 10)}}, {"b", {mark(0, 20), mark(1, 40)}}, {"none", {mark(0, 0)}}};
  const std::string svg = row_chart_svg(chart);
  std::vector<double> widths;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1))
    widths.push_back(std::stod(svg.substr(svg.find("width=\"", at) + 7)));
  ASSERT_EQ(widths.size(), 3U);
  EXPECT_NEAR(widths[1] / widths[0], 2, 0.01);
  EXPECT_NEAR(widths[2] / widths[0], 4, 0.01);
  EXPECT_EQ(count_of(svg, ">v</text>"), 4U) << "a value that is none has its text all the same";
}

TEST(RowChart, UnusualValuesAreNotClipped) {
  for (const bool bars : {false, true}) {
    for (const bool logarithmic : {false, true}) {
      for (const std::vector<double>& values :
           std::vector<std::vector<double>>{{}, {0}, {1}, {1e-9, 1e9}, {0.2, 5}, {1e300}}) {
        RowChart chart{
            .label = "l", .unit = "u", .bars = bars, .logarithmic = logarithmic, .rows = {}, .limits = {}};
        for (const double value : values)
          chart.rows.push_back({std::string(300, 'n'), {{0, value, value, value * 1.5, "text"}}});
        chart.limits = {{std::string(300, 'l'), 3}, {"low", 1e-3}};
        const std::string svg = row_chart_svg(chart);
        for (const char* broken : {"nan", "inf", "width=\"-"})
          EXPECT_EQ(svg.find(broken), std::string::npos) << broken;
        EXPECT_EQ(svg.find(std::string(60, 'n')), std::string::npos) << "long names are shortened";
      }
    }
  }
}

TEST(TimelineChart, OverlappingBarsUseLanesAndSmallOnesAreJoined) {
  TimelineChart chart{.label = "l", .from_ms = 0, .to_ms = 1000, .bars = {}};
  chart.bars = {{"host", "decode", 0, 0, 500, false},
                {"host", "gray", 1, 100, 400, false},
                {"host", "write", 2, 600, 700, false},
                {"other", "smooth", 3, 0, 1000, false}};
  for (int i = 0; i < 10'000; ++i) chart.bars.push_back({"other", "hist", 4, i * 0.1, i * 0.1 + 0.09, false});
  const std::string svg = timeline_chart_svg(chart);
  EXPECT_EQ(count_of(svg, "class=\"lane\""), 2U);
  EXPECT_EQ(count_of(svg, "class=\"s4"), 1U) << "ten thousand indistinguishable bars";
  for (const char* name : {"decode", "gray", "smooth"})
    EXPECT_EQ(count_of(svg, ">" + std::string(name) + "</text>"), 1U);
}

// More names than colours: bars that share the last colour stay separate.
TEST(TimelineChart, BarsWithDifferentNamesAreNotJoined) {
  TimelineChart chart{.label = "l", .from_ms = 0, .to_ms = 1000, .bars = {}};
  chart.bars = {{"host", "one", 9, 0, 10, false}, {"host", "other", 9, 10, 20, false}};
  const std::string svg = timeline_chart_svg(chart);
  EXPECT_EQ(count_of(svg, "<title>one</title>"), 1U);
  EXPECT_EQ(count_of(svg, "<title>other</title>"), 1U);
}

TEST(TimelineChart, TracksAreLimited) {
  TimelineChart chart{.label = "l", .from_ms = 0, .to_ms = 1, .bars = {}};
  for (int i = 0; i < 500; ++i) chart.bars.push_back({"cpu " + std::to_string(i), "gray", 0, 0, 1, false});
  EXPECT_EQ(count_of(timeline_chart_svg(chart), "class=\"lane\""), kMaxTracks);
  EXPECT_EQ(tracks_left_out(chart), 500 - kMaxTracks);
  chart.bars.resize(kMaxTracks);
  EXPECT_EQ(tracks_left_out(chart), 0U);
}

// ---- images -------------------------------------------------------------------------------------------

TEST(Picture, PixelsAreMeansOfTheirAreas) {
  Image image({4, 2, 1});
  const int values[8] = {0, 255, 10, 20, 255, 0, 30, 41};
  for (std::size_t i = 0; i < 8; ++i) image.view().data[i] = static_cast<Sample8>(values[i]);
  const Picture picture = make_picture(*make_memory_reader(std::as_const(image).untyped_view()), 2);
  EXPECT_EQ(picture.small, (Shape{2, 1, 1}));
  std::vector<std::byte> file;
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : picture.png) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    count += 6;
    if (count >= 8) file.push_back(static_cast<std::byte>(bits >> (count -= 8) & 255));
  }
  const std::unique_ptr<Reader> reader = open_reader(file);
  Image shown(reader->header().shape);
  reader->read_rows(shown.untyped_view());
  EXPECT_EQ(shown.view().data[0], 128);  // 127.5
  EXPECT_EQ(shown.view().data[1], 25);   // 25.25
  EXPECT_EQ(picture.counts.at(0, 255), 2U);
  EXPECT_EQ(picture.counts.at(0, 41), 1U);
}

TEST(Picture, EveryShapeAndSample) {
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 997}, {997, 1}, {331, 257}, {640, 65}}) {
      for (int channels = 1; channels <= 4; ++channels) {
        const Shape shape{width, height, channels, sample};
        const Image image = synthesize(parse_pattern("noise"), shape, 7);
        const Picture picture = make_picture(*make_memory_reader(image.untyped_view()));
        EXPECT_LE(std::max(picture.small.width, picture.small.height), 320);
        EXPECT_GE(std::min(picture.small.width, picture.small.height), 1);
        EXPECT_EQ(picture.counts.planes(), shape.color_channels());
        std::uint64_t sum = 0;
        for (const std::uint64_t count : picture.counts.values) sum += count;
        EXPECT_EQ(sum, static_cast<std::uint64_t>(shape.pixels() * shape.color_channels()));
        EXPECT_LT(picture.png.size(), 700'000U);
      }
    }
  }
}

// ---- code ---------------------------------------------------------------------------------------------

TEST(SourceText, DefinitionsIncludeLinesAbove) {
  const std::string text =
      "namespace x {\n"
      "// Said.\n"
      "template <class T>\n"
      "__global__ __launch_bounds__(256) void one_kernel(T* in, int n) {\n"
      "  if (n > 1'000) { in[0] = '}'; }  // a { in a comment\n"
      "}\n"
      "int declared(int);\n"
      "class Two final : public Base {\n"
      "  int member() { return 1; }\n"
      "};\n"
      "int Two::other() const {\n"
      "  return text(\"{\\\"\");\n"
      "}\n"
      "}  // namespace x\n";
  const std::vector<Definition> found = definitions_of(text);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "one_kernel");
  EXPECT_TRUE(found[0].text.starts_with("// Said.\ntemplate"));
  EXPECT_TRUE(found[0].text.ends_with("a comment\n}"));
  EXPECT_EQ(found[1].name, "Two");
  EXPECT_EQ(found[2].name, "Two::other");
  EXPECT_TRUE(found[2].text.ends_with("}"));
  for (const std::string& broken : {std::string("int f(\n"), std::string("int f() {"),
                                    std::string("\"\nint f() {}"), std::string("/*"), std::string("'")})
    (void)definitions_of(broken);
}

TEST(VariantSource, EveryVariantShowsItsOwnCode) {
  std::set<std::string> shown;
  const auto expect_code = [&](std::string_view ladder, std::string_view variant) {
    const VariantSource source = variant_source(ladder, variant);
    const std::string name = std::string(ladder) + " " + std::string(variant);
    EXPECT_FALSE(source.path.empty()) << name;
    EXPECT_FALSE(source.functions.empty()) << name;
    EXPECT_GE(std::count(source.text.begin(), source.text.end(), '\n'), 1) << name;
    EXPECT_LE(std::count(source.text.begin(), source.text.end(), '\n'), 2 * kMaxSourceLines + 4) << name;
    shown.insert(source.text);
  };
  for (const Ladder& ladder : ladder_table()) {
    for (const StageVariant& stage_variant : ladder.variants) expect_code(ladder.name, stage_variant.name);
  }
  for (const TransferVariant& stage_variant : transfer_ladder())
    expect_code(kTransferLadder, stage_variant.name);
  for (const CodecLadder& ladder : codec_ladder_table()) {
    for (const CodecVariant& stage_variant : ladder.variants) expect_code(ladder.name, stage_variant.name);
  }
  EXPECT_GT(shown.size(), 120U) << "hardly two variants share a function";
}

TEST(VariantSource, FunctionIsTheTables) {
  EXPECT_EQ(variant_source("gray", "naive").functions, "gray_naive");
  EXPECT_NE(variant_source("gray", "naive").text.find("void naive_kernel(SourceOf<T> in"), std::string::npos);
  EXPECT_EQ(variant_source("gray16", "sequential").functions, "gray_reference");
  EXPECT_EQ(variant_source("gray", "sequential").functions, "gray_reference");
  EXPECT_EQ(variant_source("hist", "shared-words").functions, "hist_shared_words");
  EXPECT_EQ(variant_source("median5", "tile").functions, "median_tile");
  EXPECT_EQ(variant_source("jpeg, encoding", "turbo").functions, "turbo_encoding");
  EXPECT_NE(variant_source("transfer", "up-ring").text.find("void up_ring()"), std::string::npos);
  EXPECT_NE(variant_source("transfer", "alloc-pinned").text.find("cudaHostAlloc"), std::string::npos);
  EXPECT_TRUE(variant_source("gray", "no such variant").path.empty());
  EXPECT_TRUE(variant_source("no such ladder", "naive").path.empty());
}

}  // namespace
}  // namespace imgpipe::test::html_test
