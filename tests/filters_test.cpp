// What the cases of the table do not reach in equalize and sobel: norms of every size, and tables that were
// found before.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/simd.h"
#include "kernels/equalize/equalize.h"
#include "kernels/sobel/sobel.h"

namespace imgpipe::test {
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

// Differences of 1 to `bits` bits, so that roots of every size are rounded.
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
  for (int bits = 1; bits <= 8; ++bits) expect_equal_roots<Sample>({sobel_reference, sobel_cpu}, bits);
  for (int bits = 1; bits <= 16; ++bits) expect_equal_roots<Sample16>({sobel16_reference, sobel16_cpu}, bits);
}

// dx = a, dy = b in the middle, for norms next to every half between two roots: r^2 + r and r^2 + r + 1.
TEST(Filters, SobelBesideTheHalves) {
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
    // dx = 2 p(2,1) + p(2,0) - p(0,0), dy = 2 p(1,2) - p(0,0) - p(2,0): any parity of either.
    in.samples.assign(9, 0);
    in.samples[5] = static_cast<Sample16>(a / 2);
    in.samples[7] = static_cast<Sample16>(b / 2);
    if (a % 2 == 1) in.samples[2] = 1;
    if (b % 2 == 1) in.samples[0] = 1;
    sobel16_reference(in.call_to(expected));
    for (const std::string& target : simd_targets()) {
      use_simd(target);
      sobel16_cpu(in.call_to(got), {0, 3, 0, 0});
      ASSERT_EQ(got.samples, expected.samples) << target << " a " << a << " b " << b;
    }
  }
  use_simd("");
}

template <class T>
void expect_same_with_found(const Functions<T>& equalize) {
  Pixels<T> in(301, 7);
  Pixels<T> expected(301, 7);
  Pixels<T> got(301, 7);
  std::mt19937 random(7);
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(in.type.bins()));
  for (T& sample : in.samples) ++counts[sample = static_cast<T>(random() % 5000 + 13)];
  StageCall<Host> call = in.call_to(expected);
  call.histogram = histogram_view<Host>(counts.data(), in.type);
  equalize.reference(call);
  std::vector<std::byte> found(static_cast<std::size_t>(equalize_found_bytes(in.type, {})));
  equalize_find(in.type, {}, call.histogram, found.data());
  const auto expect_equal = [&](const char* what) {
    call.out.planes[0] = got.plane();
    for (const std::string& target : simd_targets()) {
      use_simd(target);
      got.samples.assign(got.samples.size(), 0);
      equalize.cpu(call, {0, in.type.height, 0, 0});
      EXPECT_EQ(got.samples, expected.samples) << target << ' ' << what;
    }
    use_simd("");
  };
  expect_equal("by the counts");
  call.histogram = {};
  call.found = {found.data(), std::ssize(found)};
  expect_equal("as found");
}

TEST(Filters, EqualizeTakesTablesThatWereFound) {
  expect_same_with_found<Sample>({equalize_reference, equalize_cpu});
  expect_same_with_found<Sample16>({equalize16_reference, equalize16_cpu});
}

// More samples than a float counts, and than 32 bits do: to the nearest float, as OpenCV's int is.
TEST(Filters, EqualizeOfManySamples) {
  std::vector<std::uint64_t> counts(256);
  std::vector<Sample> table(256);
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

}  // namespace
}  // namespace imgpipe::test
