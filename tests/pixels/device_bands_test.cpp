// Runs images in bands through a device whose memory is the host's, and compares the files with the
// reference's, byte for byte: every plan, shape and limit.
#include "pipeline/devices/device_bands.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/compare.h"
#include "pipeline/host/chained_run.h"
#include "tests/support/banded_reader.h"
#include "tests/support/host_band_device.h"
#include "tests/support/images.h"
#include "tests/support/made_rows.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::device_bands_test {
namespace {

Image make_image(Shape shape, std::uint64_t seed = 9) {
  Image image(shape);
  fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, "noise", seed);
  return image;
}

struct JobOptions {
  std::string stages = "gray,hist,contrast,smooth";
  Format format = Format::png;
  bool fuse = false;
  bool file = true;   // with a writer
  bool keep = false;  // keeps pixels, source and outputs
  int repeat = 0;
  bool banded_reader = false;
};

Job make_job(const Image& image, const JobOptions& options, BandedLog& log) {
  Job job;
  if (options.banded_reader) {
    job.reader = std::make_unique<BandedReader>(image.untyped_view(), BandedBehaviour{.seed = 5}, log);
  } else {
    job.reader = make_memory_reader(image.untyped_view());
  }
  job.plan = make_plan(parse_stages(options.stages), image.shape(), options.fuse);
  if (options.file) job.writer = make_writer(options.format, job.plan.output);
  job.keep_pixels = job.keep_source = job.keep_outputs = options.keep;
  job.repeat = options.repeat;
  return job;
}

Outcome run_job(Engine& engine, const Image& image, const JobOptions& options) {
  BandedLog log;
  Outcome outcome = engine.run(make_job(image, options, log));
  EXPECT_EQ(log.faults, std::vector<std::string>());
  return outcome;
}

// Returns three limits: roughly the lowest that a job's bands need, five times that, and more than enough.
std::vector<std::int64_t> limits_for(const Image& image, const JobOptions& options) {
  for (std::int64_t bytes = 4096;; bytes += bytes / 2) {
    HostBandDevice device(bytes, Queued::at_once);
    HostBandEngine engine(device, 1);
    if (!run_job(engine, image, options).error) return {bytes, 5 * bytes, std::int64_t{1} << 30};
  }
}

struct RunMode {
  std::int64_t bytes = std::int64_t{1} << 30;
  Queued queued = Queued::on_wait;
  int threads = 1;
};

void expect_equal(const Image& image, const JobOptions& options, const Outcome& expected,
                  const RunMode& mode) {
  const Shape& shape = image.shape();
  SCOPED_TRACE(options.stages + (options.fuse ? " fused " : " ") + std::to_string(shape.width) + "x" +
               std::to_string(shape.height) + "x" + std::to_string(shape.channels) + " limit " +
               std::to_string(mode.bytes) + " threads " + std::to_string(mode.threads) +
               (options.keep ? " kept" : "") + (options.banded_reader ? " bands" : ""));
  HostBandDevice device(mode.bytes, mode.queued);
  HostBandEngine engine(device, mode.threads);
  const Outcome got = run_job(engine, image, options);
  if (got.error) std::rethrow_exception(got.error);
  ASSERT_EQ(device.faults, std::vector<std::string>());
  ASSERT_EQ(expected.histograms, got.histograms);
  if (options.file) {
    ASSERT_EQ(expected.file.joined(), got.file.joined());
  }
  if (!options.keep) return;
  ASSERT_EQ(first_difference(expected.pixels.as<Sample8>(), got.pixels.as<Sample8>()), "");
  ASSERT_EQ(first_difference(image.view(), std::as_const(got.source).view()), "");
  for (const Difference& difference : compare_outcomes(got, expected))
    ASSERT_EQ(difference.text(), "identical");
}

Outcome reference_outcome(const Image& image, JobOptions options) {
  options.keep = true;
  options.banded_reader = false;
  options.repeat = 0;
  Outcome outcome = run_job(*make_reference_engine(), image, options);
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

const std::vector<std::string> kLists{
    "gray",
    "hist",
    "contrast",
    "smooth",
    "gray,hist,contrast,smooth",
    "smooth,gray,contrast",
    "contrast,smooth,smooth",
    "gray,gray,contrast,contrast",
    "hist,smooth,hist",
    "smooth:gauss:reflect,smooth:triangle:replicate,invert,hist,threshold",
    "gamma:2.2,smooth,smooth,smooth,smooth,smooth",
    "resize:23:17:area,smooth",
    "median:5,equalize,sobel,median,sobel:l1",
    "box:9:reflect,gauss:2:replicate,sharpen:1.5:0.7",
    "box:127,hist",
    "smooth,clahe:3:4,smooth,contrast",
    "resize:70:90,contrast",
    "smooth,resize:0:300:nearest,hist",
    "hist,resize:19:3:nearest,contrast,resize:40:200:area,smooth:box:reflect",
    "threshold:100,resize:10:1",
    "depth:float,smooth:triangle,gamma:2.2,resize:23:17:area,invert,depth:8",
    "depth:float,resize:70:90,levels:9:200:8,smooth:gauss:reflect,depth:8,hist",
    "depth:float,hist:0.3:0.6,resize:70:90,levels:-0.5:0.625,hist,depth:8"};

TEST(DeviceBands, EqualsTheReferenceForEveryListShapeAndLimit) {
  for (const Size& size : {Size{1, 1}, Size{1, 37}, Size{41, 1}, Size{5, 5}, Size{33, 120}, Size{117, 261}}) {
    for (int channels = 1; channels <= 4; ++channels) {
      const Image image = make_image({size.width, size.height, channels});
      // Each list runs on grey and RGB, or on both with alpha.
      for (std::size_t list = channels % 2; list < kLists.size(); list += 2) {
        const std::string& stages = kLists[list];
        JobOptions options{.stages = stages, .fuse = channels % 2 == 1};
        const Outcome expected = reference_outcome(image, options);
        int number = 0;
        for (const bool keep : {false, true}) {
          options.keep = keep;
          for (const std::int64_t bytes : limits_for(image, options)) {
            options.banded_reader = number % 2 == 1;
            expect_equal(
                image, options, expected,
                {bytes, number % 4 < 2 ? Queued::on_wait : Queued::at_once, number % 3 == 0 ? 1 : 4});
            if (HasFatalFailure()) return;
            ++number;
          }
        }
      }
    }
  }
}

TEST(DeviceBands, EveryFormatOptionAndPassEqualsTheReference) {
  const Image image = make_image({301, 300, 3});
  for (const std::string border : {"shrink", "replicate", "reflect"}) {
    for (const Format format : {Format::png, Format::ppm, Format::bmp, Format::tga}) {
      if (kSanitized && format != Format::png) continue;
      for (const int repeat : {0, 2}) {
        JobOptions options{.stages = "contrast:1:0:stretch=each,smooth:gauss:" + border, .format = format};
        const Outcome expected = reference_outcome(image, options);
        options.repeat = repeat;
        for (const std::int64_t bytes : limits_for(image, options))
          expect_equal(image, options, expected, {bytes, Queued::on_wait, 3});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Several bands are in flight with any number of threads, within the device's limit.
TEST(DeviceBands, BandsOverlapWithinTheLimit) {
  const Image image = make_image({1000, 3000, 1});
  for (const int threads : {1, 2, 8}) {
    for (const std::int64_t bytes : {std::int64_t{200'000}, std::int64_t{1} << 20, std::int64_t{1} << 30}) {
      HostBandDevice device(bytes, Queued::on_wait);
      HostBandEngine engine(device, threads);
      const Outcome outcome = run_job(engine, image, {.format = Format::pgm});
      if (outcome.error) std::rethrow_exception(outcome.error);
      EXPECT_EQ(device.faults, std::vector<std::string>());
      EXPECT_EQ(device.chains, 2);
      EXPECT_LE(device.max_bytes, bytes);
      EXPECT_GE(device.max_slots, 3U) << threads << " " << bytes;
      EXPECT_LE(device.max_slots, device_slots(threads));
      EXPECT_GE(device.bands_done, 4);
    }
  }
}

TEST(DeviceBands, LimitBelowOneRowIsReported) {
  const Image image = make_image({100'000, 40, 3});
  HostBandDevice device(1'000'000, Queued::at_once);
  HostBandEngine engine(device, 2);
  const Outcome outcome = run_job(engine, image, {});
  ASSERT_TRUE(outcome.error);
  try {
    std::rethrow_exception(outcome.error);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("not enough device memory: bands of one row take"),
              std::string::npos)
        << error.what();
  }
}

TEST(DeviceBands, FailureWaitsForQueuedWork) {
  const Image image = make_image({500, 900, 3});
  for (const int threads : {1, 4}) {
    for (const std::int64_t fails_at : {0, 1, 5, 8}) {
      HostBandDevice device(1'000'000, Queued::at_once);
      device.fails_at = fails_at;
      HostBandEngine engine(device, threads);
      EXPECT_TRUE(run_job(engine, image, {}).error);
      EXPECT_EQ(device.stops, 1);
    }
    HostBandDevice device(1'000'000, Queued::on_wait);
    HostBandEngine engine(device, threads);
    BandedLog log;
    Job job = make_job(image, {}, log);
    job.reader = std::make_unique<BandedReader>(image.untyped_view(), BandedBehaviour{.fails_at = 300}, log);
    EXPECT_TRUE(engine.run(std::move(job)).error);
    EXPECT_EQ(device.stops, 1);
  }
}

// An image generated row by row and reduced to row sums, like the largest images on a GPU.
TEST(DeviceBands, GeneratedImageEqualsTheReference) {
  constexpr std::int64_t kWidth = 1001;
  constexpr std::int64_t kHeight = 2333;
  std::vector<std::uint64_t> counts;
  const std::vector<std::uint64_t> expected = reference_row_sums(kWidth, kHeight, 2, counts);
  for (const bool bands : {true, false}) {
    for (const int threads : {1, 3}) {
      HostBandDevice device(500'000, Queued::on_wait);
      HostBandEngine engine(device, threads);
      std::vector<std::uint64_t> sums(kHeight);
      Job job;
      job.reader = std::make_unique<MadeRowsReader>(kWidth, kHeight, bands);
      job.plan = make_plan(parse_stages("gray,hist,contrast,smooth"), {kWidth, kHeight, 1});
      job.writer = std::make_unique<RowSumWriter>(sums, bands ? 7 : 0);
      job.keep_pixels = false;
      const Outcome outcome = engine.run(std::move(job));
      if (outcome.error) std::rethrow_exception(outcome.error);
      EXPECT_EQ(device.faults, std::vector<std::string>());
      EXPECT_EQ(outcome.histograms.at(0), counts);
      EXPECT_EQ(sums, expected);
    }
  }
}

// The host holds a few bands of a large image, whatever its height.
TEST(DeviceBands, HostMemoryDoesNotGrowWithTheImage) {
  for (const char* stages : {"gray,smooth", "gray,hist"}) {
    const auto need = [&](std::int64_t height) {
      const Plan plan = make_plan(parse_stages(stages), {20'000, height, 3});
      const auto writer = make_writer(Format::pgm, plan.output);
      const Image small = make_image({1, 1, 3});
      const auto reader = make_memory_reader(small.untyped_view());
      return chains_need({.plan = plan, .reader = *reader, .writer = writer.get(), .handed_on = true}, true)
          .with_threads(8);
    };
    EXPECT_LT(need(200'000), need(100'000) + (std::int64_t{1} << 20));  // 1 MiB: the list of the file's parts
    EXPECT_LT(need(200'000), std::int64_t{1} << 30);
  }
}

// A stage that reads other rows than it writes must keep the image's height or count rows.
TEST(DeviceBands, EveryStageSupportsBands) {
  for (const Stage& stage : stage_table()) {
    EXPECT_TRUE(stage.needs == nullptr || stage.by_row || stage.infer == nullptr) << stage.name;
    EXPECT_FALSE(makes_counts(stage) && makes_pixels(stage)) << stage.name;
  }
}

}  // namespace
}  // namespace imgpipe::test::device_bands_test
