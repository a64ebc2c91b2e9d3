// Undoing the predictor on every instruction set, compared with a plain sum.
#include "images/codecs/tiff/tiff_predictor.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/simd.h"

namespace imgpipe::test::tiff_predictor_test {
namespace {

using Bytes = std::vector<std::byte>;

int value_at(const std::byte* in, int bytes, bool swapped) {
  if (bytes == 1) return std::to_integer<int>(in[0]);
  std::uint16_t value = 0;
  std::memcpy(&value, in, 2);
  return swapped ? (value << 8 | value >> 8) & 0xFFFF : value;
}

Bytes expected_row(const Bytes& in, int samples, int bytes, bool swapped) {
  Bytes out(in.size());
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(samples));
  for (std::size_t i = 0; i < in.size() / static_cast<std::size_t>(bytes); ++i) {
    const std::size_t at = i * static_cast<std::size_t>(bytes);
    std::uint32_t& sum = sums[i % sums.size()];
    sum += static_cast<std::uint32_t>(value_at(in.data() + at, bytes, swapped));
    if (bytes == 1) {
      out[at] = static_cast<std::byte>(sum);
    } else {
      const auto value = static_cast<std::uint16_t>(sum);
      std::memcpy(out.data() + at, &value, 2);
    }
  }
  return out;
}

void expect_row(std::int64_t pixels, int samples, int bytes, bool swapped, std::mt19937& random) {
  const auto size = static_cast<std::size_t>(pixels * samples * bytes);
  Bytes in(size);
  for (std::byte& byte : in) byte = static_cast<std::byte>(random());
  // Memory of exactly this size, so that a sanitizer detects reads beyond it.
  const auto exact = std::make_unique<std::byte[]>(size);
  std::ranges::copy(in, exact.get());
  constexpr std::size_t kAround = 33;
  constexpr auto kCanary = std::byte{0xA5};
  Bytes out(size + 2 * kAround, kCanary);
  if (bytes == 1) {
    undo_differences(exact.get(), pixels, samples, out.data() + kAround);
  } else {
    undo_differences_16(exact.get(), pixels, samples, swapped, out.data() + kAround);
  }
  Bytes expected(kAround, kCanary);
  const Bytes row = expected_row(in, samples, bytes, swapped);
  expected.insert(expected.end(), row.begin(), row.end());
  expected.resize(out.size(), kCanary);
  ASSERT_TRUE(out == expected) << simd_target() << ": " << pixels << " pixels of " << samples
                               << " samples of " << bytes << " bytes" << (swapped ? ", swapped" : "");
}

TEST(TiffPredictor, EqualsThePlainSumOnEveryTarget) {
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    std::mt19937 random(11);
    for (std::int64_t pixels = 0; pixels < 300; pixels += pixels < 70 ? 1 : 23) {
      for (int samples = 1; samples <= 6; ++samples) {
        expect_row(pixels, samples, 1, false, random);
        expect_row(pixels, samples, 2, false, random);
        expect_row(pixels, samples, 2, true, random);
        if (HasFatalFailure()) return use_simd("");
      }
    }
  }
  use_simd("");
}

}  // namespace
}  // namespace imgpipe::test::tiff_predictor_test
