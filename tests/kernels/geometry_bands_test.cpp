// flip, rotate, crop and pad in bands, from the reader to the file, on the host and on a device; and their
// memory.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/chains.h"
#include "pipeline/engine.h"
#include "tests/support/banded_reader.h"
#include "tests/support/host_band_device.h"
#include "tests/support/images.h"

namespace imgpipe::test::geometry_bands_test {
namespace {

const std::vector<std::string> kLists{"crop:50x40+20+700",
                                      "crop:50x1+0+1300",
                                      "crop:9x9+0+0,smooth,contrast",
                                      "hist,crop:70x300+1+500,hist",
                                      "smooth,crop:70x300+1+500,smooth",
                                      "crop:90x1200,resize:40:0,crop:11x50+3+100",
                                      "crop:50x300+60+1200:pad=red,smooth",
                                      "crop:101x1999:pad=black,smooth,hist",
                                      "smooth,pad:100x2601:white:bottom,smooth",
                                      "pad:95x5000:#336699,smooth,crop:60x4000",
                                      "flip:vertical",
                                      "flip,smooth,flip:vertical,contrast",
                                      "rotate:90",
                                      "smooth,rotate:270,gray,smooth",
                                      "rotate:180,crop:30x200+4+1100,contrast",
                                      "crop:60x900,rotate:90,crop:500x20",
                                      "resize:0:400:nearest,rotate:90,rotate:90"};
constexpr std::int64_t kWidth = 91, kHeight = 1301;

Job job_of(const Image& in, const std::string& stages, BandedLog* log,
           const BandedBehaviour& behaviour = {.seed = 5}) {
  Job job;
  if (log == nullptr) {
    job.reader = make_memory_reader(in.untyped_view());
  } else {
    job.reader = std::make_unique<BandedReader>(in.untyped_view(), behaviour, *log);
  }
  job.plan = make_plan(parse_stages(stages), in.shape());
  job.writer = make_writer(Format::ppm, job.plan.output);
  job.keep_pixels = false;
  return job;
}

std::vector<std::byte> file_of(Engine& engine, Job job) {
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome.file.joined();
}

TEST(Geometry, HostBands) {
  const Image in = noise_image({kWidth, kHeight, 3}, 11);
  for (const std::string& stages : kLists) {
    const auto expected = file_of(*make_reference_engine(), job_of(in, stages, nullptr));
    for (const int threads : {1, 2, 5}) {
      SCOPED_TRACE(stages + ", threads: " + std::to_string(threads));
      const auto engine = make_cpu_engine(threads);
      EXPECT_EQ(file_of(*engine, job_of(in, stages, nullptr)), expected);
      BandedLog log;
      EXPECT_EQ(file_of(*engine, job_of(in, stages, &log)), expected);
      EXPECT_EQ(log.faults, std::vector<std::string>());
      EXPECT_TRUE(log.complete(kHeight)) << "rows that nothing needs are read too";
    }
  }
}

TEST(Geometry, DeviceBands) {
  const Image in = noise_image({kWidth, kHeight, 3}, 12);
  for (const std::string& stages : kLists) {
    const auto expected = file_of(*make_reference_engine(), job_of(in, stages, nullptr));
    for (const std::int64_t bytes : {std::int64_t{150'000}, std::int64_t{600'000}, std::int64_t{1} << 30}) {
      for (const int threads : {1, 4}) {
        SCOPED_TRACE(stages + ", threads: " + std::to_string(threads) + ", bytes: " + std::to_string(bytes));
        HostBandDevice device(bytes, threads == 1 ? Queued::on_wait : Queued::at_once);
        HostBandEngine engine(device, threads);
        BandedLog log;
        EXPECT_EQ(file_of(engine, job_of(in, stages, threads == 1 ? nullptr : &log)), expected);
        EXPECT_EQ(device.faults, std::vector<std::string>());
        EXPECT_EQ(log.faults, std::vector<std::string>());
      }
    }
  }
}

// The whole file is validated, however little of its image remains.
TEST(Geometry, DamageOutsideTheCropIsAnError) {
  const Image in = noise_image({kWidth, kHeight, 3}, 13);
  for (const char* stages : {"crop:50x40+20+700", "crop:50x1+0+0", "crop:50x1+0+1300"}) {
    for (const std::int64_t row : {0, 100, 720, 1299, 1300}) {
      for (const int threads : {1, 3}) {
        BandedLog log;
        Job job = job_of(in, stages, &log, {.fails_at = row});
        EXPECT_TRUE(make_cpu_engine(threads)->run(std::move(job)).error) << stages << " row " << row;
        EXPECT_EQ(log.faults, std::vector<std::string>());
      }
    }
  }
}

// A crop of a large image takes only the memory of its bands, at any position; it skips rows in bands.
TEST(Geometry, CropOfALargeImageNeedsLittleMemory) {
  const Shape shape{50'000, 40'000, 3};
  for (const char* stages : {"crop:100x100+7+20000", "crop:100x1+7+39999", "crop:40000x30000+0+10000,smooth",
                             "crop:100x100+7+0,smooth,gray", "smooth,crop:9000x9000,invert"}) {
    const Plan plan = make_plan(parse_stages(stages), shape);
    for (const Format format : {Format::png, Format::ppm}) {
      const auto writer = make_writer(format, plan.output);
      const ChainedPlan chained(plan, true, {}, ChainLength::longest);
      EXPECT_EQ(chained.chains.size(), 1U) << stages;
      const BandPlan bands(chained, chained.chains.front(), writer.get(), 2);
      EXPECT_LT(bands.band_bytes(), std::int64_t{32} << 20) << stages;
      EXPECT_LT(bands.rows_read(), 400) << stages;
    }
  }
}

// A step that needs all rows begins a chain, which later steps join unless it runs on a device.
TEST(Geometry, StepThatNeedsAllRowsBeginsAChain) {
  const auto chains = [](const char* stages, ChainLength length) {
    const Plan plan = make_plan(parse_stages(stages), {300, 200, 3});
    std::string text;
    for (const Chain& chain : ChainedPlan(plan, true, {}, length).chains)
      text += std::to_string(chain.end - chain.first) + (chain.of_all_rows ? "! " : " ");
    return text;
  };
  EXPECT_EQ(chains("rotate:90", ChainLength::longest), "0 1! ");
  EXPECT_EQ(chains("invert,rotate:90,flip,gray,smooth", ChainLength::longest), "1 4! ");
  EXPECT_EQ(chains("invert,rotate:90,flip,gray,smooth", ChainLength::longest_on_device), "1 1! 3 ");
  EXPECT_EQ(chains("flip:vertical,rotate:90", ChainLength::longest), "0 1! 1! ");
  EXPECT_EQ(chains("flip,crop:20x20", ChainLength::longest), "2 ");
  EXPECT_EQ(chains("hist,crop:20x20,gray", ChainLength::longest), "2 3 ");
}

}  // namespace
}  // namespace imgpipe::test::geometry_bands_test
