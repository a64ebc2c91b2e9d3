// Compares resize by Pillow's filters on a CUDA device with the reference: random and awkward shapes, windows
// that do and do not fit into shared memory, whole images and bands.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "kernels/table/stage_parameters.h"
#include "pipeline/compare.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/stage_list.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/error_kind.h"
#include "tests/support/float_chains.h"
#include "tests/support/images.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::cuda_filter_test {
namespace {

#ifdef IMGPIPE_TEST_CUDA

constexpr int kRandomCases = 1500;
constexpr int kBandedCases = 200;
// The device memory limits of images in bands: several bands each.
constexpr std::int64_t kFewBytes = 60'000;

struct FilterCase {
  Size in{}, out{};
  std::string values;  // after the size
  int channels = 1;
  Sample sample = Sample::u8;

  [[nodiscard]] Shape shape() const { return {in.width, in.height, channels, sample}; }
  [[nodiscard]] std::string list() const {
    return "resize:" + std::to_string(out.width) + ":" + std::to_string(out.height) + values;
  }
  [[nodiscard]] std::string text() const {
    return std::to_string(in.width) + "x" + std::to_string(in.height) + "x" + std::to_string(channels) +
           (is_wide(sample) ? " 16 bits " : " 8 bits ") + list();
  }
};

const std::vector<std::string> kFilters{"box", "bilinear", "hamming", "bicubic", "lanczos"};

// Sides are 1, few, or up to `most`; some shapes keep a side.
FilterCase random_case(Random& random, std::int64_t most) {
  const auto side = [&] {
    const std::int64_t kind = below(random, 8);
    return 1 + below(random, kind == 0 ? 1 : kind < 4 ? 40 : most);
  };
  FilterCase test;
  test.in = {side(), side()};
  test.out = {side(), side()};
  if (below(random, 6) == 0) test.out.width = test.in.width;
  if (below(random, 6) == 0) test.out.height = test.in.height;
  test.values = ":" + kFilters[static_cast<std::size_t>(below(random, std::ssize(kFilters)))];
  if (below(random, 2) == 0) test.values += ":rule=pillow12";
  if (below(random, 4) == 0) test.values += ":fit=cover";
  test.channels = static_cast<int>(1 + below(random, 4));
  if (below(random, 3) == 0) test.sample = Sample::u16;
  return test;
}

// Makes runs of samples black, and others white: alpha of 0 and of 255 have special rules.
void clear_and_fill(Image& alpha, std::uint64_t seed) {
  const HostView plane = alpha.untyped_view();
  Random random(seed);
  for (std::int64_t y = 0; y < plane.height; ++y) {
    const std::int64_t from = below(random, plane.row_bytes());
    const std::int64_t count = 1 + below(random, plane.row_bytes() - from);
    if (y % 3 < 2) std::memset(plane.row(y) + from, y % 3 == 0 ? 0 : 0xFF, static_cast<std::size_t>(count));
  }
}

void expect_equal_to_reference(const FilterCase& test, std::uint64_t seed) {
  SCOPED_TRACE(test.text() + ", seed " + std::to_string(seed));
  const StageRequest step = parse_stages(test.list()).front();
  FrameType type = frame_type_of(test.shape());
  type.layout = Layout::planar;
  OwnFrame in(type);
  fill(in.view(), contents()[seed % contents().size()], seed);
  if (type.alpha) clear_and_fill(in.planes[kAlphaPlane], seed);
  Made expected = made_by_reference(*step.stage, {test.list(), step.parameters}, in.view());
  OwnFrame got(expected.frame.type);
  StageCall<Host> call{.in = in.view(), .out = got.view(), .parameters = step.parameters};
  std::vector<std::byte> table = table_for(*step.stage, call);
  call.table = {table.data(), std::ssize(table)};
  ASSERT_EQ(run_on_cuda(*step.stage, call), "");
  const Difference difference = compare_frames(expected.frame.view(), got.view());
  ASSERT_TRUE(difference.identical()) << difference.text();
}

TEST(CudaFilters, RandomShapesEqualTheReference) {
  IMGPIPE_NEED_CUDA();
  Random random(20261126);
  for (int i = 0; i < kRandomCases; ++i) {
    expect_equal_to_reference(random_case(random, 300), static_cast<std::uint64_t>(i));
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Tiles of 32, 64 and 128 columns, and windows for which a block needs more than 48 KiB of shared memory, or
// more than any device has.
TEST(CudaFilters, LargeShapesAndWindowsEqualTheReference) {
  IMGPIPE_NEED_CUDA();
  const std::vector<std::pair<Size, Size>> shapes{
      {{1500, 1100}, {512, 512}}, {{1100, 1500}, {224, 224}}, {{4000, 40}, {1024, 16}},
      {{40, 4000}, {16, 1024}},   {{5000, 9}, {31, 9}},       {{9, 5000}, {9, 31}},
      {{5000, 9}, {33, 5}},       {{9, 5000}, {5, 33}},       {{20011, 7}, {20, 3}},
      {{7, 20011}, {3, 20}},      {{60013, 3}, {1, 2}},       {{3, 60013}, {2, 1}},
      {{300, 2}, {3000, 7}},      {{2, 300}, {7, 3000}},      {{1, 1}, {300, 300}},
      {{2000, 2000}, {3, 2}},
  };
  std::uint64_t seed = 0;
  for (const auto& [in, out] : shapes) {
    for (const std::string& filter : kFilters) {
      for (const Sample sample : {Sample::u8, Sample::u16}) {
        const int channels = 1 + static_cast<int>(seed % 4);
        expect_equal_to_reference({in, out, ":" + filter, channels, sample}, seed++);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(CudaFilters, ImagesInBandsEqualTheReference) {
  IMGPIPE_NEED_CUDA();
  Random random(34);
  const std::unique_ptr<Engine> reference = make_reference_engine();
  const std::unique_ptr<Engine> banded = make_cuda_engine(kAnyCudaDevice, 2, kFewBytes);
  int in_bands = 0;
  for (int i = 0; i < kBandedCases; ++i) {
    const FilterCase test = random_case(random, 200);
    const FloatChain chain{test.list(), test.shape(), static_cast<std::uint64_t>(i)};
    SCOPED_TRACE(chain.text());
    const Image image = noise_image(chain.shape, chain.seed);
    const Image expected = made_by(*reference, chain, image, {"reference", 0, false, true});
    try {
      const Image got = made_by(*banded, chain, image, {"in bands", 7, false, false});
      ASSERT_EQ(first_difference(expected.untyped_view(), got.untyped_view()), "");
      ++in_bands;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::memory) << error.what();  // a single row needs more
    }
  }
  EXPECT_GT(in_bands, kBandedCases / 2);
}

#endif

}  // namespace
}  // namespace imgpipe::test::cuda_filter_test
