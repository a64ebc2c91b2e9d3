// The CUDA functions of 16-bit samples where tests that know stages only by their row do not reach: counters
// that pass 16 bits, parts of the values, every range of a stretch, Otsu's value of many histograms.
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
#include "kernels/hist/hist.h"
#include "kernels/stage.h"
#include "kernels/threshold/threshold.h"
#include "pipeline/compare.h"
#include "pipeline/owned_frame.h"
#include "tests/support/cuda_backend.h"

#ifdef IMGPIPE_TEST_CUDA
#include "pipeline/cuda/cuda_api.h"
#endif

namespace imgpipe::test {
namespace {

constexpr int kBins16 = 65536;
constexpr std::size_t kThreePlanes = std::size_t{3} * kBins16;

#ifdef IMGPIPE_TEST_CUDA

// ---- one stage --------------------------------------------------------------------------------------

using ValueOf = std::function<std::uint32_t(std::int64_t)>;

// A planar image, each plane filled in the order of its samples.
struct Planes {
  Planes(std::int64_t width, std::int64_t height, int colors, SampleType sample, const ValueOf& value = {})
      : type{width, height, colors, false, Layout::planar, sample} {
    for (int c = 0; c < colors; ++c) {
      images.emplace_back(Shape{width, height, 1, sample});
      if (!value) continue;
      for (std::int64_t i = 0; i < width * height; ++i) {
        const std::uint32_t v = value(c * width * height + i);
        if (sample == SampleType::u16) {
          images.back().untyped_view().as<Sample16>().data[i] = static_cast<Sample16>(v);
        } else {
          images.back().untyped_view().as<Sample>().data[i] = static_cast<Sample>(v);
        }
      }
    }
  }
  Frame<std::byte, Host> frame() {
    Frame<std::byte, Host> all{type, {}};
    for (std::size_t c = 0; c < images.size(); ++c) all.planes[c] = images[c].untyped_view();
    return all;
  }

  FrameType type;
  std::vector<Image> images;
};

DeviceWork launched(const std::function<CudaStatus(const StageCall<Device>&, const CudaLaunch&)>& function) {
  return [function](const StageCall<Device>& call, const CudaLaunch& launch) {
    IMGPIPE_CUDA(static_cast<cudaError_t>(function(call, launch)));
    return std::string();
  };
}

void expect_equal_planes(Planes& expected, Planes& got) {
  const Difference difference = compare_frames(expected.frame(), got.frame());
  ASSERT_TRUE(difference.identical()) << difference.text();
}

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
      // Both halves of one word pass their ends, and meet.
      {"two values of one word", [=](std::int64_t i) { return random(i) % 2 == 0 ? 6U : 7U; }},
      {"two values of one word of each quarter",
       [=](std::int64_t i) { return 6U + random(i) % 2 + 16384U * (random(i) >> 4 & 3); }},
      {"the lower half passes often", [=](std::int64_t i) { return random(i) % 16 == 0 ? 32769U : 32768U; }},
      {"the upper half passes often", [=](std::int64_t i) { return random(i) % 16 == 0 ? 65534U : 65535U; }},
      {"flat areas", [](std::int64_t i) { return static_cast<std::uint32_t>(i / 777 * 40503) & 0xFFFF; }},
      {"12 bits", [=](std::int64_t i) { return (random(i) & 0xFFF) * 16; }},
      // Each passes 16 bits, but a warp has none often enough to add it up first.
      {"eight values", [=](std::int64_t i) { return random(i) % 8 * 8191; }},
      {"hot values that change",
       [=](std::int64_t i) { return static_cast<std::uint32_t>(i >> 15 & 0xFF) * 257 + random(i) % 4; }},
      {"a hot value among noise",
       [=](std::int64_t i) { return random(i) % 3 == 0 ? 4095U : random(i) >> 3 & 0xFFFF; }},
      {"thirty values", [=](std::int64_t i) { return random(i) % 30 * 2027; }},
      {"thirty values of fifteen words", [=](std::int64_t i) { return 51000U + random(i) % 30; }},
  };
}

struct HistWay {
  std::string name;
  std::function<CudaStatus(const StageCall<Device>&, const CudaLaunch&)> launch;
};

// Those that the device can.
std::vector<HistWay> hist_ways() {
  std::vector<HistWay> all;
  const auto add = [&](const std::string& name, const Hist16Way& way) {
    all.push_back({name, [way](const StageCall<Device>& call, const CudaLaunch& launch) {
                     return hist16_way_cuda(call, launch, way);
                   }});
  };
  for (const int parts : {1, 2, 4}) add("parts " + std::to_string(parts), {.parts = parts});
  if (find_cuda_device(0).major >= 9) add("clusters", {.clusters = true});
  return all;
}

void expect_hist(const HistCase& test, std::int64_t width, std::int64_t height,
                 const std::vector<int>& multiprocessors) {
  Planes image(width, height, 1, SampleType::u16, test.value);
  std::vector<std::uint64_t> expected(kBins16, 0);
  const auto plane = image.images[0].untyped_view().as<Sample16>();
  for (std::int64_t i = 0; i < plane.width * plane.height; ++i) ++expected[plane.data[i]];
  for (const HistWay& way : hist_ways()) {
    for (const int count : multiprocessors) {
      SCOPED_TRACE(test.name + " " + std::to_string(width) + "x" + std::to_string(height) + " " + way.name +
                   " multiprocessors " + std::to_string(count));
      std::vector<std::uint64_t> counts(kBins16, 0xDEADBEEF);
      StageCall<Host> call{};
      call.in = image.frame();
      call.histogram = {counts.data(), kBins16, 1, kBins16, 1};
      const auto launch_way = [&](const StageCall<Device>& device, const CudaLaunch& launch) {
        return way.launch(device, {launch.stream, count});
      };
      ASSERT_EQ(run_on_cuda(launched(launch_way), call), "");
      for (std::size_t bin = 0; bin < expected.size(); ++bin)
        ASSERT_EQ(expected[bin], counts[bin]) << "bin " << bin;
    }
  }
}

// A few multiprocessors make blocks count much: 4 million samples pass 16 bits 64 times in a word.
TEST(CudaHist16, CountersThatPass16Bits) {
  IMGPIPE_NEED_CUDA();
  for (const HistCase& test : hist_cases()) {
    expect_hist(test, 2048, 2048, {1, 3, 132});
    expect_hist(test, 1999, 1501, {1, 3});
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(CudaHist16, ASmallImageInEveryWay) {
  IMGPIPE_NEED_CUDA();
  for (const HistCase& test : hist_cases()) {
    expect_hist(test, 13, 7, {1});
    expect_hist(test, 211, 97, {1, 2});
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(CudaHist16, ThreeLargePlanes) {
  IMGPIPE_NEED_CUDA();
  Planes image(3001, 2003, 3, SampleType::u16,
               [](std::int64_t i) { return static_cast<std::uint32_t>(i * i >> 9) & 0xFFFF; });
  std::vector<std::uint64_t> expected(kThreePlanes);
  std::vector<std::uint64_t> counts(kThreePlanes, 1);
  StageCall<Host> call{};
  call.in = image.frame();
  call.histogram = {expected.data(), kBins16, 3, kBins16, 1};
  hist16_reference(call);
  call.histogram.data = counts.data();
  ASSERT_EQ(run_on_cuda(launched(hist16_cuda), call), "");
  ASSERT_EQ(expected, counts);
}

// A ramp of every value through the range that made-up counts give, for one plane and three.
void expect_contrast(const std::vector<std::uint64_t>& counts, const Parameters& parameters, SampleType from,
                     bool wide_to) {
  const int bins = max_sample(from) + 1;
  const auto colors = static_cast<int>(counts.size()) / bins;
  Planes in(bins, 1, colors, from, [](std::int64_t i) { return static_cast<std::uint32_t>(i); });
  const SampleType to = wide_to ? SampleType::u16 : SampleType::u8;
  Planes expected(bins, 1, colors, to);
  Planes got(bins, 1, colors, to);
  std::vector<std::uint64_t> own = counts;
  StageCall<Host> call{};
  call.in = in.frame();
  call.out = expected.frame();
  call.histogram = {own.data(), bins, colors, bins, 1};
  call.parameters = parameters;
  from == SampleType::u16 ? contrast16_reference(call) : contrast_reference(call);
  call.out = got.frame();
  const Stage& stage = *find_stage("contrast");
  ASSERT_EQ(run_on_cuda(stage, call), "");
  ASSERT_EQ(own, counts);
  expect_equal_planes(expected, got);
  // The same with what the host has found.
  std::vector<std::byte> found(static_cast<std::size_t>(contrast_found_bytes(in.type, parameters)));
  contrast_find(in.type, parameters, call.histogram, found.data());
  call.found = {found.data(), std::ssize(found)};
  Planes again(bins, 1, colors, to);
  call.out = again.frame();
  ASSERT_EQ(run_on_cuda(stage, call), "");
  expect_equal_planes(expected, again);
}

TEST(CudaContrast16, RangesOfMadeUpCounts) {
  IMGPIPE_NEED_CUDA();
  std::mt19937_64 random(3);
  for (int i = 0; i < 160; ++i) {
    const SampleType from = i % 8 == 7 ? SampleType::u8 : SampleType::u16;
    const int bins = max_sample(from) + 1;
    const int colors = i % 3 == 0 ? 3 : 1;
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins * colors), 0);
    // From one bin to all of them; some beyond 32 bits.
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
    parameters.values = {i % 2 == 0 ? 0 : static_cast<std::int64_t>(random() % kMostClip),
                         i % 4 < 2 ? 0 : static_cast<std::int64_t>(random() % kMostClip), i % 6 < 3 ? 0 : 1,
                         from == SampleType::u8 ? 2
                         : i % 3 == 1           ? 1
                                                : 0};
    SCOPED_TRACE("case " + std::to_string(i));
    expect_contrast(counts, parameters, from, from == SampleType::u8 || i % 3 != 1);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// The first and the last bin alone, and neighbours around the parts that a warp looks through.
TEST(CudaContrast16, RangesAtTheEdgesOfParts) {
  IMGPIPE_NEED_CUDA();
  for (const int lo : {0, 1, 2, 63, 64, 2047, 2048, 4095, 32767, 65533}) {
    for (const int hi : {lo, lo + 1, 64, 2048, 2049, 32768, 65534, 65535}) {
      if (hi < lo || hi >= kBins16) continue;
      std::vector<std::uint64_t> counts(kBins16, 0);
      counts[static_cast<std::size_t>(lo)] += 1;
      counts[static_cast<std::size_t>(hi)] += 1;
      SCOPED_TRACE(std::to_string(lo) + " " + std::to_string(hi));
      expect_contrast(counts, Parameters{}, SampleType::u16, true);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

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
    counts = std::vector<std::uint64_t>(kBins16, 1 + any(1'000'000));  // after the loop: all alike
  if (kind == 8) {  // classes that are too small at both ends
    std::fill(counts.begin(), counts.end(), 0);
    counts[3] = 1;
    counts[5] = 2;
    counts[20'000] = std::uint64_t{1} << 33;
    counts[40'001] = 3 * (std::uint64_t{1} << 32) + 1;
    counts[65'535] = 1;
  }
  return counts;
}

// Every value once: the picture shows the threshold.
void expect_otsu_of(std::vector<std::uint64_t> counts, int colors, const std::vector<OtsuWay>& ways) {
  Planes in(256, 256, colors, SampleType::u16,
            [](std::int64_t at) { return static_cast<std::uint32_t>(at) & 0xFFFF; });
  Planes expected(256, 256, colors, SampleType::u16);
  StageCall<Host> call{};
  call.in = in.frame();
  call.out = expected.frame();
  call.histogram = {counts.data(), kBins16, colors, kBins16, 1};
  call.parameters.values[0] = kOtsu;
  threshold16_reference(call);
  const auto room = threshold_found_bytes(in.type, call.parameters);
  for (const OtsuWay way : ways) {
    SCOPED_TRACE("way " + std::to_string(static_cast<int>(way)));
    const auto function = [way](const StageCall<Device>& device, const CudaLaunch& launch) {
      return threshold16_way_cuda(device, launch, way);
    };
    Planes got(256, 256, colors, SampleType::u16);
    call.out = got.frame();
    ASSERT_EQ(run_on_cuda(launched(function), call, room), "");
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
    expect_otsu_of(counts, colors, {OtsuWay::chosen, OtsuWay::searched, OtsuWay::by_divisions});
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Histograms of which the clusters alone must find the value; more on the host: otsu_choice_test.
TEST(CudaThreshold16, OtsuIsChosen) {
  IMGPIPE_NEED_CUDA();
  std::mt19937_64 random(5);
  for (int i = 0; i < 20; ++i) {
    const int kinds[]{0, 1, 3, 7};
    SCOPED_TRACE("case " + std::to_string(i));
    expect_otsu_of(made_histogram(kinds[i % 4], random), 1, {OtsuWay::chosen_only});
    if (testing::Test::HasFatalFailure()) return;
  }
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
}  // namespace imgpipe::test
