// Single threads of JpegReconstruction's kernels, on the host: transforms, upsampling, colour.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "kernels/jpeg/reconstruction_plan.h"
#include "tests/support/baseline_reference.h"
#include "tests/support/jpeg_scans.h"

namespace imgpipe::test::jpeg_reconstruction_layout_test {
namespace {

using Random = std::mt19937_64;

// ---- blocks ------------------------------------------------------------------------------------------

constexpr unsigned kLanes = 32;
using BlockValues = std::array<std::int16_t, kBlockSamples>;
using BlockSteps = std::array<std::uint16_t, kBlockSamples>;

// Emulates transform_blocks() of the kernels, lane by lane.
std::vector<SampleVector> transformed(std::span<const BlockValues> blocks, const BlockSteps& steps) {
  std::vector<std::uint32_t> memory(kTransformWords, 0xCCCCCCCC);
  ComponentSteps all_steps{};
  for (unsigned pair = 0; pair < kBlockSide / 2; ++pair) {
    for (unsigned part = 0; part < kBlockLanes; ++part)
      all_steps.of[pair][part] = row_pair_steps(steps.data(), pair, part);
  }
  std::array<std::array<EightSamples, 2>, kLanes> rows{};
  std::array<bool, kTransformBlocks> flat{}, upper_half{};
  for (std::size_t b = 0; b < kTransformBlocks; ++b) {
    const auto empty_from = [&](std::size_t i) {
      return std::all_of(blocks[b].begin() + static_cast<std::ptrdiff_t>(i), blocks[b].end(),
                         [](std::int16_t v) { return v == 0; });
    };
    flat[b] = empty_from(kBlockSide);
    upper_half[b] = empty_from(kBlockSamples / 2);
  }
  const bool all_upper = std::ranges::all_of(upper_half, [](bool v) { return v; });
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const BlockValues& block = blocks[lane / kBlockLanes];
    const unsigned part = lane % kBlockLanes;
    std::uint32_t pairs[kBlockSide];
    for (unsigned y = 0; y < kBlockSide; ++y)
      std::memcpy(&pairs[y], &block[y * kBlockSide + 2 * part], sizeof pairs[y]);
    std::uint32_t out[kBlockSide];
    if (all_upper) {
      transform_columns<4>(pairs, all_steps, part, flat[lane / kBlockLanes], out);
    } else {
      transform_columns<8>(pairs, all_steps, part, flat[lane / kBlockLanes], out);
    }
    if (flat[lane / kBlockLanes]) {
      for (const std::uint32_t word : out) EXPECT_EQ(word, flat_columns(pairs[0], all_steps.of[0][part]));
    }
    for (unsigned y = 0; y < kBlockSide; ++y) memory[column_word(lane, y)] = out[y];
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned y = lane % kBlockLanes + half * kBlockLanes;
      const std::uint32_t* w = memory.data() + row_word(lane / kBlockLanes, y);
      rows[lane][half] = transform_row(w[0], w[1], w[2], w[3]);
    }
  }
  std::vector<SampleVector> vectors;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned partner = partner_lane(lane);
    vectors.push_back(
        combine_rows(lane, rows[lane][0], rows[lane][1], rows[partner][gives_lower_row(partner) ? 1 : 0]));
  }
  return vectors;
}

Sample8 sample_of(const SampleVector& vector, unsigned x) {
  return static_cast<Sample8>(vector.word[x / 4] >> (8 * (x % 4)) & 0xFF);
}

class BlockTransforms : public testing::TestWithParam<CoefficientPattern> {};

TEST_P(BlockTransforms, EqualTheArithmetic) {
  Random random(static_cast<unsigned>(GetParam()) + 1);
  for (int round = 0; round < 400; ++round) {
    const BaselineScan scan = make_scan(Sampling::grey, 64, 8, round % 3 == 0 ? 65535 : 40, random);
    const std::vector<std::int16_t> values = make_coefficients(scan, GetParam(), random);
    std::array<BlockValues, kTransformBlocks> blocks{};
    BlockSteps steps{};
    for (std::size_t i = 0; i < kBlockSamples; ++i) steps[kZigzag[i]] = scan.component[0].steps[i];
    std::memcpy(blocks.data(), values.data(), values.size() * sizeof values[0]);
    const std::vector<SampleVector> got = transformed(blocks, steps);
    for (std::size_t b = 0; b < kTransformBlocks; ++b) {
      BlockValues made{};
      for (std::size_t i = 0; i < kBlockSamples; ++i) made[i] = dequantised(blocks[b][i], steps[i]);
      const bool flat =
          std::all_of(blocks[b].begin() + kBlockSide, blocks[b].end(), [](std::int16_t v) { return v == 0; });
      const auto expected = inverse_dct(made, flat);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const VectorPosition position = vector_position(lane);
        if (position.pair != b / 2) continue;
        for (unsigned x = 0; x < kBlockSide; ++x) {
          ASSERT_EQ(sample_of(got[lane], static_cast<unsigned>(b % 2) * kBlockSide + x),
                    expected[position.row * kBlockSide + x])
              << "round " << round << ", block " << b << ", row " << position.row << ", column " << x;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BlockTransforms, testing::ValuesIn(kCoefficients),
                         [](const auto& each) { return name_of(each.param); });

// Shared memory has 32 banks of 4 bytes; 8 lanes at a time read 16 bytes each.
TEST(TransformMemory, HasNoBankConflicts) {
  std::set<unsigned> all;
  for (unsigned y = 0; y < kBlockSide; ++y) {
    std::set<unsigned> banks;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      banks.insert(column_word(lane, y) % 32);
      all.insert(column_word(lane, y));
    }
    EXPECT_EQ(banks.size(), kLanes) << y;
  }
  EXPECT_EQ(all.size(), kTransformWords);
  EXPECT_EQ(*all.rbegin(), kTransformWords - 1);
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned first = 0; first < kLanes; first += 8) {
      std::set<unsigned> banks;
      for (unsigned lane = first; lane < first + 8; ++lane) {
        const unsigned word = row_word(lane / kBlockLanes, lane % kBlockLanes + half * kBlockLanes);
        EXPECT_EQ(word % 4, 0U);
        banks.insert(word % 32);
      }
      EXPECT_EQ(banks.size(), 8U) << first;
    }
  }
}

TEST(VectorPositions, CoverEightBlocks) {
  std::set<std::pair<unsigned, unsigned>> positions;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const VectorPosition position = vector_position(lane);
    EXPECT_LT(position.row, 8U);
    positions.insert({position.pair, position.row});
    EXPECT_EQ(vector_position(partner_lane(lane)).pair, position.pair);
  }
  EXPECT_EQ(positions.size(), kLanes);
}

// ---- colour ------------------------------------------------------------------------------------------

TEST(ColourConversion, EveryChromaPairAndLuma) {
  for (const Luma luma : {Luma::bt601, Luma::bt709, Luma::opencv}) {
    const ByteWeights weights = byte_weights(luma);
    for (unsigned cb = 0; cb < 256; cb += luma == Luma::bt601 ? 1 : 5) {
      for (unsigned cr = 0; cr < 256; ++cr) {
        for (unsigned y = (cb + cr) % 3; y < 256; y += 3) {
          const unsigned k = y % 4;
          // Shifts may leave any value in bits 12 to 15.
          const std::uint32_t pair = cr << 16 | (cr & 0xF) << 12 | cb;
          const std::uint32_t rgb = rgb_of(y << (8 * k) | ~(0xFFU << (8 * k)), k, pair);
          const auto number = [](unsigned v) { return static_cast<int>(v); };
          const Sample8 r = red_of(number(y), number(cr));
          const Sample8 g = green_of(number(y), number(cb), number(cr));
          const Sample8 b = blue_of(number(y), number(cb));
          ASSERT_EQ(rgb & 0xFFFFFF, r | g << 8 | b << 16) << y << ' ' << cb << ' ' << cr;
          ASSERT_EQ(grey_of(rgb, weights) >> 16 & 0xFF, luma_of(luma_weights(luma), r, g, b));
        }
      }
    }
  }
}

TEST(ColourConversion, FourPixelsBecomeTwelveBytes) {
  const std::uint32_t rgb[4] = {0xEE030201, 0xEE060504, 0xEE090807, 0xEE0C0B0A};
  std::uint32_t words[3];
  join_pixels(rgb, words);
  EXPECT_EQ(words[0], 0x04030201U);
  EXPECT_EQ(words[1], 0x08070605U);
  EXPECT_EQ(words[2], 0x0C0B0A09U);
  EXPECT_EQ(pack_second_bytes(0x11AA2233, 0x44BB5566, 0x77CC8899, 0x00DD1122), 0xDDCCBBAAU);
}

// ---- upsampling --------------------------------------------------------------------------------------

std::uint32_t interleaved(const std::vector<unsigned>& cb, const std::vector<unsigned>& cr, std::size_t i) {
  return cb[i] | cr[i] << 8 | cb[i + 1] << 16 | cr[i + 1] << 24;
}

struct Planes {
  std::vector<unsigned> cb, cr;
  explicit Planes(std::size_t samples, Random& random) {
    for (std::size_t i = 0; i < samples; ++i) {
      cb.push_back(random() % 4 == 0 ? 255 * (random() % 2) : random() % 256);
      cr.push_back(random() % 4 == 0 ? 255 * (random() % 2) : random() % 256);
    }
  }
  // Includes one more sample at either end.
  [[nodiscard]] HalfRow half_row() const {
    HalfRow row;
    for (std::size_t i = 0; i < 4; ++i) row.word[i] = interleaved(cb, cr, 1 + 2 * i);
    row.before = cb[0] | cr[0] << 16;
    row.after = cb[9] | cr[9] << 16;
    return row;
  }
  void full_row(std::uint32_t (&words)[8]) const {
    for (std::size_t i = 0; i < 8; ++i) words[i] = interleaved(cb, cr, 2 * i);
  }
};

void expect_pair(std::uint32_t pair, int cb, int cr) {
  ASSERT_EQ(cb_of(pair), cb);
  ASSERT_EQ(cr_of(pair), cr);
}

TEST(Upsampling, EqualsTheArithmetic) {
  Random random(3);
  for (int round = 0; round < 3000; ++round) {
    const Planes near(10, random);
    const Planes far(10, random);
    std::uint32_t both[kColourPixels];
    std::uint32_t across[kColourPixels];
    std::uint32_t repeated[kColourPixels];
    upsample_both(near.half_row(), far.half_row(), both);
    upsample_across(near.half_row(), across);
    repeat_across(near.half_row().word, repeated);
    for (std::size_t x = 0; x < kColourPixels; ++x) {
      const std::size_t a = 1 + x / 2;
      const std::size_t other = x % 2 == 0 ? a - 1 : a + 1;
      const auto of = [&](const std::vector<unsigned>& n, const std::vector<unsigned>& f) {
        const auto sum = [&](std::size_t i) {
          return column_sum(static_cast<int>(n[i]), static_cast<int>(f[i]));
        };
        return x % 2 == 0 ? upsampled_left_of_sums(sum(other), sum(a))
                          : upsampled_right_of_sums(sum(a), sum(other));
      };
      const auto of_one = [&](const std::vector<unsigned>& n) {
        const auto v = [&](std::size_t i) { return static_cast<int>(n[i]); };
        return x % 2 == 0 ? upsampled_left(v(other), v(a)) : upsampled_right(v(a), v(other));
      };
      expect_pair(both[x], of(near.cb, far.cb), of(near.cr, far.cr));
      expect_pair(across[x], of_one(near.cb), of_one(near.cr));
      expect_pair(repeated[x], static_cast<int>(near.cb[a]), static_cast<int>(near.cr[a]));
    }
  }
}

TEST(Upsampling, FullRowsEqualTheArithmetic) {
  Random random(4);
  for (int round = 0; round < 3000; ++round) {
    const Planes near(16, random);
    const Planes far(16, random);
    std::uint32_t near_words[8];
    std::uint32_t far_words[8];
    near.full_row(near_words);
    far.full_row(far_words);
    std::uint32_t all[kColourPixels];
    std::uint32_t upper[kColourPixels];
    std::uint32_t lower[kColourPixels];
    unpack_pairs(near_words, all);
    upsample_down(near_words, far_words, false, upper);
    upsample_down(near_words, far_words, true, lower);
    for (std::size_t x = 0; x < kColourPixels; ++x) {
      const auto n = [&](bool cr) { return static_cast<int>((cr ? near.cr : near.cb)[x]); };
      const auto f = [&](bool cr) { return static_cast<int>((cr ? far.cr : far.cb)[x]); };
      expect_pair(all[x], n(false), n(true));
      expect_pair(upper[x], upsampled_upper(f(false), n(false)), upsampled_upper(f(true), n(true)));
      expect_pair(lower[x], upsampled_lower(n(false), f(false)), upsampled_lower(n(true), f(true)));
    }
  }
}

TEST(Upsampling, RowsBelowTheImageRepeatTheLast) {
  using Rows = std::pair<std::uint32_t, std::uint32_t>;
  const auto rows = [](std::uint32_t y, std::uint32_t height, bool halved) {
    const ColourRows r = colour_rows(y, height, halved);
    return Rows(r.near, r.far);
  };
  EXPECT_EQ(rows(0, 3, true), Rows(0, 0));
  EXPECT_EQ(rows(1, 3, true), Rows(0, 1));
  EXPECT_EQ(rows(2, 3, true), Rows(1, 0));
  EXPECT_EQ(rows(5, 3, true), Rows(2, 2));
  EXPECT_EQ(rows(1, 1, true), Rows(0, 0));
  EXPECT_EQ(rows(7, 9, false), Rows(7, 7));
}

}  // namespace
}  // namespace imgpipe::test::jpeg_reconstruction_layout_test
