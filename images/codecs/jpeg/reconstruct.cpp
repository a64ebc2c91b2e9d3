#include "images/codecs/jpeg/reconstruct.h"

#include <cstddef>
#include <cstring>

#include "images/codecs/jpeg/jpeg_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/jpeg/reconstruct.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// x86 multiplies pairs of 16 bits and adds them up at once, which is the form of libjpeg-turbo's own code
// there. Its code for other processors wraps in other places.
#if HWY_ARCH_X86

namespace hn = hwy::HWY_NAMESPACE;
using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::RepartitionToWide<D16>;
using D64 = hn::RepartitionToWide<D32>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// A vector holds a row of 8 values of so many blocks, one in each 128 bits, where shuffles stay.
constexpr std::size_t kBlocks = hn::MaxLanes(D16()) / kBlockSide;

// In each 32 bits: the lower factor for the first of a pair, the upper one for the second.
HWY_INLINE V16 factors(int first, int second) {
  const auto both = static_cast<std::uint32_t>(second) << 16 | (static_cast<std::uint32_t>(first) & 0xFFFF);
  return hn::BitCast(D16(), hn::Set(D32(), static_cast<std::int32_t>(both)));
}

// The sums of two products each: one instruction. (Where it is two, sum1 holds the second products.)
HWY_INLINE V32 sum_of_products(V16 pairs, V16 by) {
  const D32 d;
  V32 sum1 = hn::Zero(d);
  const V32 sum0 = hn::ReorderWidenMulAccumulate(d, pairs, by, hn::Zero(d), sum1);
  return hn::Add(sum0, sum1);
}

struct HalfOfPass {
  V32 v[kBlockSide];
};

// inverse_dct_pass() for the lower or the upper four of the eight lanes, without the saturation.
template <int kShift, class Zip>
HWY_INLINE HalfOfPass half_of_pass(const V16 (&x)[kBlockSide], const Zip& zip) {
  using namespace dct;
  // Rounding comes as a second product.
  constexpr int kRoundBits = kShift - 1 > 14 ? kShift - 1 - 14 : 0;
  const V16 one = hn::Set(D16(), 1 << kRoundBits);
  const V16 scale = factors(1 << kConstantBits, 1 << (kShift - 1 - kRoundBits));
  const V32 t0 = sum_of_products(zip(hn::Add(x[0], x[4]), one), scale);
  const V32 t1 = sum_of_products(zip(hn::Sub(x[0], x[4]), one), scale);
  const V16 x26 = zip(x[2], x[6]);
  const V32 t2 = sum_of_products(x26, factors(k0_541196100, k0_541196100 - k1_847759065));
  const V32 t3 = sum_of_products(x26, factors(k0_541196100 + k0_765366865, k0_541196100));
  const V16 z34 = zip(hn::Add(x[7], x[3]), hn::Add(x[5], x[1]));
  const V32 s3 = sum_of_products(z34, factors(k1_175875602 - k1_961570560, k1_175875602));
  const V32 s4 = sum_of_products(z34, factors(k1_175875602, k1_175875602 - k0_390180644));
  const V16 x17 = zip(x[1], x[7]);
  const V16 x35 = zip(x[3], x[5]);
  const V32 even[4] = {hn::Add(t0, t3), hn::Add(t1, t2), hn::Sub(t1, t2), hn::Sub(t0, t3)};
  const V32 odd[4] = {
      hn::Add(sum_of_products(x17, factors(k1_501321110 - k0_899976223, -k0_899976223)), s4),
      hn::Add(sum_of_products(x35, factors(k3_072711026 - k2_562915447, -k2_562915447)), s3),
      hn::Add(sum_of_products(x35, factors(-k2_562915447, k2_053119869 - k2_562915447)), s4),
      hn::Add(sum_of_products(x17, factors(-k0_899976223, k0_298631336 - k0_899976223)), s3),
  };
  HalfOfPass out;
  for (int i = 0; i < 4; ++i) {
    out.v[i] = hn::ShiftRight<kShift>(hn::Add(even[i], odd[i]));
    out.v[7 - i] = hn::ShiftRight<kShift>(hn::Sub(even[i], odd[i]));
  }
  return out;
}

template <int kShift>
HWY_INLINE void inverse_dct_pass_of(V16 (&x)[kBlockSide]) {
  const D16 d;
  const auto lower =
      half_of_pass<kShift>(x, [](V16 a, V16 b) HWY_ATTR { return hn::InterleaveLower(D16(), a, b); });
  const auto upper =
      half_of_pass<kShift>(x, [](V16 a, V16 b) HWY_ATTR { return hn::InterleaveUpper(D16(), a, b); });
  for (int i = 0; i < kBlockSide; ++i) x[i] = hn::ReorderDemote2To(d, lower.v[i], upper.v[i]);
}

// The places of lanes and vectors as one number, turned left by a bit.
template <int kVectors>
HWY_INLINE void shuffle(V16 (&v)[kVectors]) {
  const D16 d;
  V16 out[kVectors];
  for (int i = 0; i < kVectors / 2; ++i) {
    out[2 * i] = hn::InterleaveLower(d, v[i], v[i + kVectors / 2]);
    out[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kVectors / 2]);
  }
  for (int i = 0; i < kVectors; ++i) v[i] = out[i];
}

// Each block by itself.
HWY_INLINE void transpose(V16 (&v)[kBlockSide]) {
  for (int i = 0; i < 3; ++i) shuffle(v);
}

// level_shifted(), in the lower half of each lane; the upper half is 0.
HWY_INLINE V16 level_shifted_of(V16 v) {
  const D16 d;
  const V16 least = hn::Set(d, -128);
  return hn::Add(hn::Min(hn::Max(v, least), hn::Set(d, 127)), hn::Set(d, 128));
}

// Columns of results to rows of samples: two rows of each block in a vector.
HWY_INLINE void samples_of(const V16 (&columns)[kBlockSide], V16 (&rows)[kBlockSide / 2]) {
  for (int i = 0; i < kBlockSide / 2; ++i) {
    const V16 left = level_shifted_of(columns[2 * i]);
    const V16 right = level_shifted_of(columns[2 * i + 1]);
    rows[i] = hn::Or(left, hn::ShiftLeft<8>(right));
  }
  for (int i = 0; i < 2; ++i) shuffle(rows);
}

#else

constexpr std::size_t kBlocks = 1;

#endif

// Blocks that are transformed together.
struct Batch {
  // Dequantised, rows of all the blocks side by side. All 0 while count is 0.
  alignas(64) std::int16_t values[kBlocks * kBlockSamples] = {};
  std::uint8_t* samples[kBlocks] = {};
  std::int64_t strides[kBlocks] = {};
  unsigned places[kBlocks] = {};  // of all the AC coefficients in the block, by "or"
  std::size_t count = 0;
};

// Where a coefficient stands among a batch's values, by its place in zigzag order; the block's own begin
// comes on top.
constexpr auto kValuePlaces = [] {
  std::array<std::uint8_t, kBlockSamples> places{};
  for (std::size_t i = 0; i < kBlockSamples; ++i) {
    const std::size_t place = kZigzag[i];
    places[i] = static_cast<std::uint8_t>(place / kBlockSide * kBlockSide * kBlocks + place % kBlockSide);
  }
  return places;
}();

void transform_plainly(Batch& batch) {
  for (std::size_t b = 0; b < batch.count; ++b) {
    std::array<std::int16_t, kBlockSamples> values{};
    for (std::size_t y = 0; y < kBlockSide; ++y) {
      std::memcpy(&values[y * kBlockSide], batch.values + (y * kBlocks + b) * kBlockSide, sizeof(Eight));
    }
    const auto samples = inverse_dct(values, batch.places[b] < kBlockSide);
    for (std::size_t y = 0; y < kBlockSide; ++y) {
      std::memcpy(batch.samples[b] + static_cast<std::int64_t>(y) * batch.strides[b],
                  &samples[y * kBlockSide], kBlockSide);
    }
  }
  std::memset(batch.values, 0, sizeof batch.values);
  batch.count = 0;
}

#if HWY_ARCH_X86

void transform(Batch& batch) {
  const D16 d;
  V16 x[kBlockSide];
  for (std::size_t y = 0; y < kBlockSide; ++y) x[y] = hn::Load(d, batch.values + y * kBlocks * kBlockSide);
  // Only here it matters whether a block has flat columns, and some may have them.
  if (!hn::AllTrue(d,
                   hn::Eq(hn::ShiftRight<dct::kColumnBits>(hn::ShiftLeft<dct::kColumnBits>(x[0])), x[0]))) {
    return transform_plainly(batch);
  }
  for (std::size_t y = 0; y < kBlockSide; ++y)
    hn::Store(hn::Zero(d), d, batch.values + y * kBlocks * kBlockSide);
  inverse_dct_pass_of<dct::kColumnShift>(x);
  transpose(x);
  inverse_dct_pass_of<dct::kRowShift>(x);
  V16 rows[kBlockSide / 2];
  samples_of(x, rows);
  constexpr std::size_t kRowPair = 2 * kBlockSide;
  alignas(64) std::uint8_t samples[kBlocks * kBlockSamples];
  for (std::size_t i = 0; i < kBlockSide / 2; ++i) {
    hn::Store(hn::BitCast(hn::Repartition<std::uint8_t, D16>(), rows[i]),
              hn::Repartition<std::uint8_t, D16>(), samples + i * kRowPair * kBlocks);
  }
  for (std::size_t b = 0; b < batch.count; ++b) {
    std::uint8_t* to = batch.samples[b];
    const std::int64_t stride = batch.strides[b];
    for (std::size_t i = 0; i < kBlockSide / 2; ++i, to += 2 * stride) {
      const std::uint8_t* pair = samples + (i * kBlocks + b) * kRowPair;
      std::memcpy(to, pair, kBlockSide);
      std::memcpy(to + stride, pair + kBlockSide, kBlockSide);
    }
  }
  batch.count = 0;
}

#else

void transform(Batch& batch) {
  transform_plainly(batch);
}

#endif

void fill_block(std::uint8_t sample, std::uint8_t* to, std::int64_t stride) {
  for (int y = 0; y < kBlockSide; ++y, to += stride) std::memset(to, sample, kBlockSide);
}

void reconstruct(std::span<const BlockTarget> targets, const BlockRun& run) {
  Batch batch;
  const auto in_mcu = static_cast<std::int64_t>(targets.size());
  std::int64_t mcu = run.first / in_mcu;
  std::size_t of_mcu = static_cast<std::size_t>(run.first % in_mcu);
  const Coefficient* coefficient = run.coefficients + run.begin;
  for (const CoefficientBlock& block : run.blocks) {
    const BlockTarget& target = targets[of_mcu];
    const auto base = static_cast<std::uint32_t>(run.dc_base[static_cast<std::size_t>(target.component)]);
    const auto sum = static_cast<std::int32_t>(base + static_cast<std::uint32_t>(block.dc));
    const std::int16_t dc = dequantised(wrapped_16(sum), target.steps[0]);
    std::uint8_t* const samples = target.samples + mcu * target.mcu_step;
    const Coefficient* const end = run.coefficients + block.end;
    if (coefficient == end) {
      fill_block(constant_sample(dc), samples, target.stride);
    } else {
      const std::size_t b = batch.count++;
      std::int16_t* const values = batch.values + b * kBlockSide;
      batch.samples[b] = samples;
      batch.strides[b] = target.stride;
      values[0] = dc;
      unsigned places = 0;
      for (; coefficient != end; ++coefficient) {
        const auto place = static_cast<std::size_t>(place_of(*coefficient));
        values[kValuePlaces[place]] = dequantised(value_of(*coefficient), target.steps[place]);
        places |= kZigzag[place];
      }
      batch.places[b] = places;
      if (batch.count == kBlocks) transform(batch);
    }
    if (++of_mcu == targets.size()) {
      of_mcu = 0;
      ++mcu;
    }
  }
  if (batch.count > 0) transform(batch);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(reconstruct);

void reconstruct_blocks(std::span<const BlockTarget> targets, const BlockRun& run) {
  HWY_DYNAMIC_DISPATCH(reconstruct)(targets, run);
}

}  // namespace imgpipe
#endif
