// imgpipe in.tif out.tif --pages ...: from stacks to stacks or numbered files.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/cuda_backend.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::pages_cli_test {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

class PagesCli : public testing::Test {
 protected:
  static TiffPageSource page(int width, int height, int low, int high, int bits = 8, int samples = 1) {
    TiffKind kind{.width = width,
                  .height = height,
                  .bits = bits,
                  .samples = samples,
                  .photometric = samples == 3 ? 2 : 1};
    Values values(static_cast<std::size_t>(width * height * samples));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = low + static_cast<int>(i * 37 % static_cast<std::size_t>(high - low + 1));
    values.front() = low;
    values.back() = high;
    return {kind, values};
  }
  // Four grey pages of one size, each with its own value range.
  static std::vector<TiffPageSource> four() {
    return {page(40, 30, 10, 60), page(40, 30, 50, 200), page(40, 30, 0, 30), page(40, 30, 100, 101)};
  }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  void save_stack(const std::string& name, const std::vector<TiffPageSource>& pages) const {
    save(file(name), make_tiff_stack(pages));
  }
  [[nodiscard]] RunResult run(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.emplace_back("-q");
    return run_imgpipe(arguments, options);
  }
  // Returns the result of one page processed alone.
  [[nodiscard]] Values by_itself(const TiffPageSource& one, std::vector<std::string> more) const {
    save(file("one.tif"), make_tiff(one.kind, one.samples));
    std::vector<std::string> arguments{file("one.tif"), file("one_out.tif"), "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Values values = samples_by_libtiff(load(file("one_out.tif")));
    std::filesystem::remove(file("one.tif"));
    std::filesystem::remove(file("one_out.tif"));
    return values;
  }

  TemporaryDirectory directory_;
};

// Masks after the first and the last page, like those in cloud-optimised GeoTIFFs.
TEST_F(PagesCli, MasksAreSkippedWithOneLine) {
  std::vector<TiffPageSource> pages = four();
  save_stack("pages.tif", pages);
  TiffPageSource mask = page(40, 30, 0, 1, 1);
  mask.kind.photometric = 4;
  mask.kind.subfile = 4;
  pages.insert(pages.begin() + 1, mask);
  mask.kind.subfile = 5;  // the mask of a reduced version
  pages.push_back(mask);
  save_stack("masks.tif", pages);
  ASSERT_EQ(run({file("pages.tif"), file("a.tif"), "--pages", "all"}).exit_code, 0);
  const RunResult result = run({file("masks.tif"), file("b.tif"), "--pages", "all"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "imgpipe: warning: " + file("masks.tif") + ": skipped transparency masks: 2\n");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(samples_by_libtiff(load(file("b.tif")), i), samples_by_libtiff(load(file("a.tif")), i));
}

TEST_F(PagesCli, CudaWritesTheSameStack) {
  IMGPIPE_NEED_CUDA();
  save_stack("in.tif", {page(400, 300, 10, 60), page(70, 910, 0, 65535, 16), page(1, 1, 5, 5),
                        page(330, 55, 9, 200, 8, 3)});
  for (const char* stages : {"gray,hist,contrast,smooth", "gray,contrast:range=series,median"}) {
    for (const char* device : {"cpu", "cuda"}) {
      const RunResult result = run({file("in.tif"), file(std::string(device) + ".tif"), "--pages", "all",
                                    "--stages", stages, "--device", device, "--overwrite", "--cpu"});
      ASSERT_EQ(result.exit_code, 0) << result.err;
    }
    EXPECT_EQ(load(file("cuda.tif")), load(file("cpu.tif"))) << stages;
  }
}

TEST_F(PagesCli, PagesAreProcessedSeparately) {
  const std::vector<TiffPageSource> pages{page(40, 30, 10, 60), page(7, 91, 0, 65535, 16), page(1, 1, 5, 5),
                                          page(33, 5, 9, 200, 8, 3)};
  save_stack("in.tif", pages);
  const std::vector<std::string> stages{"--stages", "contrast,smooth", "--device", "cpu", "--cpu"};
  std::vector<std::string> arguments{file("in.tif"), file("out.tif"), "--pages", "all"};
  arguments.insert(arguments.end(), stages.begin(), stages.end());
  const RunResult result = run(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const FileBytes out = load(file("out.tif"));
  ASSERT_EQ(pages_by_libtiff(out), 4);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(samples_by_libtiff(out, i), by_itself(pages[static_cast<std::size_t>(i)], stages)) << i;
}

TEST_F(PagesCli, NoticesAboutEveryPageAppearOnce) {
  std::vector<TiffPageSource> pages = {page(9, 7, 0, 99, 8, 4), page(9, 7, 0, 99, 8, 4)};
  for (TiffPageSource& one : pages) one.kind.photometric = 2, one.kind.extra = {2};
  save_stack("in.tif", pages);
  const RunResult result =
      run_imgpipe({file("in.tif"), file("out.jpg"), "--pages", "all", "--stages", "invert"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::size_t first = result.err.find("dropped alpha");
  ASSERT_NE(first, result.err.npos) << result.err;
  EXPECT_EQ(result.err.find("dropped alpha", first + 1), result.err.npos) << result.err;
}

// The third page is damaged: no output remains, neither a stack nor files, and the message names the page.
TEST_F(PagesCli, FailingPageLeavesNoOutput) {
  std::vector<TiffPageSource> pages = four();
  for (TiffPageSource& one : pages) one.kind.compression = 8;
  FileBytes bytes = make_tiff_stack(pages);
  // No deflate stream begins with these bytes.
  const FileBytes third = make_tiff(pages[2].kind, pages[2].samples);
  const auto at = std::search(bytes.begin(), bytes.end(), third.begin() + 8, third.begin() + 40);
  ASSERT_NE(at, bytes.end());
  std::fill_n(at, 4, std::byte{0xFF});
  save(file("in.tif"), bytes);
  for (const char* name : {"out.tif", "out.png"}) {
    const RunResult result = run({file("in.tif"), file(name), "--pages", "all"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.err.starts_with("imgpipe: " + file("in.tif") + ", page 3: ")) << result.err;
    EXPECT_EQ(directory_.names(), (Names{"in.tif"}));
  }
  ASSERT_EQ(run({file("in.tif"), file("out.tif"), "--pages", "1-2"}).exit_code, 0);
  const std::string before = load_text(file("out.tif"));
  EXPECT_EQ(run({file("in.tif"), file("out.tif"), "--pages", "all"}).exit_code, 1);
  EXPECT_EQ(load_text(file("out.tif")), before);
}

TEST_F(PagesCli, ImageJDescriptionIsPreservedOnlyIfStillTrue) {
  std::vector<TiffPageSource> images = four();
  save(file("in.tif"), make_imagej_stack(images));
  const RunResult plain = run({file("in.tif"), file("first.tif"), "--stages", "hist"});
  EXPECT_NE(plain.err.find("contains more than one image"), std::string::npos) << plain.err;
  EXPECT_EQ(description_by_libtiff(load(file("first.tif")), 0), "");
  const RunResult all = run({file("in.tif"), file("all.tif"), "--pages", "all", "--stages", "hist"});
  EXPECT_EQ(all.err, "");
  const FileBytes out = load(file("all.tif"));
  ASSERT_EQ(pages_by_libtiff(out), 4);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(samples_by_libtiff(out, i), images[static_cast<std::size_t>(i)].samples);
  EXPECT_TRUE(description_by_libtiff(out, 0).starts_with("ImageJ="));
  const RunResult part = run({file("in.tif"), file("part.tif"), "--pages", "2-3", "--stages", "hist"});
  EXPECT_EQ(description_by_libtiff(load(file("part.tif")), 0), "");
  EXPECT_EQ(part.exit_code, 0);
  const RunResult warned =
      run_imgpipe({file("in.tif"), file("told.tif"), "--pages", "2-3", "--stages", "hist"});
  EXPECT_NE(warned.err.find("ImageJ description (describes all pages of the stack)"), std::string::npos)
      << warned.err;
}

TEST_F(PagesCli, ReportsAThousandPages) {
  std::vector<TiffPageSource> pages;
  for (int i = 0; i < 1000; ++i) pages.push_back(page(3, 2, i % 100, 100 + i % 100));
  save_stack("in.tif", pages);
  const RunResult result =
      run_imgpipe({file("in.tif"), file("out.tif"), "--pages", "all", "--device", "cpu", "--report",
                   file("r.json"), "--report", file("r.csv"), "--histogram", file("h.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(std::count(result.out.begin(), result.out.end(), '\n'), 40) << result.out;
  EXPECT_NE(result.out.find("1000 pages"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("contrast: lo 0 to 99, hi 100 to 199, one range per page"), std::string::npos)
      << result.out;
  const FileBytes out = load(file("out.tif"));
  EXPECT_EQ(pages_by_libtiff(out), 1000);
  const Json report = Json::parse(load_text(file("r.json")));
  ASSERT_EQ(report["pages"]["each"].size(), 1000U);
  EXPECT_EQ(report["pages"]["each"][7]["page"], 8);
  EXPECT_EQ(report["pages"]["each"][7]["contrast"][0]["lo"], 7);
  EXPECT_EQ(report["pages"]["in_file"], 1000);
  std::uint64_t sum = 0;
  const Json histogram = Json::parse(load_text(file("h.json")));
  for (const Json& counts : histogram["before"]["counts"])
    for (const Json& count : counts) sum += count.get<std::uint64_t>();
  EXPECT_EQ(sum, 6000U) << "summed over the pages";
}

// 150 pages of 2 MB: far more than the program may hold. The pixels are a hole in the file.
TEST_F(PagesCli, MemoryDoesNotGrowWithTheStack) {
  if (kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  constexpr std::uint64_t kWidth = 1400, kHeight = 1500, kPages = 150, kFirst = 4096;
  MadeTiff made(1, 1);
  made.pixels.clear();
  made.set(256, {kWidth});
  made.set(257, {kHeight});
  made.set(273, {kFirst}, 4);
  made.set(278, {kHeight});
  made.set(279, {kWidth * kHeight}, 4);
  made.fields[270].type = 2;
  for (const char c : "ImageJ=1.54f\nimages=" + std::to_string(kPages) + "\n" + '\0')
    made.fields[270].values.push_back(static_cast<unsigned char>(c));
  save(file("in.tif"), made.build());
  std::filesystem::resize_file(file("in.tif"), kFirst + kPages * kWidth * kHeight);
  const RunResult result =
      run({file("in.tif"), file("out.tif"), "--pages", "all", "--device", "cpu", "--threads", "2",
           "--tiff-compression", "none", "--stages", "contrast:range=series,smooth"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(std::filesystem::file_size(file("out.tif")), 300'000'000U);
  EXPECT_LT(result.max_rss_bytes, 80'000'000);
}

}  // namespace
}  // namespace imgpipe::test::pages_cli_test
