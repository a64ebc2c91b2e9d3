// Tests the CUDA functions that count 16-bit samples and derive tables from the counts, with every strategy:
// counters that exceed 16 bits, and histograms in parts.
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/equalize/equalize.h"
#include "kernels/hist/hist.h"
#include "kernels/stage.h"
#include "pipeline/device.h"

#ifdef IMGPIPE_TEST_CUDA
#include "tests/support/cuda_planes.h"
#endif

namespace imgpipe::test::cuda16_hist_test {
namespace {

#ifdef IMGPIPE_TEST_CUDA

constexpr std::size_t kThreePlanes = std::size_t{3} * kBins16;

struct HistCase {
  std::string name;
  ValueOf value;
};

std::vector<HistCase> hist_cases() {
  const auto random = [](std::int64_t i) {
    auto z = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    return static_cast<std::uint32_t>((z ^ (z >> 27)) >> 20);
  };
  return {
      {"zeros", [](std::int64_t) { return 0U; }},
      {"full", [](std::int64_t) { return 65535U; }},
      {"one value", [](std::int64_t) { return 12345U; }},
      {"noise", [=](std::int64_t i) { return random(i) & 0xFFFF; }},
      {"ramp", [](std::int64_t i) { return static_cast<std::uint32_t>(i) & 0xFFFF; }},
      {"two values, any words", [=](std::int64_t i) { return random(i) % 2 == 0 ? 40U : 51000U; }},
      // Both 16-bit counters of one word overflow, sometimes at the same time.
      {"two values of one word", [=](std::int64_t i) { return random(i) % 2 == 0 ? 6U : 7U; }},
      {"two values of one word of each quarter",
       [=](std::int64_t i) { return 6U + random(i) % 2 + 16384U * (random(i) >> 4 & 3); }},
      {"the lower half passes often", [=](std::int64_t i) { return random(i) % 16 == 0 ? 32769U : 32768U; }},
      {"the upper half passes often", [=](std::int64_t i) { return random(i) % 16 == 0 ? 65534U : 65535U; }},
      {"flat areas", [](std::int64_t i) { return static_cast<std::uint32_t>(i / 777 * 40503) & 0xFFFF; }},
      {"12 bits", [=](std::int64_t i) { return (random(i) & 0xFFF) * 16; }},
      // Each counter exceeds 16 bits, and all eight are hot: more than a warp caches.
      {"eight values", [=](std::int64_t i) { return random(i) % 8 * 8191; }},
      {"hot values that change",
       [=](std::int64_t i) { return static_cast<std::uint32_t>(i >> 15 & 0xFF) * 257 + random(i) % 4; }},
      {"a hot value among noise",
       [=](std::int64_t i) { return random(i) % 3 == 0 ? 4095U : random(i) >> 3 & 0xFFFF; }},
      {"thirty values", [=](std::int64_t i) { return random(i) % 30 * 2027; }},
      {"thirty values of fifteen words", [=](std::int64_t i) { return 51000U + random(i) % 30; }},
  };
}

struct NamedStrategy {
  std::string name;
  std::function<CudaStatus(const StageCall<Device>&, const CudaLaunch&)> launch;
};

// The strategies that the device supports.
std::vector<NamedStrategy> supported_strategies() {
  std::vector<NamedStrategy> all;
  const auto add = [&](const std::string& name, const Hist16Strategy& strategy) {
    all.push_back({name, [strategy](const StageCall<Device>& call, const CudaLaunch& launch) {
                     return hist16_strategy_cuda(call, launch, strategy);
                   }});
  };
  for (const int parts : {1, 2, 4}) add("parts " + std::to_string(parts), {.parts = parts});
  if (find_cuda_device(0).major >= 9) add("clusters", {.clusters = true});
  return all;
}

void expect_hist(const HistCase& test, std::int64_t width, std::int64_t height,
                 const std::vector<int>& multiprocessors) {
  Planes image(width, height, 1, Sample::u16, test.value);
  std::vector<std::uint64_t> expected(kBins16, 0);
  const auto plane = image.images[0].untyped_view().as<Sample16>();
  for (std::int64_t i = 0; i < plane.width * plane.height; ++i) ++expected[plane.data[i]];
  for (const NamedStrategy& strategy : supported_strategies()) {
    for (const int count : multiprocessors) {
      SCOPED_TRACE(test.name + " " + std::to_string(width) + "x" + std::to_string(height) + " " +
                   strategy.name + " multiprocessors " + std::to_string(count));
      std::vector<std::uint64_t> counts(kBins16, 0xDEADBEEF);
      StageCall<Host> call{};
      call.in = image.frame();
      call.histogram = {counts.data(), kBins16, 1, kBins16, 1};
      const auto launch_strategy = [&](const StageCall<Device>& device, const CudaLaunch& launch) {
        return strategy.launch(device, {launch.stream, count});
      };
      ASSERT_EQ(run_on_cuda(launched(launch_strategy), call), "");
      for (std::size_t bin = 0; bin < expected.size(); ++bin)
        ASSERT_EQ(expected[bin], counts[bin]) << "bin " << bin;
    }
  }
}

// With few multiprocessors, each block counts many samples: 4 million overflow a 16-bit counter 64 times.
TEST(CudaHist16, CountersExceed16Bits) {
  IMGPIPE_NEED_CUDA();
  for (const HistCase& test : hist_cases()) {
    expect_hist(test, 2048, 2048, {1, 3, 132});
    expect_hist(test, 1999, 1501, {1, 3});
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(CudaHist16, SmallImageWithEveryStrategy) {
  IMGPIPE_NEED_CUDA();
  for (const HistCase& test : hist_cases()) {
    expect_hist(test, 13, 7, {1});
    expect_hist(test, 211, 97, {1, 2});
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Small enough for tools that slow down a kernel a thousandfold.
TEST(CudaHist16, TinyImage) {
  IMGPIPE_NEED_CUDA();
  for (const HistCase& test : hist_cases()) {
    if (test.name == "noise" || test.name == "two values of one word") expect_hist(test, 129, 3, {1});
  }
}

TEST(CudaHist16, ThreeLargePlanes) {
  IMGPIPE_NEED_CUDA();
  Planes image(3001, 2003, 3, Sample::u16,
               [](std::int64_t i) { return static_cast<std::uint32_t>(i * i >> 9) & 0xFFFF; });
  std::vector<std::uint64_t> expected(kThreePlanes);
  std::vector<std::uint64_t> counts(kThreePlanes, 1);
  StageCall<Host> call{};
  call.in = image.frame();
  call.histogram = {expected.data(), kBins16, 3, kBins16, 1};
  hist_reference(call);
  call.histogram.data = counts.data();
  ASSERT_EQ(run_on_cuda(launched(hist16_cuda), call), "");
  ASSERT_EQ(expected, counts);
}

// ---- equalize -----------------------------------------------------------------------------------------

void expect_equalized(Planes in) {
  const FrameType& type = in.type;
  Planes expected(type.width, type.height, type.color_channels, Sample::u16);
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(type.color_channels) * kBins16);
  StageCall<Host> call{};
  call.in = in.frame();
  call.out = expected.frame();
  call.histogram = {counts.data(), kBins16, type.color_channels, kBins16, 1};
  hist_reference(call);
  equalize_reference(call);
  for (const Clusters clusters : {Clusters::where_supported, Clusters::none}) {
    Planes got(type.width, type.height, type.color_channels, Sample::u16);
    call.out = got.frame();
    const auto launch = [clusters](const StageCall<Device>& device, const CudaLaunch& on) {
      const CudaStatus made = equalize_tables_clusters_cuda(device, on, clusters);
      return made != cudaSuccess ? made : equalize16_cuda(device, on);
    };
    const std::int64_t capacity = table_bytes(*find_stage("equalize"), in.type, call.parameters);
    ASSERT_EQ(run_on_cuda(launched(launch), call, capacity), "");
    expect_equal_planes(expected, got);
  }
}

TEST(CudaEqualize16, TinyImage) {
  IMGPIPE_NEED_CUDA();
  expect_equalized(
      {129, 3, 1, Sample::u16, [](std::int64_t i) { return static_cast<std::uint32_t>(i * 7919) & 0xFFFF; }});
}

TEST(CudaEqualize16, EveryContentAndStrategy) {
  IMGPIPE_NEED_CUDA();
  for (const HistCase& test : hist_cases()) {
    SCOPED_TRACE(test.name);
    expect_equalized({401, 307, 3, Sample::u16, test.value});
    if (testing::Test::HasFatalFailure()) return;
  }
}

#endif

}  // namespace
}  // namespace imgpipe::test::cuda16_hist_test
