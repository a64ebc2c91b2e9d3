// When `auto` chooses which device: the arithmetic, the measurement and its cache file.
#include "pipeline/cost_model.h"

#include <cstdlib>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "app/devices/calibration.h"
#include "app/devices/calibration_file.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::cost_model_test {
namespace {

TEST(CostModel, LineThroughTwoMeasurements) {
  const LinearCost line = line_through(1000, 3000, 3000, 7000);
  EXPECT_DOUBLE_EQ(line.ns_per_pixel, 2);
  EXPECT_DOUBLE_EQ(line.ns_per_image, 1000);
  EXPECT_DOUBLE_EQ(line.ns(10), 1020);
  EXPECT_DOUBLE_EQ(line_through(1000, 5000, 3000, 4000).ns_per_pixel, 0) << "noise, not a gain";
  EXPECT_DOUBLE_EQ(line_through(1000, 100, 3000, 900).ns_per_image, 0);
}

TEST(CostModel, LanePaysAboveTheCrossing) {
  // A worker saves 2 ns per pixel, and the lane costs 1 ms per image.
  const CostModel model{{0, 5}, {0, 3}, {1e6, 0.1}, 100e6, {}};
  EXPECT_EQ(model.lane_start_pixels(1), 50'000'000);
  EXPECT_EQ(model.lane_start_pixels(8), 400'000'000);
  EXPECT_FALSE(model.single_image_pays(40'000'000, 1));
  EXPECT_TRUE(model.single_image_pays(60'000'000, 1));
  EXPECT_FALSE(model.single_image_pays(60'000'000, 8));
  EXPECT_TRUE(model.single_image_pays(60'000'000, 8, 20));
}

TEST(CostModel, CrossingIsAboveTheLastDearerPoint) {
  const std::vector<CostPoint> points{
      {100, 1, 4}, {1000, 9, 3}, {10'000, 10, 20}, {40'000, 40, 20}, {80'000, 80, 30}};
  EXPECT_EQ(crossing(points), 20'000) << "halfway, on logarithms, between as much dearer and as much cheaper";
  EXPECT_EQ(crossing(std::vector<CostPoint>{{100, 4, 1}, {1000, 9, 3}}), 100);
  EXPECT_EQ(crossing(std::vector<CostPoint>{{100, 1, 4}, {1000, 3, 3}}), std::nullopt);
}

TEST(CostModel, LaneWithoutSavingsIsNeverUsed) {
  const CostModel model{{0, 3}, {0, 3}, {0, 0.1}, 0, {}};
  EXPECT_EQ(model.lane_start_pixels(4), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(model.single_image_pays(std::int64_t{1} << 40, 1));
}

TEST(CostModel, DefaultModelIsSane) {
  const CostModel model = default_cost_model();
  ASSERT_TRUE(model.lane_pixels);
  EXPECT_GT(*model.lane_pixels, 1000);
  EXPECT_LT(*model.lane_pixels, 10'000'000);
}

TEST(CostModel, MeasuresALane) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes every speed another";
  HostLane lane("lane:0");
  const CostModel model = measure_cost_model(lane, *std::pmr::new_delete_resource());
  EXPECT_GT(model.host.ns_per_pixel, 0);
  EXPECT_GT(model.with_lane.ns_per_pixel, 0);
  EXPECT_GT(model.lane.ns_per_pixel, 0);
  EXPECT_GT(model.lane_start_ns, 0);
  HostLane broken("lane:0", {.start = true});
  EXPECT_THROW((void)measure_cost_model(broken, *std::pmr::new_delete_resource()), Error);
}

class CalibrationFile : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* old = std::getenv("XDG_CACHE_HOME")) old_ = old;
    ::setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
  }
  void TearDown() override {
    if (old_.empty()) {
      ::unsetenv("XDG_CACHE_HOME");
    } else {
      ::setenv("XDG_CACHE_HOME", old_.c_str(), 1);
    }
  }
  TemporaryDirectory directory_;
  std::string old_;
};

TEST_F(CalibrationFile, IsInTheUsersCacheDirectory) {
  EXPECT_EQ(calibration_file(), directory_.file("imgpipe/calibration.json"));
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_NE(calibration_file(), "relative/imgpipe/calibration.json");
}

TEST_F(CalibrationFile, MissingOrDamagedFilesYieldTheDefaultModel) {
  const CudaDevice device{0, "a device", 9, 0, 1, 1};
  EXPECT_FALSE(load_calibration(device).measured);
  std::filesystem::create_directories(directory_.file("imgpipe"));
  for (const char* text : {"", "{", "[]", "{\"key\": 1}", "null", "{\"host\": {\"ns_per_pixel\": \"x\"}}"}) {
    save_text(calibration_file(), text);
    const Calibration calibration = load_calibration(device);
    EXPECT_FALSE(calibration.measured) << text;
    EXPECT_EQ(calibration.model.lane_pixels, default_cost_model().lane_pixels);
  }
}

TEST_F(CalibrationFile, DevicesAreSearchedOnlyIfOneCouldPay) {
  const auto looks = [](std::int64_t pixels) {
    return choose_for_image(pixels, 1, 1).why != choose_without_devices().why;
  };
  EXPECT_EQ(looks(1'000'000), !built_with_cuda()) << "a build without CUDA gives that as the reason";
  EXPECT_TRUE(looks(1'000'000'000));
  CostModel fast = default_cost_model();
  fast.lane_start_ns = 1e6;
  store_calibration(calibration_file(), {{"0.1.0", "a processor", "AVX2", 16, "a device"}, fast});
  EXPECT_TRUE(looks(1'000'000)) << "the device may be the one that was measured";
}

TEST_F(CalibrationFile, StoresTheMeasurementForThisDevice) {
  const CudaDevices found = list_cuda_devices();
  if (!usable_device(found)) {
    if (std::getenv("IMGPIPE_REQUIRE_GPU") != nullptr) FAIL() << found.unusable_reason;
    GTEST_SKIP() << "no CUDA device: " << found.unusable_reason;
  }
  const CudaDevice device = *usable_device(found);
  std::string store_error;
  const Calibration measured = calibrate(device, store_error);
  EXPECT_EQ(store_error, "");
  const Calibration kept = load_calibration(device);
  EXPECT_TRUE(kept.measured);
  EXPECT_EQ(kept.model.lane_pixels, measured.model.lane_pixels);
  CudaDevice other = device;
  other.name = "another";
  EXPECT_FALSE(load_calibration(other).measured);
}

}  // namespace
}  // namespace imgpipe::test::cost_model_test
