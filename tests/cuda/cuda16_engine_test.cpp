// Compares the CUDA engine with the reference on images of 16-bit samples.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/compare.h"
#include "pipeline/engine.h"
#include "pipeline/owned_frame.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/error_kind.h"
#include "tests/support/images.h"

namespace imgpipe::test::cuda16_engine_test {
namespace {

#ifdef IMGPIPE_TEST_CUDA

Image wide_noise(const Shape& shape, std::uint64_t seed) {
  return noise_image({shape.width, shape.height, shape.channels, Sample::u16}, seed);
}

struct JobOptions {
  std::string stages;
  bool fuse = false;
  bool keep = true;
  int repeat = 0;
};

Outcome run(Engine& engine, const Image& image, const JobOptions& options) {
  Job job;
  job.reader = make_memory_reader(image.untyped_view());
  job.plan = make_plan(parse_stages(options.stages), image.shape(), options.fuse);
  job.keep_source = job.keep_outputs = options.keep;
  job.repeat = options.repeat;
  return engine.run(std::move(job));
}

const std::vector<std::string> kLists{"gray",
                                      "hist",
                                      "contrast",
                                      "smooth",
                                      "gray,hist,contrast,smooth",
                                      "contrast:0.5:2:each,smooth:gauss:reflect",
                                      "contrast:to=8",
                                      "hist,contrast:to=8,smooth,hist,contrast:to=16,invert",
                                      "depth:8,contrast,depth:16,hist",
                                      "threshold,gamma:2.2",
                                      "gamma:0.45,threshold:1000",
                                      "resize:61:47,smooth:triangle:replicate,contrast:1",
                                      "resize:23:17:area,threshold",
                                      "smooth,resize:0:300:nearest,hist,gray"};

bool went_in_bands(const Outcome& outcome) {
  return std::ranges::any_of(outcome.timeline.spans(),
                             [](const Span& span) { return span.track.starts_with("cuda slot"); });
}

// Whether the engine's memory limit may be too low for the list of stages.
enum class Limited : bool { no, yes };

void expect_engine(Engine& cuda, const Image& image, const JobOptions& options,
                   Limited limited = Limited::no) {
  SCOPED_TRACE(options.stages + (options.fuse ? " fused " : " ") + std::to_string(image.shape().width) + "x" +
               std::to_string(image.shape().height) + "x" + std::to_string(image.shape().channels));
  const Outcome expected = run(*make_reference_engine(), image, options);
  if (expected.error) std::rethrow_exception(expected.error);
  const Outcome got = run(cuda, image, options);
  if (limited == Limited::yes && got.error && kind_of(got.error) == ErrorKind::memory) return;
  if (got.error) std::rethrow_exception(got.error);
  ASSERT_TRUE(expected.histograms == got.histograms);
  const Difference difference = compare_frames(frame_of_image(expected.pixels), frame_of_image(got.pixels));
  ASSERT_TRUE(difference.identical()) << difference.text();
  if (!options.keep) return;
  for (const Difference& step : compare_outcomes(got, expected)) ASSERT_EQ(step.text(), "identical");
}

TEST(CudaEngine16, ImageOfSeveralChunks) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<Engine> cuda = make_cuda_engine(0);
  const Image image = wide_noise({1801, 2711, 3}, 6);
  for (const std::string& stages : kLists) {
    expect_engine(*cuda, image, {stages, true, false, 0});
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(CudaEngine16, InBands) {
  IMGPIPE_NEED_CUDA();
  int in_bands = 0;
  for (const std::int64_t bytes : {std::int64_t{6} << 20, std::int64_t{12} << 20}) {
    for (int channels = 1; channels <= 4; ++channels) {
      const Image image = wide_noise({701, 1501, channels}, 7);
      for (const std::string& stages : kLists) {
        const std::unique_ptr<Engine> cuda = make_cuda_engine(0, 2, bytes);
        expect_engine(*cuda, image, {stages, false, true, 0}, Limited::yes);
        if (testing::Test::HasFatalFailure()) return;
        in_bands += went_in_bands(run(*cuda, image, {stages, false, false, 0})) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(in_bands, 20);
}

TEST(CudaEngine16, UnsupportedStepsAreNotFused) {
  const Plan plan = make_plan(parse_stages("gray,hist,contrast,smooth"), {9, 9, 3, Sample::u16}, true);
  for (const Step& step : plan.steps)
    EXPECT_NE(find_kernel(*step.stage, Backend::cuda, step.in.sample, step.out.sample), nullptr)
        << step.label;
}

#endif

}  // namespace
}  // namespace imgpipe::test::cuda16_engine_test
