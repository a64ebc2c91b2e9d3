// Tests the CUDA functions for 16-bit samples beyond the tests that are driven by the stage table: every
// range of a stretch, and Otsu's threshold of many histograms. See cuda16_hist_test for counting.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"
#include "kernels/threshold/threshold.h"
#include "tests/support/stage_cases.h"

#ifdef IMGPIPE_TEST_CUDA
#include "tests/support/cuda_planes.h"
#endif

namespace imgpipe::test::cuda16_test {
namespace {

#ifdef IMGPIPE_TEST_CUDA

// Stretches a ramp of all values to the range of the given counts, for one plane or three, and expects the
// result of the reference.
void expect_contrast(const std::vector<std::uint64_t>& counts, const Parameters& parameters, Sample from,
                     bool wide_to) {
  const int bins = max_sample(from) + 1;
  const auto colors = static_cast<int>(counts.size()) / bins;
  Planes in(bins, 1, colors, from, [](std::int64_t i) { return static_cast<std::uint32_t>(i); });
  const Sample to = wide_to ? Sample::u16 : Sample::u8;
  Planes expected(bins, 1, colors, to);
  std::vector<std::uint64_t> own = counts;
  StageCall<Host> call{};
  call.in = in.frame();
  call.out = expected.frame();
  call.histogram = {own.data(), bins, colors, bins, 1};
  call.parameters = parameters;
  contrast_reference(call);
  const Stage& stage = *find_stage("contrast");
  for (const Clusters method : {Clusters::where_supported, Clusters::none}) {
    Planes got(bins, 1, colors, to);
    call.out = got.frame();
    const auto launch = [method](const StageCall<Device>& device, const CudaLaunch& on) {
      const CudaStatus made = stretch_ranges_clusters_cuda(device, on, method);
      return made != cudaSuccess ? made : contrast16_cuda(device, on);
    };
    ASSERT_EQ(run_on_cuda(launched(launch), call, table_bytes(stage, in.type, parameters)), "");
    ASSERT_EQ(own, counts);
    expect_equal_planes(expected, got);
  }
  std::vector<std::byte> table = table_for(stage, call);
  call.table = {table.data(), std::ssize(table)};
  Planes again(bins, 1, colors, to);
  call.out = again.frame();
  ASSERT_EQ(run_on_cuda(stage, call), "");
  expect_equal_planes(expected, again);
}

TEST(CudaContrast16, RangesOfGeneratedCounts) {
  IMGPIPE_NEED_CUDA();
  std::mt19937_64 random(3);
  for (int i = 0; i < 160; ++i) {
    const Sample from = i % 8 == 7 ? Sample::u8 : Sample::u16;
    const int bins = max_sample(from) + 1;
    const int colors = i % 3 == 0 ? 3 : 1;
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins * colors), 0);
    // Fills from one bin to all bins; some counts exceed 32 bits.
    const int filled = i % 5 == 0 ? bins : 1 + static_cast<int>(random() % 40);
    for (int c = 0; c < colors; ++c) {
      for (int k = 0; k < filled; ++k) {
        const auto bin =
            i % 5 == 0 ? static_cast<std::uint64_t>(k) : random() % static_cast<std::uint64_t>(bins);
        counts[static_cast<std::size_t>(c * bins) + bin] +=
            random() % (i % 7 == 0 ? std::uint64_t{1} << 33 : 1000) + 1;
      }
    }
    Parameters parameters;
    parameters.values = {i % 2 == 0 ? 0 : static_cast<std::int64_t>(random() % kMaxClip),
                         i % 4 < 2 ? 0 : static_cast<std::int64_t>(random() % kMaxClip), i % 6 < 3 ? 0 : 1,
                         from == Sample::u8 ? 2
                         : i % 3 == 1       ? 1
                                            : 0};
    SCOPED_TRACE("case " + std::to_string(i));
    expect_contrast(counts, parameters, from, from == Sample::u8 || i % 3 != 1);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Ranges from or to the first and last bins, and bins at boundaries between threads and between blocks.
TEST(CudaContrast16, RangesAtThreadAndBlockBoundaries) {
  IMGPIPE_NEED_CUDA();
  for (const int lo : {0, 1, 2, 63, 64, 2047, 2048, 4095, 32767, 65533}) {
    for (const int hi : {lo, lo + 1, 64, 2048, 2049, 32768, 65534, 65535}) {
      if (hi < lo || hi >= kBins16) continue;
      std::vector<std::uint64_t> counts(kBins16, 0);
      counts[static_cast<std::size_t>(lo)] += 1;
      counts[static_cast<std::size_t>(hi)] += 1;
      SCOPED_TRACE(std::to_string(lo) + " " + std::to_string(hi));
      expect_contrast(counts, Parameters{}, Sample::u16, true);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(CudaContrast16, TinyImage) {
  IMGPIPE_NEED_CUDA();
  std::vector<std::uint64_t> counts(kBins16, 0);
  counts[2047] = counts[32768] = 1;
  expect_contrast(counts, Parameters{}, Sample::u16, true);
}

// ---- Otsu's value -------------------------------------------------------------------------------------

std::vector<std::uint64_t> made_histogram(int kind, std::mt19937_64& random) {
  std::vector<std::uint64_t> counts(kBins16, 0);
  const auto any = [&](std::uint64_t below) { return random() % below; };
  const auto samples = static_cast<int>(20'000 + any(300'000));
  std::normal_distribution<double> hill(static_cast<double>(5000 + any(50'000)),
                                        static_cast<double>(3 + any(4000)));
  for (int i = 0; i < samples; ++i) {
    std::uint64_t v = 0;
    if (kind == 0) v = any(kBins16);
    if (kind == 1) v = any(4096) * 16;
    if (kind == 2) v = static_cast<std::uint64_t>(std::clamp(hill(random), 0.0, 65535.0));
    if (kind == 3) v = i % 3 == 0 ? any(700) : 30'000 + any(9000);
    if (kind == 4) v = static_cast<std::uint64_t>(i % 5) * 16'383;
    if (kind == 5) v = 65'535 - any(3) * 7;
    if (kind == 6) v = 1000;
    ++counts[v];
  }
  if (kind == 7)
    counts = std::vector<std::uint64_t>(kBins16,
                                        1 + any(1'000'000));  // after the loop, so that all bins are alike
  if (kind == 8) {                                            // classes below the minimum size at both ends
    std::fill(counts.begin(), counts.end(), 0);
    counts[3] = 1;
    counts[5] = 2;
    counts[20'000] = std::uint64_t{1} << 33;
    counts[40'001] = 3 * (std::uint64_t{1} << 32) + 1;
    counts[65'535] = 1;
  }
  return counts;
}

// The image holds every value once, so the output reveals the threshold.
void expect_otsu_of(std::vector<std::uint64_t> counts, int colors, const std::vector<OtsuMethod>& methods,
                    Clusters clusters = Clusters::where_supported) {
  Planes in(256, 256, colors, Sample::u16,
            [](std::int64_t at) { return static_cast<std::uint32_t>(at) & 0xFFFF; });
  Planes expected(256, 256, colors, Sample::u16);
  StageCall<Host> call{};
  call.in = in.frame();
  call.out = expected.frame();
  call.histogram = {counts.data(), kBins16, colors, kBins16, 1};
  call.parameters.values[0] = kOtsu;
  threshold_reference(call);
  const auto capacity = threshold_table_bytes(in.type, call.parameters);
  for (const OtsuMethod method : methods) {
    SCOPED_TRACE("way " + std::to_string(static_cast<int>(method)));
    const auto function = [method, clusters](const StageCall<Device>& device, const CudaLaunch& launch) {
      const CudaStatus made = threshold_table_method_cuda(device, launch, method, clusters);
      return made != cudaSuccess ? made : threshold16_cuda(device, launch);
    };
    Planes got(256, 256, colors, Sample::u16);
    call.out = got.frame();
    ASSERT_EQ(run_on_cuda(launched(function), call, capacity), "");
    expect_equal_planes(expected, got);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void expect_otsu(int first, int end) {
  std::mt19937_64 random(static_cast<std::uint64_t>(first) + 7);
  for (int i = first; i < end; ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    std::vector<std::uint64_t> counts;
    const int colors = i % 4 == 0 ? 3 : 1;
    for (int c = 0; c < colors; ++c) {
      const std::vector<std::uint64_t> plane = made_histogram((i + c) % 9, random);
      counts.insert(counts.end(), plane.begin(), plane.end());
    }
    expect_otsu_of(counts, colors, {OtsuMethod::chosen, OtsuMethod::searched, OtsuMethod::by_divisions});
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Histograms for which exact sums must find the threshold, with and without clusters; see also
// otsu_choice_test.
TEST(CudaThreshold16, OtsuByExactSums) {
  IMGPIPE_NEED_CUDA();
  std::mt19937_64 random(5);
  for (int i = 0; i < 20; ++i) {
    const int kinds[]{0, 1, 3, 7};
    SCOPED_TRACE("case " + std::to_string(i));
    const std::vector<std::uint64_t> counts = made_histogram(kinds[i % 4], random);
    for (const Clusters clusters : {Clusters::where_supported, Clusters::none})
      expect_otsu_of(counts, 1, {OtsuMethod::chosen_only}, clusters);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(CudaThreshold16, OtsuOfOneHistogram) {
  IMGPIPE_NEED_CUDA();
  std::mt19937_64 random(6);
  const std::vector<std::uint64_t> counts = made_histogram(0, random);
  expect_otsu_of(counts, 1, {OtsuMethod::chosen_only});
  expect_otsu_of(counts, 1, {OtsuMethod::chosen_only}, Clusters::none);
}

// A histogram with few filled bins, searched bin by bin.
TEST(CudaThreshold16, OtsuBySearch) {
  IMGPIPE_NEED_CUDA();
  std::mt19937_64 random(6);
  expect_otsu_of(made_histogram(4, random), 1, {OtsuMethod::searched});
}

TEST(CudaThreshold16, OtsuOfAFewHistograms) {
  IMGPIPE_NEED_CUDA();
  expect_otsu(0, 9);
}

TEST(CudaThreshold16, OtsuOfManyHistograms) {
  IMGPIPE_NEED_CUDA();
  expect_otsu(9, 120);
}

#endif

}  // namespace
}  // namespace imgpipe::test::cuda16_test
