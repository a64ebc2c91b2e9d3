// The promise of --memory, measured: the peak memory of a whole run, as counted by the kernel.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/large_files.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::memory_limit_test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kAllowance = 48'000'000;  // on top of the limit

struct Limit {
  std::int64_t mebibytes;
  int jobs;
  std::vector<std::string> options;
};

class MemoryLimit : public testing::Test {
 protected:
  // Two sizes of every kind, and a third size of the most demanding kinds, which exceeds 64M or barely fits.
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer takes memory of its own";
    fs::create_directory(in());
    const std::vector<std::string> kinds = large_file_kinds();
    add_files({400, 300, 3}, kinds);
    add_files({1500, 1100, 3}, kinds);
    add_files({3100, 2300, 3}, {"progressive.jpg", "turned.jpg", "turned_progressive.jpg", "deep.png",
                                "rows.bmp", "run_lengths.tga", "colors.ppm"});
  }
  void add_files(const Shape& shape, const std::vector<std::string>& kinds) {
    const Image image = synthesize(parse_pattern("photo"), shape, 3);
    for (const std::string& kind : kinds) {
      save(in() + "/" + std::to_string(shape.width) + "_" + kind, large_file(kind, image.view()));
      ++files_;
    }
  }
  [[nodiscard]] std::string in() const { return directory_.file("in"); }

  // Processes all files within a limit. Returns the number of files that did not fit.
  [[nodiscard]] std::size_t expect_within_limit(const Limit& limit) const {
    const TemporaryDirectory out;
    std::vector<std::string> arguments{in(),
                                       out.path().string(),
                                       "--device",
                                       "cpu",
                                       "-q",
                                       "--memory",
                                       std::to_string(limit.mebibytes) + "M",
                                       "--jobs",
                                       std::to_string(limit.jobs)};
    arguments.insert(arguments.end(), limit.options.begin(), limit.options.end());
    const RunResult run = run_imgpipe(arguments);
    const std::string what = std::to_string(limit.mebibytes) + "M, " + std::to_string(limit.jobs) + " jobs";
    EXPECT_FALSE(run.signalled) << what;
    EXPECT_LE(run.max_rss_bytes, limit.mebibytes * kMiB + kAllowance) << what;
    std::size_t failed = 0;
    std::istringstream lines(run.err);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("needs up to") != std::string::npos) {
        ++failed;
      } else {
        EXPECT_NE(line.find("warning: "), std::string::npos) << what << ": " << line;
      }
    }
    EXPECT_EQ(run.exit_code, failed > 0 ? 1 : 0) << what << run.err;
    EXPECT_EQ(out.names().size() + failed, files_) << what;
    return failed;
  }

  const TemporaryDirectory directory_;
  std::size_t files_ = 0;
};

// One test, because its files take longer to write than a run takes.
TEST_F(MemoryLimit, Holds) {
  // Little fits.
  for (const int jobs : {1, 8}) {
    const std::size_t failed = expect_within_limit({64, jobs, {}});
    EXPECT_GT(failed, 0U) << jobs;
    EXPECT_LT(failed, files_ / 2) << jobs;
  }
  // Several fit.
  EXPECT_EQ(expect_within_limit({128, 2, {"--stages", "contrast,smooth", "--format", "png"}}), 0U);
  EXPECT_EQ(expect_within_limit({512, 8, {"--stages", "smooth", "--format", "jpeg"}}), 0U);
  // All fit.
  EXPECT_EQ(expect_within_limit({512, 2, {"--stages", "smooth", "--format", "webp", "--webp-level", "0"}}),
            0U);
  EXPECT_EQ(expect_within_limit({2048, 8, {"--threads", "4"}}), 0U);
  // stb_image decodes whole images.
  const TemporaryDirectory out;
  const RunResult run = run_imgpipe({in(), out.path().string(), "--device", "cpu", "-q", "--codec", "stb",
                                     "--memory", "96M", "--jobs", "8", "--include", "*.bmp", "--include",
                                     "*.tga", "--include", "*.jpg", "--include", "*.psd"});
  EXPECT_LE(run.max_rss_bytes, 96 * kMiB + kAllowance);
  EXPECT_GT(out.names().size(), 5U);
}

}  // namespace
}  // namespace imgpipe::test::memory_limit_test
