// Second images stay on the device between images, on a stand-in for the runtime.
#ifdef IMGPIPE_TEST_CUDA

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/second_images.h"
#include "tests/cuda_stand_in/stand_in_runtime.h"

namespace imgpipe::test::kept_tables_test {
namespace {

constexpr Shape kShape{1200, 1000, 1};

class KeptTables : public testing::Test {
 protected:
  KeptTables() {
    runtime.reset();
    runtime.mode = StandInMode::runs;
    runtime.logging_thread = std::this_thread::get_id();
    runtime.free_bytes = runtime.max_pinned = std::size_t{1} << 40;
  }
  ~KeptTables() override { runtime.reset(); }

  [[nodiscard]] static std::shared_ptr<const SecondImage> filled(int value) {
    Image image(kShape);
    std::memset(image.untyped_view().data, value, static_cast<std::size_t>(kShape.bytes()));
    return make_second_image("dark", image.untyped_view());
  }
  // Runs `subtract` with the image; returns the number of copies to the device that are as large as it.
  static std::size_t copies_in_run(Engine& engine, const std::shared_ptr<const SecondImage>& second) {
    Image image(kShape);
    std::memset(image.untyped_view().data, 9, static_cast<std::size_t>(kShape.bytes()));
    std::vector<StageRequest> steps = parse_stages("subtract:dark");
    steps.front().image = second;
    steps.front().parameters.image = second.get();
    Job job;
    job.reader = make_memory_reader(image.untyped_view());
    job.plan = make_plan(steps, kShape);
    job.keep_pixels = true;
    runtime.calls.clear();
    const Outcome outcome = engine.run(std::move(job));
    if (outcome.error) std::rethrow_exception(outcome.error);
    const std::string upload = "up " + std::to_string(second->planes.size());
    return static_cast<std::size_t>(
        std::ranges::count_if(runtime.calls, [&](const std::string& call) { return call == upload; }));
  }
};

TEST_F(KeptTables, AreUploadedOnceWhileTheyExist) {
  const std::unique_ptr<Engine> engine = make_cuda_engine(0, 1, 0);
  std::shared_ptr<const SecondImage> dark = filled(1);
  const std::shared_ptr<const SecondImage> light = filled(2);
  EXPECT_EQ(copies_in_run(*engine, dark), 1U);
  EXPECT_EQ(copies_in_run(*engine, dark), 0U);
  EXPECT_EQ(copies_in_run(*engine, light), 1U);
  EXPECT_EQ(copies_in_run(*engine, dark), 0U) << "both are kept";
  const auto bytes_held = [] {
    std::size_t bytes = 0;
    for (const auto& [data, size] : runtime.memory) bytes += size;
    return bytes;
  };
  const std::size_t before = bytes_held(), freed = dark->planes.size();
  dark.reset();
  EXPECT_EQ(copies_in_run(*engine, light), 0U);
  EXPECT_EQ(bytes_held(), before - freed) << "freed with the image";
  // A new image may have the address of a dropped one.
  for (int value = 3; value < 20; ++value) EXPECT_EQ(copies_in_run(*engine, filled(value)), 1U) << value;
}

// The copy of an image that this run does not use is freed if its memory is needed.
TEST_F(KeptTables, AreFreedForOtherMemory) {
  // Enough for the input, the output and one second image, each of 1.2 MB.
  const std::unique_ptr<Engine> engine = make_cuda_engine(0, 1, 4'500'000);
  const std::shared_ptr<const SecondImage> dark = filled(1), light = filled(2);
  for (int round = 0; round < 3; ++round) {
    EXPECT_LE(copies_in_run(*engine, dark), 1U);
    EXPECT_LE(copies_in_run(*engine, light), 1U);
  }
}

}  // namespace
}  // namespace imgpipe::test::kept_tables_test

#endif
