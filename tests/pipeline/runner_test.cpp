#include "pipeline/runner.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "pipeline/image_io.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpipe::test::runner_test {
namespace {

Image noise(const Shape& shape) {
  return synthesize(parse_pattern("noise", shape.sample), shape, 5);
}

std::vector<std::byte> bytes_of(const ConstHostView& pixels) {
  std::vector<std::byte> bytes;
  for (std::int64_t y = 0; y < pixels.height; ++y)
    bytes.insert(bytes.end(), pixels.row(y), pixels.row(y) + pixels.row_bytes());
  return bytes;
}

// Returns the reference engine's pixels.
std::vector<std::byte> expected(const Image& image, std::string_view stages) {
  Job job;
  job.reader = make_memory_reader(image.untyped_view());
  job.plan = make_plan(parse_stages(stages), image.shape());
  const auto engine = make_reference_engine();
  const Outcome outcome = engine->run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return bytes_of(outcome.pixels);
}

void expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& action) {
  try {
    action();
    FAIL() << "no error that says " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Runner, ReturnsTheEnginesPixels) {
  for (const char* device : {"cpu", "reference", "auto"}) {
    Runner runner({.device = device, .threads = 3});
    for (const char* stages : {"gray,hist,contrast,smooth", "contrast:stretch=each,smooth:gauss", "flip",
                               "gray", "depth:8,invert", "resize:7:5"}) {
      for (const Size& size : few_sizes()) {
        for (int channels = 1; channels <= 4; ++channels) {
          for (const Sample sample : {Sample::u8, Sample::u16}) {
            const Image image = noise({size.width, size.height, channels, sample});
            const RunResult result = runner.run(image.untyped_view(), stages);
            EXPECT_EQ(result.pixels.shape(), result.report.output);
            EXPECT_EQ(result.pixels.stride_bytes, result.pixels.row_bytes());
            ASSERT_EQ(bytes_of(result.pixels), expected(image, stages))
                << device << " " << stages << " " << size.width << "x" << size.height << "x" << channels
                << (sample == Sample::u8 ? " u8" : " u16") << ", seed 5";
          }
        }
      }
    }
  }
}

// The least and the greatest sample suffice for contrast without clipping; the other lists need counts too.
TEST(Runner, FindsTheRangesOfContrast) {
  Runner runner({.device = "cpu", .threads = 3});
  for (const char* stages : {"contrast", "contrast:stretch=each", "contrast:to=8", "contrast:5,contrast",
                             "contrast:0:1", "hist,contrast", "contrast,smooth,contrast:stretch=each"}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      std::mt19937_64 random(seed);
      const auto up_to = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % most); };
      const Sample sample = up_to(2) == 0 ? Sample::u8 : Sample::u16;
      Image image({1 + up_to(130), 1 + up_to(90), static_cast<int>(1 + up_to(4)), sample});
      const std::int64_t lo = up_to(200), span = 1 + up_to(55);
      std::byte* const bytes = image.untyped_view().data;
      for (std::int64_t i = 0; i < image.shape().bytes(); ++i)
        bytes[i] = static_cast<std::byte>(lo + up_to(static_cast<std::uint64_t>(span)));

      Job job;
      job.reader = make_memory_reader(image.untyped_view());
      job.plan = make_plan(parse_stages(stages), image.shape());
      Outcome outcome = make_reference_engine()->run(std::move(job));
      ASSERT_FALSE(outcome.error);
      const RunResult result = runner.run(image.untyped_view(), stages);
      ASSERT_EQ(bytes_of(result.pixels), bytes_of(outcome.pixels)) << stages << ", seed " << seed;
      const std::vector<ContrastRange> ranges = contrast_ranges(outcome);
      ASSERT_EQ(result.report.ranges.size(), ranges.size());
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        EXPECT_EQ(result.report.ranges[i].lo, ranges[i].lo) << stages << ", seed " << seed;
        EXPECT_EQ(result.report.ranges[i].hi, ranges[i].hi) << stages << ", seed " << seed;
      }
    }
  }
}

// Counts that the caller may see are complete.
TEST(Runner, KeepsCountsOnRequest) {
  const Image image = noise({61, 37, 1});
  using enum CountsFor;
  const std::vector<std::tuple<const char*, CountsFor, bool>> cases{
      {"contrast", caller, true},      {"contrast", timing, false},     {"contrast", steps, false},
      {"contrast:1", steps, true},     {"equalize", steps, true},       {"hist,contrast", caller, true},
      {"hist,contrast", timing, true}, {"hist,contrast", steps, false}, {"hist,equalize", steps, true}};
  for (const auto& [stages, readers, complete] : cases) {
    Job job;
    job.reader = make_memory_reader(image.untyped_view());
    job.plan = make_plan(parse_stages(stages), image.shape());
    job.counts_for = readers;
    const Outcome outcome = make_cpu_engine(1)->run(std::move(job));
    ASSERT_FALSE(outcome.error);
    const std::vector<std::uint64_t>& counts = outcome.histograms.front();
    const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    EXPECT_EQ(total == 61 * 37, complete) << stages << ": " << total;
  }
}

TEST(Runner, GivesSeveralResultsOfOneImage) {
  const Image image = noise({61, 37, 3});
  const std::vector<std::string_view> lists{"gray,hist,contrast,smooth", "resize:20:10:area", "none", "gray"};
  for (const char* device : {"cpu", "reference", "auto"}) {
    std::optional<RunResult> result;
    {
      Runner runner({.device = device, .threads = 3});
      result = runner.run(image.untyped_view(), runner.branched_plan(image.shape(), lists));
    }
    ASSERT_EQ(result->results.size(), lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i)
      EXPECT_EQ(bytes_of(result->results[i]), expected(image, lists[i])) << device << " " << lists[i];
    EXPECT_EQ(result->pixels.data, result->results.back().data);
    EXPECT_EQ(result->report.output, (Shape{61, 37, 1}));
    for (const std::string& step : result->report.steps)
      EXPECT_EQ(std::ranges::count(result->report.rows, step, &TimeRow::name), 1) << step;
  }
}

TEST(Runner, SeveralResultsReadSecondImages) {
  TemporaryDirectory directory;
  const Image image = noise({61, 37, 1}), other = noise({61, 37, 1});
  const std::string file = directory.file("other.png");
  write_image(file, other.untyped_view());
  const std::vector<std::string> lists{"subtract:" + file, "invert,max:" + file,
                                       "subtract:" + file + ",invert"};
  Runner runner({.device = "cpu"});
  const Plan plan = runner.branched_plan(image.shape(), {lists.begin(), lists.end()});
  EXPECT_EQ(plan.steps.size(), 4) << "the last list begins with the first, and reads the same image";
  const RunResult result = runner.run(image.untyped_view(), plan);
  for (std::size_t i = 0; i < lists.size(); ++i)
    EXPECT_EQ(bytes_of(result.results[i]), bytes_of(runner.run(image.untyped_view(), lists[i]).pixels));
}

TEST(Runner, ReadsRowsOfAnyStrideButNoPadding) {
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    const Image image = noise({61, 17, 3, sample});
    GuardedPlane plane(image.shape(), 7, 5);
    copy_pixels(image.untyped_view(), plane.untyped_view());
    Runner runner({.device = "cpu", .threads = 2});
    const RunResult result = runner.run(std::as_const(plane).untyped_view());
    EXPECT_EQ(bytes_of(result.pixels), expected(image, kDefaultStages));
    EXPECT_EQ(plane.damage(), "");
    EXPECT_EQ(bytes_of(std::as_const(plane).untyped_view()), bytes_of(image.untyped_view()));
  }
}

TEST(Runner, ResultsOutliveFurtherRunsAndTheRunner) {
  const Image first = noise({64, 33, 3}), second = noise({31, 65, 1});
  std::vector<RunResult> results;
  {
    Runner runner({.device = "cpu", .threads = 2});
    results.push_back(runner.run(first.untyped_view()));
    results.push_back(runner.run(second.untyped_view()));
  }
  EXPECT_EQ(bytes_of(results[0].pixels), expected(first, kDefaultStages));
  EXPECT_EQ(bytes_of(results[1].pixels), expected(second, kDefaultStages));
}

std::ptrdiff_t running_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST(Runner, ResultsKeepNoThreads) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "this system has no /proc/self/task";
  const Image image = noise({64, 33, 3});
  const std::ptrdiff_t before = running_threads();
  std::vector<RunResult> results;
  for (const char* device : {"cpu", "reference"}) {
    for (int threads = 2; threads < 12; ++threads) {
      Runner runner({.device = device, .threads = threads});
      results.push_back(runner.run(image.untyped_view()));
      EXPECT_LT(running_threads(), before + 24) << results.size() << " results kept";
    }
  }
  // A joined thread may remain visible for a moment.
  for (int tries = 0; running_threads() > before && tries < 500; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(running_threads(), before);
  for (const RunResult& result : results) EXPECT_EQ(bytes_of(result.pixels), expected(image, kDefaultStages));
}

TEST(Runner, RunsConcurrently) {
  const Image image = noise({97, 101, 3});
  const std::vector<std::byte> wanted = expected(image, kDefaultStages);
  std::vector<std::vector<std::byte>> got(4);
  std::vector<std::thread> threads;
  for (std::vector<std::byte>& mine : got) {
    threads.emplace_back([&image, &mine] {
      Runner runner({.device = "cpu", .threads = 2});
      for (int i = 0; i < 5; ++i) mine = bytes_of(runner.run(image.untyped_view()).pixels);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<std::byte>& mine : got) EXPECT_EQ(mine, wanted);
}

TEST(Runner, ReportsStepsRowsAndRanges) {
  const Image image = synthesize(parse_pattern("threshold:100"), {200, 100, 3}, 1);
  Runner runner({.device = "cpu", .threads = 1});
  const RunReport report = runner.run(image.untyped_view(), "gray,contrast:clip=1,smooth,gray").report;
  EXPECT_EQ(report.implementation, "cpu");
  EXPECT_NE(report.processor, "");
  EXPECT_EQ(report.why, "");
  EXPECT_EQ(report.steps, (std::vector<std::string>{"gray", "hist*", "contrast:1", "smooth"}));
  ASSERT_EQ(report.notes.size(), 1U);  // the second gray
  ASSERT_EQ(report.ranges.size(), 1U);
  EXPECT_EQ(report.ranges[0].label, "contrast:1");
  EXPECT_FALSE(report.ranges[0].of_one_plane);
  EXPECT_LT(report.ranges[0].lo, report.ranges[0].hi);
  std::vector<std::string> names;
  for (const TimeRow& row : report.rows) {
    names.push_back(row.name);
    EXPECT_GE(row.time_ms, 0) << row.name;
    EXPECT_LE(row.time_ms, report.wall_ms) << row.name;
  }
  for (const std::string& step : report.steps)
    EXPECT_EQ(std::ranges::count(names, step), 1) << step << " among the rows";
  EXPECT_EQ(report.input, image.shape());
  EXPECT_EQ(report.output, (Shape{200, 100, 1}));
  EXPECT_EQ(runner.run(image.untyped_view(), "contrast:stretch=each").report.ranges.size(), 3U);
}

TEST(Runner, AutoReportsItsChoice) {
  const Image image = noise({8, 8, 1});
  Runner runner;
  const RunReport report = runner.run(image.untyped_view()).report;
  EXPECT_EQ(report.implementation, "cpu");  // starting a device does not pay off for 64 pixels
  EXPECT_EQ(report.why, built_with_cuda() ? "auto chose cpu (the image is too small to benefit from CUDA)"
                                          : "auto chose cpu (this build has no CUDA)");
}

TEST(Runner, RejectsInvalidArguments) {
  using enum ErrorKind;
  const Image image = noise({8, 8, 3});
  expect_error(usage, "got 'gpu'", [] { Runner runner({.device = "gpu"}); });
  expect_error(usage, "one image needs a single device", [] { Runner runner({.device = "cuda:0,1"}); });
  expect_error(usage, "--threads", [] { Runner runner({.threads = -1}); });
  expect_error(usage, "--threads", [] { Runner runner({.threads = 1025}); });
  Runner runner({.device = "cpu", .threads = 1, .max_pixels = 1000});
  expect_error(usage, "blur", [&] { (void)runner.run(image.untyped_view(), "blur"); });
  expect_error(usage, "image: expected at least 1x1", [&] { (void)runner.plan({0, 3, 1}); });
  expect_error(usage, "image: expected at least 1x1", [&] { (void)runner.plan({3, 3, 5}); });
  expect_error(usage, "list 2, 'blur':", [&] { (void)runner.branched_plan({8, 8, 3}, {"gray", "blur"}); });
  expect_error(usage, "image: expected at least 1x1", [&] {
    (void)runner.branched_plan({3, 3, 5}, {"gray"});
  });
  expect_error(usage, "shape of the image differs", [&] {
    (void)runner.run(image.untyped_view(), runner.plan({8, 8, 1}));
  });
  expect_error(usage, "shape of the image differs", [&] { (void)runner.run({}, runner.plan({8, 8, 1})); });
  expect_error(input, "pixels", [&] { (void)runner.run(image.untyped_view(), "resize:100:100"); });
  // The errors have not affected the runner.
  EXPECT_EQ(bytes_of(runner.run(image.untyped_view()).pixels), expected(image, kDefaultStages));
}

TEST(Runner, CudaByNameNeverFallsBack) {
  if (!list_cuda_devices().devices.empty()) GTEST_SKIP() << "there is a CUDA device";
  const Image image = noise({8, 8, 3});
  Runner runner({.device = "cuda"});
  for (int i = 0; i < 2; ++i)
    expect_error(ErrorKind::device, "", [&] { (void)runner.run(image.untyped_view()); });
}

TEST(Runner, CudaProducesTheSamePixels) {
  if (list_cuda_devices().devices.empty()) GTEST_SKIP() << "no CUDA device";
  Runner runner({.device = "cuda:0", .threads = 2});
  for (const Size& size : few_sizes()) {
    for (const Sample sample : {Sample::u8, Sample::u16}) {
      const Image image = noise({size.width, size.height, 3, sample});
      const RunResult result = runner.run(image.untyped_view());
      EXPECT_EQ(result.report.implementation, "cuda");
      EXPECT_EQ(bytes_of(result.pixels), expected(image, kDefaultStages)) << size.width << "x" << size.height;
    }
  }
}

TEST(ImageIo, RoundTrips) {
  const TemporaryDirectory directory;
  for (const char* name : {"a.png", "a.tif", "a.ppm"}) {
    for (const Sample sample : {Sample::u8, Sample::u16}) {
      const Image image = noise({37, 29, 3, sample});
      write_image(directory.file(name), image.untyped_view(), usual_encoding(), 2);
      const Image back = read_image(directory.file(name));
      EXPECT_EQ(back.shape(), image.shape()) << name;
      EXPECT_EQ(bytes_of(back.untyped_view()), bytes_of(image.untyped_view())) << name;
    }
  }
}

TEST(ImageIo, ErrorsNameTheFile) {
  using enum ErrorKind;
  const TemporaryDirectory directory;
  const Image image = noise({3, 2, 3, Sample::u16});
  const std::string missing = directory.file("no.png"), text = directory.file("text.png");
  std::ofstream(text) << "no image";
  expect_error(input, missing + ": ", [&] { (void)read_image(missing); });
  expect_error(input, text + ": ", [&] { (void)read_image(text); });
  expect_error(usage, "a.gif: cannot write files with this ending",
               [&] { write_image(directory.file("a.gif"), image.untyped_view()); });
  for (const int threads : {-1, 1025}) {
    expect_error(
        usage, "a.png: threads: expected 1 to 1024 (0: one per processor), got " + std::to_string(threads),
        [&] { write_image(directory.file("a.png"), image.untyped_view(), usual_encoding(), threads); });
  }
  expect_error(usage, "a.jpg: ", [&] { write_image(directory.file("a.jpg"), image.untyped_view()); });
  expect_error(output, "b/a.png: ", [&] { write_image(directory.file("b/a.png"), image.untyped_view()); });
  EXPECT_FALSE(std::filesystem::exists(directory.file("a.jpg")));
}

}  // namespace
}  // namespace imgpipe::test::runner_test
