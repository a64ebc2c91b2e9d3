// imgpipe stats --pages: counts every selected page of every input. An input is counted completely or not at
// all.
#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/samples_cli.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::stats_pages_cli_test {
namespace {

using Json = nlohmann::json;

class StatsPagesCli : public SamplesCli {
 protected:
  static TiffPageSource page(int width, int height, int bits = 8, int samples = 1, int seed = 0) {
    TiffKind kind{.width = width,
                  .height = height,
                  .bits = bits,
                  .samples = samples,
                  .photometric = samples >= 3 ? 2 : 1,
                  .compression = 8};
    if (samples % 2 == 0) kind.extra = {2};
    Values values(static_cast<std::size_t>(width * height * samples));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = (seed * 1009 + static_cast<int>(i * i * 37)) & ((1 << bits) - 1);
    return {kind, values};
  }
  static std::vector<TiffPageSource> mixed() {
    return {page(40, 30, 8, 1, 1), page(7, 91, 16, 1, 2), page(1, 1, 8, 1, 3), page(33, 5, 8, 3, 4),
            page(17, 1, 8, 2, 5),  page(1, 13, 16, 4, 6), page(5, 3, 8, 4, 7)};
  }
  void save_stack(const std::string& name, const std::vector<TiffPageSource>& pages) const {
    save(file(name), make_tiff_stack(pages));
  }
  void save_apart(const std::string& directory, const std::vector<TiffPageSource>& pages) const {
    fs::create_directories(file(directory));
    for (std::size_t i = 0; i < pages.size(); ++i)
      save(file(directory + "/p" + std::to_string(i) + ".tif"), make_tiff(pages[i].kind, pages[i].samples));
  }
  // Overwrites four bytes of a page's compressed samples.
  void damage(const std::string& name, const TiffPageSource& one) const {
    FileBytes bytes = load(file(name));
    const FileBytes alone = make_tiff(one.kind, one.samples);
    const auto at = std::search(bytes.begin(), bytes.end(), alone.begin() + 8, alone.begin() + 30);
    ASSERT_NE(at, bytes.end());
    std::fill_n(at, 4, std::byte{0xFF});
    save(file(name), bytes);
  }
  [[nodiscard]] static RunResult stats(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "stats");
    return run_imgpipe(arguments);
  }
  [[nodiscard]] static Json json_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "-", "-q"});
    const RunResult run = stats(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    // A page of one value has no contrast to stretch.
    EXPECT_TRUE(run.err.empty() || (run.err.find(" has no range to stretch (") != std::string::npos &&
                                    std::ranges::count(run.err, '\n') == 1))
        << run.err;
    return Json::parse(run.out);
  }
  static void expect_same_counts(const Json& got, const Json& expected) {
    EXPECT_EQ(got["groups"], expected["groups"]);
    EXPECT_EQ(got["histograms"], expected["histograms"]);
  }
};

TEST_F(StatsPagesCli, PagesCountLikeSeparateFiles) {
  save_stack("in/a.tif", mixed());
  save_apart("apart", mixed());
  const Json pages = json_of({in(), "--pages", "all"});
  const Json files = json_of({file("apart")});
  expect_same_counts(pages, files);
  EXPECT_EQ(pages["pages_counted"], 7);
  EXPECT_EQ(pages["images"], 1);
  EXPECT_EQ(pages["counted"], 1);
  EXPECT_EQ(pages["groups"][0]["images"], 4);
  EXPECT_EQ(pages["groups"][1]["images_with_alpha"], 2);
  EXPECT_TRUE(files["pages_counted"].is_null());
  const std::vector<std::string> stages{"--stages", "gray,contrast,resize:8:8"};
  std::vector<std::string> of_stack{in(), "--pages", "all"}, of_files{file("apart")};
  of_stack.insert(of_stack.end(), stages.begin(), stages.end());
  of_files.insert(of_files.end(), stages.begin(), stages.end());
  expect_same_counts(json_of(of_stack), json_of(of_files));
}

TEST_F(StatsPagesCli, CountsOnlySelectedPages) {
  const std::vector<TiffPageSource> all = mixed();
  save_stack("in/a.tif", all);
  save_stack("in/b.tif", {all[3], all[0], all[1], all[2]});
  save_apart("apart", {all[1], all[2], all[0], all[1]});
  const Json pages = json_of({in(), "--pages", "2-3"});
  expect_same_counts(pages, json_of({file("apart")}));
  EXPECT_EQ(pages["pages_counted"], 4);
  EXPECT_EQ(pages["images"], 2);
  save_apart("last", {all[6]});
  expect_same_counts(json_of({file("in/a.tif"), "--pages", "7"}), json_of({file("last")}));
  expect_same_counts(json_of({file("in/a.tif"), "--pages", "7-"}), json_of({file("last")}));
}

TEST_F(StatsPagesCli, ImageJStackOfOneDirectory) {
  std::vector<TiffPageSource> pages{page(9, 7, 16, 1, 1), page(9, 7, 16, 1, 2), page(9, 7, 16, 1, 3)};
  for (TiffPageSource& one : pages) one.kind.compression = 1;
  save(file("in/a.tif"), make_imagej_stack(pages));
  save_apart("apart", pages);
  const Json json = json_of({in(), "--pages", "all"});
  expect_same_counts(json, json_of({file("apart")}));
  EXPECT_EQ(json["pages_counted"], 3);
}

TEST_F(StatsPagesCli, OtherFormatsHaveOnePage) {
  save_stack("in/a.tif", {page(5, 4), page(3, 2)});
  save_stack("in/one.tif", {page(2, 2)});
  write_samples("in/b.png", {2, 1, 1}, {7, 9});
  write("in/c.jpg", 3);
  const RunResult run = stats({in(), "--pages", "all", "--percentiles", "50"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out.find("4 images: 4 counted, 0 failed; 5 pages\n"), 0U) << run.out;
  EXPECT_NE(run.out.find("\ngrey: 4 pages, 32 pixels; samples 0 to 255\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("\nrgb: 1 page, 1,200 pixels; samples 0 to 255\n"), std::string::npos) << run.out;
  const Json json = json_of({file("in/b.png"), "--pages", "all"});
  expect_same_counts(json, json_of({file("in/b.png")}));
  EXPECT_EQ(json["pages_counted"], 1);
}

TEST_F(StatsPagesCli, EachPageHasARow) {
  save_stack("in/a.tif", mixed());
  save_stack("in/b.tif", mixed());
  damage("in/b.tif", mixed()[1]);
  write_samples("in/c.png", {2, 1, 1}, {7, 9});
  const RunResult run = stats({in(), "--pages", "2-4", "--per-image", file("r.json"), "-q"});
  EXPECT_EQ(run.exit_code, 1);
  const Json rows = Json::parse(load_text(file("r.json")))["images"];
  ASSERT_EQ(rows.size(), 5U);  // c.png has no page 2
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i]["input"], file("in/a.tif"));
    EXPECT_EQ(rows[i]["page"], i + 2);
    EXPECT_EQ(rows[i]["status"], "counted");
    const TiffPageSource one = mixed()[i + 1];
    EXPECT_EQ(rows[i]["width_pixels"], one.kind.width);
    EXPECT_EQ(rows[i]["height_pixels"], one.kind.height);
    EXPECT_EQ(rows[i]["bits_per_sample"], one.kind.bits);
    EXPECT_EQ(rows[i]["group"], one.kind.samples >= 3 ? "rgb" : "grey");
  }
  const Values samples = mixed()[1].samples;
  EXPECT_EQ(rows[0]["channels"]["grey"]["max"], *std::ranges::max_element(samples));
  EXPECT_EQ(rows[0]["channels"]["grey"]["samples"], samples.size());
  for (std::size_t i = 3; i < 5; ++i) {
    EXPECT_TRUE(rows[i]["page"].is_null());
    EXPECT_EQ(rows[i]["status"], "failed");
    EXPECT_EQ(rows[i].size(), rows[0].size());
  }
  EXPECT_TRUE(rows[3]["reason"].get<std::string>().starts_with("page 2: ")) << rows[3]["reason"];
  for (const char* ending : {".csv", ".ndjson"}) {
    const std::string path = file(std::string("r") + ending);
    EXPECT_EQ(stats({in(), "--pages", "2-4", "--per-image", path, "-q"}).exit_code, 1);
    const std::string text = load_text(path);
    EXPECT_EQ(lines(text), std::string(ending) == ".csv" ? 6U : 5U) << text;
    const std::string third =
        std::string(ending) == ".csv" ? file("in/a.tif") + ",3,counted,grey,1,1,8,255," : "\"page\":3";
    EXPECT_NE(text.find(third), std::string::npos) << text;
  }
  // Without --pages, a row has no page number.
  EXPECT_EQ(stats({file("in/c.png"), "--per-image", file("s.csv"), "-q"}).exit_code, 0);
  EXPECT_NE(load_text(file("s.csv")).find("in/c.png,,counted,grey,2,1,8,255,"), std::string::npos);
  EXPECT_EQ(stats({file("in/c.png"), "--pages", "all", "--per-image", file("t.csv"), "-q"}).exit_code, 0);
  EXPECT_NE(load_text(file("t.csv")).find("in/c.png,1,counted,grey,2,1,8,255,"), std::string::npos);
}

TEST_F(StatsPagesCli, DamagedPageFailsItsWholeInput) {
  const std::vector<TiffPageSource> pages{page(40, 30, 8, 1, 1), page(41, 30, 8, 1, 2),
                                          page(42, 30, 8, 3, 3)};
  save_stack("in/a.tif", pages);
  const Json alone = json_of({in(), "--pages", "all"});
  save_stack("in/b.tif", pages);
  damage("in/b.tif", pages[1]);
  for (const char* jobs : {"1", "3"}) {
    const RunResult run = stats({in(), "--pages", "all", "--json", file("s.json"), "--jobs", jobs});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(lines(run.err), 1U) << run.err;
    EXPECT_NE(run.err.find(file("in/b.tif") + ", page 2: "), std::string::npos) << run.err;
    EXPECT_EQ(run.out.find("2 images: 1 counted, 1 failed; 3 pages\n"), 0U) << run.out;
    const Json json = Json::parse(load_text(file("s.json")));
    expect_same_counts(json, alone);
    EXPECT_EQ(json["pages_counted"], 3);
    ASSERT_EQ(json["failures"].size(), 1U);
    EXPECT_EQ(json["failures"][0]["input"], file("in/b.tif"));
  }
  // A damaged page that --pages does not select does no harm.
  EXPECT_EQ(json_of({in(), "--pages", "3"})["counted"], 2);
}

TEST_F(StatsPagesCli, BytesDoNotDependOnJobsAndOrder) {
  for (int i = 0; i < 6; ++i) {
    std::vector<TiffPageSource> pages = mixed();
    std::ranges::rotate(pages, pages.begin() + i);
    save_stack("in/s" + std::to_string(i) + ".tif", pages);
  }
  save_text(file("in/broken.tif"), "no image");
  std::set<std::string> all;
  for (const char* jobs : {"1", "3", "8"}) {
    std::string bytes;
    for (const char* ending : {".csv", ".json", ".ndjson"}) {
      const std::string rows = file(std::string("rows") + ending);
      std::vector<std::string> arguments{in(), "--pages", "2-",           "--jobs",      jobs, "--threads",
                                         "4",  "--json",  file("s.json"), "--per-image", rows};
      if (*jobs == '3') arguments.insert(arguments.begin(), {file("in/s4.tif"), file("in/s1.tif")});
      const RunResult run = stats(arguments);
      EXPECT_EQ(run.exit_code, 1) << run.err;
      bytes += run.out + load_text(file("s.json")) + load_text(rows);
    }
    all.insert(bytes);
  }
  EXPECT_EQ(all.size(), 1U);
}

TEST_F(StatsPagesCli, WithoutPagesOnlyTheFirstCounts) {
  save_stack("in/a.tif", mixed());
  save_apart("apart", {mixed()[0]});
  const RunResult run = stats({in(), "--json", file("s.json")});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "imgpipe: warning: " + file("in/a.tif") +
                         ": contains more than one image; only the first is processed; use --pages all to "
                         "process all pages\n");
  EXPECT_EQ(run.out.find("1 image: 1 counted, 0 failed\n"), 0U) << run.out;
  expect_same_counts(Json::parse(load_text(file("s.json"))), json_of({file("apart")}));
}

TEST_F(StatsPagesCli, AnimationFramesArePages) {
  const std::string gif(
      "GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff"
      ",\0\0\0\0\1\0\1\0\0\2\2D\1\0"
      ",\0\0\0\0\1\0\1\0\0\2\2D\1\0;",
      50);
  save_text(file("in/a.gif"), gif);
  const RunResult first = stats({in()});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.err, "imgpipe: warning: " + file("in/a.gif") +
                           ": contains more than one image; only the first is processed; use --pages all to "
                           "process all pages\n");
  const RunResult all = stats({in(), "--pages", "all"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.err, "");
  EXPECT_NE(all.out.find("; 2 pages\n"), std::string::npos) << all.out;
}

TEST_F(StatsPagesCli, RejectsInvalidOptionsForPages) {
  save_stack("in/a.tif", mixed());
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
      {{in(), "--pages", "0"}, "expected all, N, A-B or A-"},
      {{in(), "--pages", "3-2"}, "the last page must not precede the first"},
      {{in(), "--pages", "all", "--stages", "contrast:range=series"},
       "range=series is not supported by stats"}};
  for (const auto& [arguments, words] : rows) expect_refused(stats(arguments), words);
  const RunResult run = stats({in(), "--pages", "5-8"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("has 7 pages, but --pages requests page 8"), std::string::npos) << run.err;
}

// A file of a few kilobytes may hold many pages, each of which has a row.
TEST_F(StatsPagesCli, RowsStayWithinTheMemoryLimit) {
  const TiffPageSource dot{{.width = 1, .height = 1}, {5}};
  save(file("in/a.tif"), make_imagej_stack(std::vector<TiffPageSource>(9000, dot)));
  std::string percents = "0";
  for (int i = 1; i < 100; ++i) percents += "," + std::to_string(i);
  const std::vector<std::string> arguments{in(),  "--pages",       "all",   "--memory",
                                           "64M", "--percentiles", percents};
  EXPECT_EQ(json_of(arguments)["pages_counted"], 9000);
  std::vector<std::string> with_rows = arguments;
  with_rows.insert(with_rows.end(), {"--per-image", file("r.csv")});
  const RunResult run = stats(with_rows);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find("--per-image: the rows"), std::string::npos) << run.err;
  EXPECT_EQ(run.out.find("1 image: 0 counted, 1 failed; 0 pages\n"), 0U) << run.out;
}

}  // namespace
}  // namespace imgpipe::test::stats_pages_cli_test
