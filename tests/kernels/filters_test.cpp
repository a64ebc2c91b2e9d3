// equalize, sobel, box, erode, dilate, tophat, gauss and sharpen beyond the cases of the table: norms of
// every size, precomputed tables, all divisors, all radii, wide rows, weights.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/simd.h"
#include "kernels/box/box.h"
#include "kernels/equalize/equalize.h"
#include "kernels/gauss/gauss.h"
#include "kernels/median/median.h"
#include "kernels/morphology/morphology.h"
#include "kernels/shared/gauss_pairs.h"
#include "kernels/sharpen/sharpen.h"
#include "kernels/smooth/smooth.h"
#include "kernels/sobel/sobel.h"
#include "kernels/stage.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::filters_test {
namespace {

template <class T>
struct Pixels {
  Pixels(std::int64_t width, std::int64_t height)
      : type{width, height, 1, false, Layout::planar, sample_type_of<T>},
        samples(static_cast<std::size_t>(width * height)) {}

  [[nodiscard]] Plane<T, Host> plane() { return {samples.data(), type.width, type.height, type.width, 1}; }
  [[nodiscard]] StageCall<Host> call_to(Pixels& out) {
    StageCall<Host> call{};
    call.in = {type, {Plane<const T, Host>(plane()), {}, {}, {}}};
    call.out = {type, {out.plane(), {}, {}, {}}};
    return call;
  }

  FrameType type;
  std::vector<T> samples;
};

template <class T>
struct Functions {
  void (*reference)(const StageCall<Host>&);
  void (*cpu)(const StageCall<Host>&, const Band&);
};

// Compares sobel on samples of `bits` bits, so that roots of every size are rounded.
template <class T>
void expect_equal_roots(const Functions<T>& sobel, int bits) {
  Pixels<T> in(613, 41);
  Pixels<T> expected(613, 41);
  Pixels<T> got(613, 41);
  std::mt19937 random(static_cast<unsigned>(bits));
  for (T& sample : in.samples) sample = static_cast<T>(random() & ((1U << bits) - 1));
  sobel.reference(in.call_to(expected));
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    sobel.cpu(in.call_to(got), {0, in.type.height, 0, 0});
    EXPECT_EQ(got.samples, expected.samples) << target << ", " << bits << " bits";
  }
  use_simd("");
}

TEST(Filters, SobelRoundsRootsOfEverySize) {
  for (int bits = 1; bits <= 8; ++bits) expect_equal_roots<Sample8>({sobel_reference, sobel_cpu}, bits);
  for (int bits = 1; bits <= 16; ++bits) expect_equal_roots<Sample16>({sobel_reference, sobel_cpu}, bits);
}

// Gradients at the centre (dx close to a, dy close to b) whose squared norm is near r^2 + r, where the
// rounded root changes from r to r + 1.
TEST(Filters, SobelAroundHalves) {
  Pixels<Sample16> in(3, 3);
  Pixels<Sample16> expected(3, 3);
  Pixels<Sample16> got(3, 3);
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<std::int64_t>(random() % 65536);
    const std::int64_t root = std::max<std::int64_t>(a, static_cast<std::int64_t>(random() % 65536));
    const std::int64_t wanted = root * root + root - a * a;
    auto b = static_cast<std::int64_t>(rounded_root(static_cast<std::uint64_t>(wanted)));
    b = std::min<std::int64_t>(b, 131070);
    // dx = 2 p(2,1) + p(2,0) - p(0,0), dy = 2 p(1,2) - p(0,0) - p(2,0): either may be odd or even.
    in.samples.assign(9, 0);
    in.samples[5] = static_cast<Sample16>(a / 2);
    in.samples[7] = static_cast<Sample16>(b / 2);
    if (a % 2 == 1) in.samples[2] = 1;
    if (b % 2 == 1) in.samples[0] = 1;
    sobel_reference(in.call_to(expected));
    for (const std::string& target : simd_targets()) {
      use_simd(target);
      sobel_cpu(in.call_to(got), {0, 3, 0, 0});
      ASSERT_EQ(got.samples, expected.samples) << target << " a " << a << " b " << b;
    }
  }
  use_simd("");
}

// With 16 bits, only some of the values from 13 to 5012 occur.
template <class T>
void expect_equalized_by_table(const Functions<T>& equalize) {
  Pixels<T> in(301, 7);
  Pixels<T> expected(301, 7);
  Pixels<T> got(301, 7);
  std::mt19937 random(7);
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(in.type.bins()));
  for (T& sample : in.samples) ++counts[sample = static_cast<T>(random() % 5000 + 13)];
  StageCall<Host> call = in.call_to(expected);
  call.histogram = histogram_view<Host>(counts.data(), in.type);
  equalize.reference(call);
  std::vector<std::byte> table = table_for(*find_stage("equalize"), call);
  call.histogram = {};
  call.table = {table.data(), std::ssize(table)};
  call.out.planes[0] = got.plane();
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    got.samples.assign(got.samples.size(), 0);
    equalize.cpu(call, {0, in.type.height, 0, 0});
    EXPECT_EQ(got.samples, expected.samples) << target;
  }
  use_simd("");
}

TEST(Filters, EqualizeReadsItsTable) {
  expect_equalized_by_table<Sample8>({equalize_reference, equalize_cpu});
  expect_equalized_by_table<Sample16>({equalize_reference, equalize_cpu});
}

// More samples than a float or 32 bits can count: rounded to the nearest float, like OpenCV's int.
TEST(Filters, EqualizeOnManySamples) {
  std::vector<std::uint64_t> counts(256);
  std::vector<Sample8> table(256);
  counts[3] = 1;
  counts[100] = (std::uint64_t{1} << 33) + 1;
  counts[200] = std::uint64_t{1} << 33;
  equalize_table(counts.data(), table.data());
  EXPECT_EQ(table[3], 0);
  EXPECT_EQ(table[99], 0);
  EXPECT_EQ(table[100], 128);  // 127.5: half to even
  EXPECT_EQ(table[199], 128);
  EXPECT_EQ(table[200], 255);
  counts.assign(256, 0);
  counts[77] = 5;
  equalize_table(counts.data(), table.data());
  for (std::size_t v = 0; v < 256; ++v) EXPECT_EQ(table[v], v);
}

// ---- box --------------------------------------------------------------------------------------------

// Quotients are right everywhere if they are right on both sides of every sum at which they change. Tests 300
// such sums for each number of pixels, including the first and the last.
TEST(Filters, BoxDividesExactlyByEveryCount) {
  std::mt19937 random(11);
  for (std::uint32_t pixels = 1; pixels <= kMaxBoxPixels; ++pixels) {
    const BoxDivisor<> divisor = box_divisor(pixels);
    for (std::uint32_t i = 0; i < 300; ++i) {
      const std::uint32_t mean = i < 100 ? i : i < 200 ? 65535 - (i - 100) : random() % 65536;
      const std::uint64_t change = std::uint64_t{mean} * pixels + pixels - pixels / 2;  // to mean + 1
      for (std::uint64_t sum = change - 1; sum <= change && sum <= std::uint64_t{pixels} * 65535; ++sum) {
        const std::uint64_t expected = (2 * sum + pixels) / (2 * std::uint64_t{pixels});
        ASSERT_EQ(divided_by(divisor, static_cast<std::uint32_t>(sum)), expected) << sum << '/' << pixels;
        ASSERT_EQ(box_mean(static_cast<std::uint32_t>(sum), pixels), expected) << sum << '/' << pixels;
      }
    }
  }
}

TEST(Filters, BoxDividesEverySumOfNarrowWindows) {
  constexpr std::uint32_t kSide = 2 * kMaxNarrowRadius + 1;
  for (std::uint32_t pixels = 1; pixels <= kSide * kSide; ++pixels) {
    const auto divisor = box_divisor<std::uint16_t>(pixels);
    for (std::uint32_t sum = 0; sum <= 255 * pixels; ++sum)
      ASSERT_EQ(divided_by(divisor, static_cast<std::uint16_t>(sum)), box_mean(sum, pixels))
          << sum << '/' << pixels;
  }
}

Table<Host> table_view(std::vector<std::uint32_t>& weights) {
  return {reinterpret_cast<std::byte*>(weights.data()), std::ssize(weights) * 4};
}

template <class T>
void fill_noise(Pixels<T>& pixels, unsigned seed) {
  std::mt19937 random(seed);
  for (T& sample : pixels.samples) sample = static_cast<T>(random());
}

template <class T>
void expect_cpu_equal(const Functions<T>& functions, Pixels<T>& in, const Parameters& parameters,
                      std::vector<std::uint32_t> weights) {
  Pixels<T> expected(in.type.width, in.type.height);
  Pixels<T> got(in.type.width, in.type.height);
  StageCall<Host> call = in.call_to(expected);
  call.parameters = parameters;
  call.table = table_view(weights);
  functions.reference(call);
  call.out = {in.type, {got.plane(), {}, {}, {}}};
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (const std::int64_t rows : {in.type.height, std::int64_t{5}}) {
      got.samples.assign(got.samples.size(), 0);
      for (std::int64_t first = 0; first < in.type.height; first += rows)
        functions.cpu(call, {first, std::min(in.type.height, first + rows), 0, 0});
      ASSERT_EQ(got.samples, expected.samples) << target << ", " << in.type.width << " columns, parameters "
                                               << parameters[0] << ' ' << parameters[1];
    }
  }
  use_simd("");
}

template <class T>
void expect_box_is_smooth(void (*smooth)(const StageCall<Host>&), void (*box)(const StageCall<Host>&)) {
  Pixels<T> in(61, 37);
  fill_noise(in, 4);
  for (std::int64_t border = 0; border < 3; ++border) {
    Pixels<T> expected(61, 37);
    Pixels<T> got(61, 37);
    StageCall<Host> call = in.call_to(expected);
    call.parameters = {{0, border}};
    smooth(call);
    call = in.call_to(got);
    call.parameters = {{2, border}};
    box(call);
    EXPECT_EQ(got.samples, expected.samples) << "border " << border;
  }
}

TEST(Filters, BoxOfRadius2EqualsSmooth) {
  expect_box_is_smooth<Sample8>(smooth_reference, box_reference);
  expect_box_is_smooth<Sample16>(smooth_reference, box_reference);
}

template <class T>
void expect_equal_boxes(const Functions<T>& box) {
  // More columns than a chunk of the host code, and the largest sums.
  Pixels<T> wide(2048 + 77, 11);
  fill_noise(wide, 5);
  Pixels<T> white(300, 270);
  white.samples.assign(white.samples.size(), static_cast<T>(kLargest<T>));
  for (std::int64_t border = 0; border < 3; ++border) {
    for (const std::int64_t radius : {1, 2, 4, 5, 7, 8, 63, 126, 127})
      expect_cpu_equal(box, wide, {{radius, border}}, {});
    for (const std::int64_t radius : {4, 5, 7, 127}) expect_cpu_equal(box, white, {{radius, border}}, {});
    for (std::int64_t width = 1; width <= 2 * 64 + 3; ++width) {
      Pixels<T> narrow(width, 6);
      fill_noise(narrow, static_cast<unsigned>(width));
      for (const std::int64_t radius : {1, 5, 8}) expect_cpu_equal(box, narrow, {{radius, border}}, {});
    }
  }
}

TEST(Filters, BoxOnRowsOfAllLengthsAndLargestSums) {
  expect_equal_boxes<Sample8>({box_reference, box_cpu});
  expect_equal_boxes<Sample16>({box_reference, box_cpu});
}

// ---- median -----------------------------------------------------------------------------------------

// Six rows: pairs of rows in one band; in bands of five, rows without a partner.
template <class T>
void expect_equal_medians(std::int64_t width) {
  Pixels<T> in(width, 6);
  fill_noise(in, static_cast<unsigned>(width));
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, 2 + width % 5})
    expect_cpu_equal<T>({median_reference, median_cpu}, in, {{size}}, {});
}

TEST(Filters, MedianOnRowsOfAllLengths) {
  // Every remainder of the longest vector; then more columns than two chunks of the host code.
  for (std::int64_t width = 1; width <= 2 * 64 + 3; ++width) {
    expect_equal_medians<Sample8>(width);
    expect_equal_medians<Sample16>(width);
  }
  expect_equal_medians<Sample8>(2 * 4096 + 65);
  expect_equal_medians<Sample16>(2 * 2048 + 1);
}

// ---- erode, dilate ----------------------------------------------------------------------------------

template <class T>
void expect_equal_extremes(const Functions<T>& functions) {
  // More columns than a chunk of the host code; several blocks of rows, the last one incomplete.
  Pixels<T> wide(4096 + 77, 9);
  Pixels<T> tall(130, 301);
  fill_noise(wide, 8);
  fill_noise(tall, 9);
  for (const std::int64_t radius : {1, 2, 15, 127}) expect_cpu_equal(functions, wide, {{radius}}, {});
  for (std::int64_t radius = 1; radius <= 127; radius += 1 + radius / 4)
    expect_cpu_equal(functions, tall, {{radius}}, {});
}

TEST(Filters, ErodeAndDilateOnWideRowsAndManyBlocks) {
  expect_equal_extremes<Sample8>({erode_reference, erode_cpu});
  expect_equal_extremes<Sample8>({dilate_reference, dilate_cpu});
  expect_equal_extremes<Sample16>({erode_reference, erode_cpu});
  expect_equal_extremes<Sample16>({dilate_reference, dilate_cpu});
}

// More columns and more rows than a tile of the host code.
template <class T>
void expect_equal_top_hats() {
  Pixels<T> wide(4096 + 77, 9);
  Pixels<T> tall(130, 301);
  fill_noise(wide, 10);
  fill_noise(tall, 11);
  for (const TopHat kind : {TopHat::white, TopHat::black}) {
    for (const std::int64_t radius : {2, 127}) {
      for (Pixels<T>* const image : {&wide, &tall})
        expect_cpu_equal<T>({tophat_reference, tophat_cpu}, *image,
                            {{radius, static_cast<std::int64_t>(kind)}}, {});
    }
  }
}

TEST(Filters, TopHatOnManyTiles) {
  expect_equal_top_hats<Sample8>();
  expect_equal_top_hats<Sample16>();
}

// ---- gauss, sharpen -----------------------------------------------------------------------------------

std::vector<std::uint32_t> weights_of(std::int64_t sigma) {
  std::vector<std::uint32_t> weights(static_cast<std::size_t>(gauss_radius(sigma)) + 1);
  gauss_weights(sigma, weights.data());
  return weights;
}

TEST(Filters, GaussWeights) {
  EXPECT_EQ(weights_of(300'000), (std::vector<std::uint32_t>{65034, 251}));
  for (std::int64_t sigma = kMinSigma; sigma <= kMaxSigma; sigma += 37'123) {
    std::vector<std::uint32_t> weights = weights_of(sigma);
    std::int64_t sum = -std::int64_t{weights[0]};
    double bells = -1;
    const double s = static_cast<double>(sigma) / kDecimalOne;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      sum += 2 * std::int64_t{weights[i]};
      bells += 2 * std::exp(-static_cast<double>(i * i) / (2 * s * s));
    }
    ASSERT_EQ(sum, 65536) << sigma;
    // The centre weight absorbs the rounding errors of the others.
    ASSERT_TRUE(std::is_sorted(weights.begin() + 1, weights.end(), std::greater<>())) << sigma;
    ASSERT_NEAR(weights[0], 65536 / bells, static_cast<double>(weights.size())) << sigma;
    for (std::size_t i = 1; i < weights.size(); ++i)
      ASSERT_NEAR(weights[i], 65536 * std::exp(-static_cast<double>(i * i) / (2 * s * s)) / bells, 0.500001)
          << sigma;
    // The pairs add up to the same weights.
    const GaussPairs pairs(weights.data(), gauss_radius(sigma));
    std::vector<std::uint32_t> taps(2 * weights.size() + 1);
    for (std::size_t i = 0; i < static_cast<std::size_t>(pairs.count); ++i) {
      const auto at = static_cast<std::size_t>(pairs.at[i]);
      ASSERT_LT(pairs.weights[i] & 0xFFFF, 32768U);
      ASSERT_LT(pairs.weights[i] >> 16, 32768U);
      taps[at] += pairs.weights[i] & 0xFFFF;
      taps[at + 1] += pairs.weights[i] >> 16;
    }
    for (std::size_t tap = 0; tap < taps.size(); ++tap) {
      const std::size_t middle = weights.size() - 1;
      const std::size_t distance = tap < middle ? middle - tap : tap - middle;
      ASSERT_EQ(taps[tap], distance < weights.size() ? weights[distance] : 0U) << sigma << " tap " << tap;
    }
  }
}

template <class T>
void expect_equal_blurs(const Functions<T>& gauss, const Functions<T>& sharpen) {
  Pixels<T> wide(512 + 77, 13);
  fill_noise(wide, 6);
  Pixels<T> white(130, 9);
  white.samples.assign(white.samples.size(), static_cast<T>(kLargest<T>));
  Pixels<T> black(130, 9);
  for (const std::int64_t sigma : {300'000, 333'334, 700'000, 1'000'000, 5'100'000, 40'000'000}) {
    std::vector<std::uint32_t> weights = weights_of(sigma);
    for (Pixels<T>* in : {&wide, &white, &black}) {
      for (const std::int64_t border : {0, 1}) expect_cpu_equal(gauss, *in, {{sigma, border}}, weights);
      for (const std::int64_t amount : {1'000, 1'500'000, 10'000'000})
        expect_cpu_equal(sharpen, *in, {{amount, sigma, 7}}, weights);
    }
  }
}

TEST(Filters, GaussAndSharpenOnWideRowsAndExtremes) {
  expect_equal_blurs<Sample8>({gauss_reference, gauss_cpu}, {sharpen_reference, sharpen_cpu});
  expect_equal_blurs<Sample16>({gauss_reference, gauss_cpu}, {sharpen_reference, sharpen_cpu});
}

// A constant image stays constant with all weights.
TEST(Filters, GaussKeepsConstantImages) {
  for (const std::int64_t sigma : {300'000, 1'234'567, 40'000'000}) {
    std::vector<std::uint32_t> weights = weights_of(sigma);
    for (int v = 0; v < 256; ++v) {
      Pixels<Sample8> in(3, 2);
      Pixels<Sample8> out(3, 2);
      in.samples.assign(in.samples.size(), static_cast<Sample8>(v));
      StageCall<Host> call = in.call_to(out);
      call.parameters = {{sigma, 0}};
      call.table = table_view(weights);
      gauss_reference(call);
      ASSERT_EQ(out.samples, in.samples) << v << ' ' << sigma;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::filters_test
