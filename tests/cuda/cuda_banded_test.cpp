// Compares images in bands on a CUDA device with the reference, also when CUDA calls fail.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/memory/available_memory.h"
#include "pipeline/compare.h"
#include "pipeline/engine.h"
#include "tests/support/banded_reader.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/error_kind.h"
#include "tests/support/images.h"
#include "tests/support/made_rows.h"

#ifdef IMGPIPE_TEST_CUDA
#include "pipeline/cuda/cuda_api.h"
#endif

namespace imgpipe::test::cuda_banded_test {
namespace {

Image make_image(Shape shape) {
  Image image(shape);
  fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, "noise", 9);
  return image;
}

struct JobOptions {
  std::string stages = "gray,hist,contrast,smooth";
  bool fuse = false;
  bool keep = false;
  int repeat = 0;
  bool banded_reader = false;
};

Outcome run_job(Engine& engine, const Image& image, const JobOptions& options) {
  BandedLog log;
  Job job;
  job.reader = make_memory_reader(image.untyped_view());
  if (options.banded_reader)
    job.reader = std::make_unique<BandedReader>(image.untyped_view(), BandedBehaviour{.seed = 5}, log);
  job.plan = make_plan(parse_stages(options.stages), image.shape(), options.fuse);
  job.writer = make_writer(Format::png, job.plan.output);
  job.keep_pixels = job.keep_source = job.keep_outputs = options.keep;
  job.repeat = options.repeat;
  Outcome outcome = engine.run(std::move(job));
  EXPECT_EQ(log.faults, std::vector<std::string>());
  return outcome;
}

bool went_in_bands(const Outcome& outcome) {
  for (const Span& span : outcome.timeline.spans()) {
    if (span.track.starts_with("cuda slot")) return true;
  }
  return false;
}

// Returns roughly the lowest memory limit with which a device can run the job.
std::int64_t min_limit(const Image& image, const JobOptions& options) {
  for (std::int64_t bytes = 32768;; bytes *= 2) {
    const std::unique_ptr<Engine> cuda = make_cuda_engine(0, 1, bytes);
    const Outcome outcome = run_job(*cuda, image, options);
    if (!outcome.error) return bytes;
    if (kind_of(outcome.error) != ErrorKind::memory) std::rethrow_exception(outcome.error);
  }
}

void expect_equal_lists(const std::vector<Size>& sizes, int first_channels, int last_channels) {
  int number = 0;
  for (const Size& size : sizes) {
    for (int channels = first_channels; channels <= last_channels; ++channels) {
      const Image image = make_image({size.width, size.height, channels});
      for (const std::string stages :
           {"gray,hist,contrast,smooth", "smooth:gauss:reflect,gray,contrast:1", "hist,smooth:triangle,hist",
            "contrast:stretch=each,smooth,smooth:box:replicate", "gamma:2.2,invert,threshold",
            "resize:23:17:area,smooth", "resize:70:90,contrast", "smooth,resize:0:300:nearest,hist",
            "threshold:100,resize:10:1",
            "depth:float,smooth:triangle,gamma:2.2,resize:23:17:area,invert,depth:8",
            "depth:float,resize:70:90,levels:9:200:8,smooth:gauss:reflect,depth:8"}) {
        JobOptions options{.stages = stages, .fuse = number % 2 == 1, .keep = true};
        const Outcome expected = run_job(*make_reference_engine(), image, options);
        const std::int64_t least = min_limit(image, options);
        for (const std::int64_t bytes : {least, 3 * least}) {
          SCOPED_TRACE(stages + " " + std::to_string(size.width) + "x" + std::to_string(size.height) + "x" +
                       std::to_string(channels) + " limit " + std::to_string(bytes));
          ++number;
          options.keep = number % 2 == 0;
          options.repeat = number % 5 == 0 ? 2 : 0;
          options.banded_reader = number % 3 == 0;
          const std::unique_ptr<Engine> cuda = make_cuda_engine(0, number % 4 + 1, bytes);
          const Outcome got = run_job(*cuda, image, options);
          if (got.error && kind_of(got.error) == ErrorKind::memory)
            continue;  // chains with these options need more
          if (got.error) std::rethrow_exception(got.error);
          ASSERT_EQ(expected.histograms, got.histograms);
          ASSERT_TRUE(expected.file.joined() == got.file.joined());
          if (!options.keep) continue;
          ASSERT_EQ(first_difference(image.view(), std::as_const(got.source).view()), "");
          for (const Difference& difference : compare_outcomes(got, expected))
            ASSERT_EQ(difference.text(), "identical");
        }
      }
    }
  }
}

TEST(CudaBanded, EqualsTheReferenceForEveryList) {
  IMGPIPE_NEED_CUDA();
  expect_equal_lists({{33, 120}}, 3, 3);
}

TEST(CudaBanded, EqualsTheReferenceForEveryShapeAndOption) {
  IMGPIPE_NEED_CUDA();
  expect_equal_lists({{1, 37}, {33, 120}, {517, 361}}, 1, 4);
}

struct Sums {
  std::vector<std::uint64_t> rows, counts;
  Outcome outcome;
};

// Runs a generated image without keeping any of it in memory.
Sums sums_of(Engine& engine, std::int64_t width, std::int64_t height, bool bands) {
  Sums sums;
  sums.rows.resize(static_cast<std::size_t>(height));
  Job job;
  job.reader = std::make_unique<MadeRowsReader>(width, height, bands);
  job.plan = make_plan(parse_stages("gray,hist,contrast,smooth"), {width, height, 1});
  job.writer = std::make_unique<RowSumWriter>(sums.rows, bands ? 8 : 0);
  job.keep_pixels = false;
  sums.outcome = engine.run(std::move(job));
  if (sums.outcome.error) std::rethrow_exception(sums.outcome.error);
  sums.counts = sums.outcome.histograms.at(0);
  return sums;
}

// Whether spans of these two names overlapped in time on different tracks.
bool overlapped(const Timeline& timeline, const std::string& one, const std::string& other) {
  for (const Span& a : timeline.spans()) {
    if (a.name != one) continue;
    for (const Span& b : timeline.spans()) {
      if (b.name == other && a.track != b.track && a.start_ns < b.end_ns && b.start_ns < a.end_ns)
        return true;
    }
  }
  return false;
}

int processors() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void say_times(const char* what, std::int64_t pixels, int threads, double seconds, const Timeline& timeline) {
  std::cout << what << ", " << threads << " threads: " << seconds << " s, "
            << static_cast<double>(pixels) / seconds / 1e9 << " GP/s;";
  std::vector<std::string> names;
  for (const Span& span : timeline.spans()) {
    if (std::ranges::find(names, span.name) == names.end()) names.push_back(span.name);
  }
  for (const std::string& name : names) {
    double ms = 0;
    for (const Span& span : timeline.spans()) {
      if (span.name == name) ms += static_cast<double>(span.length_ns()) / 1e6;
    }
    std::cout << " " << name << " " << ms;
  }
  std::cout << " ms\n";
}

void expect_made_image_equal(std::int64_t width, std::int64_t height, std::int64_t bytes,
                             const std::vector<int>& threads) {
  std::vector<std::uint64_t> counts;
  const std::vector<std::uint64_t> expected = reference_row_sums(width, height, processors(), counts);
  bool overlaps = false;
  for (const int count : threads) {
    for (const bool bands : {true, false}) {
      const std::unique_ptr<Engine> cuda = make_cuda_engine(0, count, bytes);
      const auto start = std::chrono::steady_clock::now();
      const Sums got = sums_of(*cuda, width, height, bands);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      say_times(bands ? "bands" : "rows", width * height, count, time.count(), got.outcome.timeline);
      ASSERT_TRUE(went_in_bands(got.outcome));
      ASSERT_TRUE(counts == got.counts);
      for (std::size_t y = 0; y < expected.size(); ++y) ASSERT_EQ(expected[y], got.rows[y]) << "row " << y;
      overlaps = overlaps || overlapped(got.outcome.timeline, "upload", "download");
    }
  }
  // Some run overlaps. A single thread produces rows too slowly for that, and so may several on a busy
  // machine.
  EXPECT_TRUE(overlaps);
}

TEST(CudaBanded, SixtyFourMegapixelsWithin16MB) {
  IMGPIPE_NEED_CUDA();
  expect_made_image_equal(8192, 8192, std::int64_t{16} << 20, {1, 4, processors()});
}

TEST(CudaBanded, FourGigapixelsWithin1GB) {
  IMGPIPE_NEED_CUDA();
  constexpr std::int64_t kNeeded = std::int64_t{12} << 30;
  if (available_memory_bytes() < kNeeded) GTEST_SKIP() << "needs 12 GiB of memory";
  expect_made_image_equal(65536, 65536, std::int64_t{1} << 30, {processors()});
}

TEST(CudaBanded, ImagesThatFitAreProcessedWhole) {
  IMGPIPE_NEED_CUDA();
  const Image image = make_image({1000, 800, 3});
  const std::unique_ptr<Engine> roomy = make_cuda_engine(0, 2, std::int64_t{64} << 20);
  const Outcome whole = run_job(*roomy, image, {});
  ASSERT_FALSE(whole.error);
  EXPECT_FALSE(went_in_bands(whole));
  const std::unique_ptr<Engine> tight = make_cuda_engine(0, 2, 2'000'000);
  const Outcome bands = run_job(*tight, image, {});
  ASSERT_FALSE(bands.error);
  EXPECT_TRUE(went_in_bands(bands));
  EXPECT_TRUE(whole.file.joined() == bands.file.joined());
}

TEST(CudaBanded, LimitBelowOneRowFailsOnlyItsImage) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<Engine> cuda = make_cuda_engine(0, 2, 1'000'000);
  const Outcome outcome = run_job(*cuda, make_image({100'000, 40, 3}), {});
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(kind_of(outcome.error), ErrorKind::memory);
  EXPECT_FALSE(run_job(*cuda, make_image({100, 400, 3}), {}).error);
}

#ifdef IMGPIPE_TEST_CUDA

// Like CudaFaults.HandlesFailureOfEveryCall, in bands. With one thread, the calls are the same in every run.
TEST(CudaBanded, HandlesFailureOfEveryCall) {
  IMGPIPE_NEED_CUDA();
  const Image image = make_image({300, 250, 3});
  constexpr std::int64_t kLimit = 150'000;
  const Outcome expected = run_job(*make_reference_engine(), image, {});
  const std::int64_t before = cuda_calls();
  ASSERT_FALSE(run_job(*make_cuda_engine(0, 1, kLimit), image, {}).error);
  const std::int64_t calls = cuda_calls() - before;
  EXPECT_GT(calls, 100);
  int step = 0;
  for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress}) {
    step += 1;
    for (std::int64_t k = 0; k < calls; k += 2 * step - 1) {
      const std::unique_ptr<Engine> cuda = [&] {
        fail_cuda_call(k, status);
        return make_cuda_engine(0, 1, kLimit);
      }();
      const Outcome outcome = run_job(*cuda, image, {});
      fail_cuda_call(-1, cudaSuccess);
      SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
      const bool memory = status == cudaErrorMemoryAllocation;
      if (!outcome.error) {  // without pinned memory
        ASSERT_TRUE(memory);
        EXPECT_TRUE(outcome.file.joined() == expected.file.joined());
        continue;
      }
      EXPECT_EQ(kind_of(outcome.error), memory ? ErrorKind::memory : ErrorKind::device);
      const Outcome next = run_job(*cuda, image, {});
      if (memory && next.error && kind_of(next.error) == ErrorKind::memory)
        continue;  // no memory for a context
      EXPECT_EQ(static_cast<bool>(next.error), !memory);
      EXPECT_TRUE(next.error || next.file.joined() == expected.file.joined());
    }
  }
}

#endif

}  // namespace
}  // namespace imgpipe::test::cuda_banded_test
