// From coefficients to samples to pixels, with every instruction set, compared with the plain arithmetic.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "images/codecs/jpeg/reconstruct.h"
#include "images/simd.h"

namespace imgpipe::jpeg_reconstruct_test {
namespace {

using Random = std::mt19937_64;
constexpr std::uint8_t kCanary = 0xA5;
constexpr std::int64_t kMcus = 40;  // in a row

std::int64_t below(Random& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

// ---- blocks -----------------------------------------------------------------------------------------

// The kind of coefficients in a block.
enum class Content { photograph, few, flat_columns, constant, dense, extreme, mixed, contents };

std::int16_t any_value(Random& random) {
  static constexpr std::array<int, 8> kEdges{-32768, -32767, -1, 1, 2, 16384, 32766, 32767};
  if (random() % 2 == 0) return static_cast<std::int16_t>(kEdges[random() % kEdges.size()]);
  return static_cast<std::int16_t>(random() % 65535 - 32768 == 0 ? 1 : random());
}

// Appends the AC coefficients of a block.
void add_coefficients(Content content, Random& random, std::vector<Coefficient>& list) {
  if (content == Content::mixed) content = static_cast<Content>(random() % 6);
  if (content == Content::constant) return;
  const bool extreme = content == Content::extreme || random() % 16 == 0;
  for (int position = 1; position < kBlockSamples; ++position) {
    if (content == Content::flat_columns && kZigzag[static_cast<std::size_t>(position)] >= kBlockSide)
      continue;
    if (content == Content::few && random() % 24 != 0) continue;
    if (content == Content::photograph && random() % static_cast<unsigned>(position + 2) > 2) continue;
    if (content == Content::flat_columns && random() % 2 == 0) continue;
    const int value = extreme ? any_value(random) : static_cast<int>(random() % 41) - 20;
    if (value != 0) list.push_back(pack_coefficient(position, value));
  }
}

// A row of MCUs in its own memory: planes side by side, canaries around each block's samples.
struct RowOfMcus {
  std::vector<BlockTarget> targets;
  std::vector<std::uint8_t> memory;
};

struct Layout {
  std::array<int, 3> across{1, 1, 1}, down{1, 1, 1};
  int components = 1;
  std::array<int, 3> sides{kBlockSide, kBlockSide, kBlockSide};
};

RowOfMcus make_row(const Layout& layout, const std::vector<std::array<std::uint16_t, 64>>& steps,
                   std::int64_t padding) {
  RowOfMcus row;
  std::int64_t size = 64;
  std::vector<std::int64_t> begins;
  for (std::size_t c = 0; c < static_cast<std::size_t>(layout.components); ++c) {
    const int side = layout.sides[c];
    const std::int64_t mcu_step = layout.across[c] * side;
    const std::int64_t stride = kMcus * mcu_step + padding;
    for (int v = 0; v < layout.down[c]; ++v) {
      for (int h = 0; h < layout.across[c]; ++h) {
        row.targets.push_back({steps[c].data(), static_cast<int>(c), nullptr, stride, mcu_step, side});
        begins.push_back(size + v * side * stride + h * side);
      }
    }
    size += stride * side * layout.down[c] + padding;
  }
  row.memory.assign(static_cast<std::size_t>(size + 64), kCanary);
  for (std::size_t b = 0; b < begins.size(); ++b) row.targets[b].samples = row.memory.data() + begins[b];
  return row;
}

// `busy`: as in reduced_dct(), of all columns.
void expect_reduced_block(const BlockTarget& target, const std::array<std::int16_t, kBlockSamples>& values,
                          std::span<const Coefficient> coefficients, std::uint8_t* to) {
  unsigned busy = 0;
  for (const Coefficient c : coefficients) {
    const std::size_t at = kZigzag[static_cast<std::size_t>(place_of(c))], row = at / kBlockSide;
    if (target.side == 4 ? row % 4 != 0 : row % 2 != 0) busy |= 1U << at % kBlockSide;
  }
  if (target.side == 4) {
    reduced_dct<4>(values, busy, busy == 0, to, target.stride);
  } else {
    reduced_dct<2>(values, busy, false, to, target.stride);
  }
}

void expect_block(const BlockTarget& target, std::int64_t mcu, std::int16_t dc,
                  std::span<const Coefficient> coefficients) {
  std::uint8_t* const to = target.samples + mcu * target.mcu_step;
  if (target.side == 1) {
    *to = mean_sample(dc, target.steps[0]);
    return;
  }
  std::array<std::int16_t, kBlockSamples> values{};
  values[0] = dequantised(dc, target.steps[0]);
  bool flat = true;
  for (const Coefficient c : coefficients) {
    const auto position = static_cast<std::size_t>(place_of(c));
    values[kZigzag[position]] = dequantised(value_of(c), target.steps[position]);
    flat = flat && kZigzag[position] < kBlockSide;
  }
  if (target.side != kBlockSide) return expect_reduced_block(target, values, coefficients, to);
  const auto samples = inverse_dct(values, flat);
  if (coefficients.empty()) {
    const std::uint8_t constant = constant_sample(values[0]);
    EXPECT_EQ(std::count(samples.begin(), samples.end(), constant), kBlockSamples);
  }
  for (std::size_t i = 0; i < kBlockSamples; ++i) {
    to[static_cast<std::int64_t>(i / kBlockSide) * target.stride +
       static_cast<std::int64_t>(i % kBlockSide)] = samples[i];
  }
}

std::vector<std::array<std::uint16_t, 64>> make_steps(Random& random) {
  static constexpr std::array<std::uint64_t, 4> kLimits{1, 40, 255, 65535};
  const std::uint64_t limit = kLimits[random() % kLimits.size()];
  std::vector<std::array<std::uint16_t, 64>> steps(3);
  for (auto& table : steps) {
    for (std::uint16_t& step : table) step = static_cast<std::uint16_t>(1 + random() % limit);
  }
  return steps;
}

// Reconstructs a run of `count` blocks from `first` on, by the plain arithmetic and by the code under test.
void compare_run(const Layout& layout, Content content, std::int64_t first, std::int64_t count,
                 std::uint64_t seed) {
  Random random(seed);
  const auto steps = make_steps(random);
  const std::int64_t padding = below(random, 3) * 37;
  RowOfMcus expected = make_row(layout, steps, padding);
  RowOfMcus got = make_row(layout, steps, padding);
  const auto in_mcu = static_cast<std::int64_t>(got.targets.size());
  std::vector<Coefficient> list(random() % 5, pack_coefficient(7, 1234));  // of blocks before the run
  BlockRun run;
  run.first = first;
  run.begin = static_cast<std::uint32_t>(list.size());
  for (std::int32_t& base : run.dc_base) base = static_cast<std::int32_t>(random() % 2000) - 1000;
  if (content == Content::extreme) run.dc_base = {INT32_MAX - 5, INT32_MIN + 5, 40000};
  std::vector<CoefficientBlock> blocks;
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::size_t begin = list.size();
    add_coefficients(content, random, list);
    const auto dc = static_cast<std::int32_t>(
        content == Content::extreme || random() % 16 == 0 ? random() : random() % 400 - 200);
    blocks.push_back({static_cast<std::uint32_t>(list.size()), dc});
    const BlockTarget& target = expected.targets[static_cast<std::size_t>(i % in_mcu)];
    const auto sum = static_cast<std::uint32_t>(dc) +
                     static_cast<std::uint32_t>(run.dc_base[static_cast<std::size_t>(target.component)]);
    expect_block(target, i / in_mcu, static_cast<std::int16_t>(sum & 0xFFFF), std::span(list).subspan(begin));
  }
  run.blocks = blocks;
  run.coefficients = list.data();
  reconstruct_blocks(got.targets, run);
  ASSERT_TRUE(got.memory == expected.memory)
      << simd_target() << " content " << static_cast<int>(content) << " first " << first << " count " << count
      << " seed " << seed << ": byte "
      << std::mismatch(got.memory.begin(), got.memory.end(), expected.memory.begin()).first -
             got.memory.begin();
}

TEST(JpegReconstruct, BlocksOnEveryTarget) {
  static constexpr std::array<Layout, 9> kLayouts{{{},
                                                   {{1, 1, 1}, {1, 1, 1}, 3},
                                                   {{2, 1, 1}, {1, 1, 1}, 3},
                                                   {{2, 1, 1}, {2, 1, 1}, 3},
                                                   {{1, 1, 1}, {2, 1, 1}, 3},
                                                   {{2, 1, 1}, {2, 1, 1}, 3, {4, 8, 8}},
                                                   {{2, 1, 1}, {2, 1, 1}, 3, {2, 4, 4}},
                                                   {{2, 1, 1}, {2, 1, 1}, 3, {1, 2, 2}},
                                                   {{1, 1, 1}, {1, 1, 1}, 1, {4, 4, 4}}}};
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    std::uint64_t seed = 1;
    for (const Layout& layout : kLayouts) {
      for (int content = 0; content < static_cast<int>(Content::contents); ++content) {
        for (std::int64_t count = 0; count <= 33; ++count) {
          compare_run(layout, static_cast<Content>(content), count % 7, count, seed++);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  use_simd("");
}

// One coefficient at every position, with values over its whole range. After dequantisation, some exceed the
// range.
TEST(JpegReconstruct, EachCoefficientAlone) {
  std::array<std::uint16_t, 64> steps{};
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (const int step : {1, 16, 255, 32767, 32768, 65535}) {
      steps.fill(static_cast<std::uint16_t>(step));
      const std::vector<std::array<std::uint16_t, 64>> tables(3, steps);
      for (int position = 1; position < kBlockSamples; ++position) {
        std::vector<Coefficient> list;
        std::vector<CoefficientBlock> blocks;
        RowOfMcus expected = make_row({}, tables, 5);
        RowOfMcus got = make_row({}, tables, 5);
        int i = 0;
        for (const int value : {-32768, -16385, -8193, -1024, -3, -2, -1, 1, 2, 3, 1023, 8191, 8192, 32767}) {
          list.push_back(pack_coefficient(position, value));
          blocks.push_back({static_cast<std::uint32_t>(list.size()), value / 3});
          expect_block(expected.targets[0], i++, static_cast<std::int16_t>(value / 3),
                       std::span(list).last(1));
        }
        reconstruct_blocks(got.targets, {0, blocks, list.data(), 0, {}});
        ASSERT_TRUE(got.memory == expected.memory) << target << " place " << position << " step " << step;
      }
    }
  }
  use_simd("");
}

// ---- rows -------------------------------------------------------------------------------------------

// A row of samples with or without margins, `offset` bytes after the beginning of its memory.
struct Row {
  std::vector<std::uint8_t> memory;
  std::size_t begin;
  std::int64_t width;

  Row(std::int64_t samples, bool margins, std::size_t offset, Random& random)
      : memory(static_cast<std::size_t>(samples + (margins ? 2 * kSampleMargin : 0)) + offset, kCanary),
        begin(offset + (margins ? kSampleMargin : 0)),
        width(samples) {
    const bool noise = random() % 2 == 0;
    for (std::int64_t x = 0; x < width; ++x) {
      const auto any = static_cast<std::uint8_t>(random());
      data()[x] = noise ? any : static_cast<std::uint8_t>(any & 1) * 255;
    }
    if (margins) fill_edges(data(), width);
  }
  [[nodiscard]] std::uint8_t* data() { return memory.data() + begin; }
  [[nodiscard]] int at(std::int64_t x) const {
    return memory[begin + static_cast<std::size_t>(std::clamp<std::int64_t>(x, 0, width - 1))];
  }
};

// Returns the sample for pixel x, from the formulas alone.
int colour_at(Sampling sampling, const Row& near, const Row& far, bool lower, std::int64_t x) {
  const std::int64_t i = x / 2;
  const auto sum = [&](std::int64_t at) { return column_sum(near.at(at), far.at(at)); };
  switch (sampling) {
    case Sampling::s422:
      if (near.width <= 2) return near.at(i);
      return x % 2 == 0 ? upsampled_left(near.at(i - 1), near.at(i))
                        : upsampled_right(near.at(i), near.at(i + 1));
    case Sampling::s420:
      if (near.width <= 2) return near.at(i);
      return x % 2 == 0 ? upsampled_left_of_sums(sum(i - 1), sum(i))
                        : upsampled_right_of_sums(sum(i), sum(i + 1));
    case Sampling::s440:
      return lower ? upsampled_lower(near.at(x), far.at(x)) : upsampled_upper(far.at(x), near.at(x));
    default:
      return near.at(x);
  }
}

void compare_row(Sampling sampling, std::int64_t width, bool lower, Random& random) {
  const bool half = sampling == Sampling::s422 || sampling == Sampling::s420;
  const std::int64_t across = half ? (width + 1) / 2 : width;
  Row y(width, false, random() % 64, random);
  Row cb_near(across, true, random() % 64, random), cb_far(across, true, random() % 64, random);
  Row cr_near(across, true, random() % 64, random), cr_far(across, true, random() % 64, random);
  std::vector<std::uint8_t> expected(static_cast<std::size_t>(width) * 3 + 128, kCanary);
  std::vector<std::uint8_t> got(expected);
  const std::size_t offset = random() % 64;
  for (std::int64_t x = 0; x < width; ++x) {
    const int cb = colour_at(sampling, cb_near, cb_far, lower, x);
    const int cr = colour_at(sampling, cr_near, cr_far, lower, x);
    std::uint8_t* const pixel = expected.data() + offset + 3 * x;
    pixel[0] = red_of(y.at(x), cr);
    pixel[1] = green_of(y.at(x), cb, cr);
    pixel[2] = blue_of(y.at(x), cb);
  }
  const SampleRows rows{y.data(), cb_near.data(), cb_far.data(), cr_near.data(), cr_far.data(), lower};
  for (const Luma luma : {Luma::bt601, Luma::bt709, Luma::opencv}) {
    std::vector<std::uint8_t> grey(static_cast<std::size_t>(width) + 128, kCanary), got_grey(grey);
    for (std::int64_t x = 0; x < width; ++x) {
      const std::uint8_t* const pixel = expected.data() + offset + 3 * x;
      grey[offset + static_cast<std::size_t>(x)] = luma_of(luma_weights(luma), pixel[0], pixel[1], pixel[2]);
    }
    make_grey_row(luma, sampling, rows, width, got_grey.data() + offset);
    ASSERT_TRUE(got_grey == grey) << simd_target() << " sampling " << static_cast<int>(sampling) << " width "
                                  << width << " luma " << static_cast<int>(luma);
  }
  make_rgb_row(sampling, rows, width, got.data() + offset);
  ASSERT_TRUE(got == expected) << simd_target() << " sampling " << static_cast<int>(sampling) << " width "
                               << width << ": byte "
                               << std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin()
                               << " of " << offset << " on";
}

TEST(JpegReconstruct, RowsOnEveryTarget) {
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    Random random(11);
    for (const Sampling sampling : {Sampling::s444, Sampling::s422, Sampling::s420, Sampling::s440}) {
      for (std::int64_t width = 1; width <= 2100; width += width < 200 || width % 1024 > 1020 ? 1 : 67) {
        for (int i = 0; i < 4; ++i) {
          compare_row(sampling, width, i % 2 == 1, random);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  use_simd("");
}

// Every luma value with every pair of chroma values.
TEST(JpegReconstruct, EveryColour) {
  Random random(1);
  Row y(256, false, 0, random);
  for (int i = 0; i < 256; ++i) y.data()[i] = static_cast<std::uint8_t>(i);
  Row cb(256, true, 0, random), cr(256, true, 0, random);
  std::vector<std::uint8_t> got(768);
  for (int b = 0; b < 256; ++b) {
    for (int r = 0; r < 256; ++r) {
      std::fill(cb.memory.begin(), cb.memory.end(), static_cast<std::uint8_t>(b));
      std::fill(cr.memory.begin(), cr.memory.end(), static_cast<std::uint8_t>(r));
      make_rgb_row(Sampling::s444, {y.data(), cb.data(), nullptr, cr.data(), nullptr, false}, 256,
                   got.data());
      for (std::size_t i = 0; i < 256; ++i) {
        const int luma = static_cast<int>(i);
        const std::array<std::uint8_t, 3> expected{red_of(luma, r), green_of(luma, b, r), blue_of(luma, b)};
        ASSERT_TRUE(
            std::equal(expected.begin(), expected.end(), got.begin() + static_cast<std::ptrdiff_t>(3 * i)))
            << "y " << i << " cb " << b << " cr " << r;
      }
    }
  }
}

TEST(JpegReconstruct, EdgesAreRepeated) {
  for (std::int64_t width : {1, 2, 7, 64, 65}) {
    std::vector<std::uint8_t> memory(static_cast<std::size_t>(width + 2 * kSampleMargin + 2), kCanary);
    std::uint8_t* const row = memory.data() + 1 + kSampleMargin;
    for (std::int64_t x = 0; x < width; ++x) row[x] = static_cast<std::uint8_t>(x + 3);
    fill_edges(row, width);
    EXPECT_EQ(memory.front(), kCanary);
    EXPECT_EQ(memory.back(), kCanary);
    for (std::int64_t x = -kSampleMargin; x < width + kSampleMargin; ++x) {
      EXPECT_EQ(row[x], std::clamp<std::int64_t>(x, 0, width - 1) + 3);
    }
  }
}

}  // namespace
}  // namespace imgpipe::jpeg_reconstruct_test
