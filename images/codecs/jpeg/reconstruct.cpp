#include "images/codecs/jpeg/reconstruct.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "images/codecs/jpeg/jpeg_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/jpeg/reconstruct.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Like libjpeg-turbo's x86 code, uses one instruction that multiplies pairs of 16-bit values and adds the
// products. The library's code for other processors wraps at other points. EMU128 would be no faster, and
// would take minutes to compile with sanitizers.
#undef IMGPIPE_DCT_IN_VECTORS
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
#define IMGPIPE_DCT_IN_VECTORS 1
#else
#define IMGPIPE_DCT_IN_VECTORS 0
#endif

#if IMGPIPE_DCT_IN_VECTORS

namespace hn = hwy::HWY_NAMESPACE;
using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::RepartitionToWide<D16>;
using D64 = hn::RepartitionToWide<D32>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// A vector holds a row of 8 values of kBlocks blocks, one block per 128 bits; shuffles stay within 128 bits.
constexpr std::size_t kBlocks = hn::MaxLanes(D16()) / kBlockSide;

// Returns a factor pair in every 32 bits: `first` in the lower half, `second` in the upper.
HWY_INLINE V16 factors(int first, int second) {
  const auto both = static_cast<std::uint32_t>(second) << 16 | (static_cast<std::uint32_t>(first) & 0xFFFF);
  return hn::BitCast(D16(), hn::Set(D32(), static_cast<std::int32_t>(both)));
}

// Returns in every 32 bits the sum of two 16-bit products, with one instruction; sum1 stays 0.
HWY_INLINE V32 sum_of_products(V16 pairs, V16 by) {
  const D32 d;
  V32 sum1 = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, pairs, by, hn::Zero(d), sum1);
}

struct HalfOfPass {
  V32 v[kBlockSide];
};

// Computes inverse_dct_pass() for the lower or the upper four of the eight lanes, but does not saturate.
template <int kShift, class Zip>
HWY_INLINE HalfOfPass half_of_pass(const V16 (&x)[kBlockSide], const Zip& zip) {
  using namespace dct;
  // A second product adds the rounding constant.
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

// Moves the value at position p to p rotated left by one bit; a position is the vector index followed by the
// lane index.
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

HWY_INLINE void transpose(V16 (&v)[kBlockSide]) {
  for (int i = 0; i < 3; ++i) shuffle(v);
}

// Like level_shifted(), for values from -8192 to 8191: all that the row pass can leave of 32-bit sums, which
// it shifts right by kRowShift.
HWY_INLINE V16 level_shifted_of(V16 v) {
  const D16 d;
  const hn::RebindToUnsigned<D16> unsigned_d;
  constexpr std::int16_t kLeast = 0x7F00;  // the maximum of 16 bits, minus 255
  const V16 max_cut = hn::SaturatedAdd(v, hn::Set(d, kLeast + 128));
  return hn::BitCast(d, hn::SaturatedSub(hn::BitCast(unsigned_d, max_cut), hn::Set(unsigned_d, kLeast)));
}

// Converts columns of results to rows of samples: two rows of each block per vector.
HWY_INLINE void samples_of(const V16 (&columns)[kBlockSide], V16 (&rows)[kBlockSide / 2]) {
  for (std::size_t i = 0; i < kBlockSide / 2; ++i) {
    const V16 left = level_shifted_of(columns[2 * i]);
    const V16 right = level_shifted_of(columns[2 * i + 1]);
    rows[i] = hn::Or(left, hn::ShiftLeft<8>(right));
  }
  for (int i = 0; i < 2; ++i) shuffle(rows);
}

#else

constexpr std::size_t kBlocks = 1;

#endif

// A block of a batch: its AC coefficients, and the destination of its samples.
struct Slot {
  const Coefficient* begin = nullptr;
  const Coefficient* end = nullptr;
  std::uint8_t* samples = nullptr;
  std::int64_t stride = 0;
};

struct Batch {
  // Dequantised values, the rows of all blocks side by side. All 0 while count is 0.
  alignas(64) std::int16_t values[kBlocks * kBlockSamples] = {};
  alignas(64) std::uint8_t done[kBlocks * kBlockSamples];  // samples, not yet at their destinations
  Slot slots[kBlocks];
  std::size_t count = 0;
};

// Maps a zigzag index to an offset among a batch's values, relative to the start of the block.
constexpr auto kValueOffsets = [] {
  std::array<std::uint8_t, kBlockSamples> positions{};
  for (std::size_t i = 0; i < kBlockSamples; ++i) {
    const std::size_t position = kZigzag[i];
    positions[i] =
        static_cast<std::uint8_t>(position / kBlockSide * kBlockSide * kBlocks + position % kBlockSide);
  }
  return positions;
}();

// Returns whether all coefficients are in the first row. A product can wrap to 0, so the products do not show
// this.
bool has_flat_columns(const Slot& slot) {
  return std::all_of(slot.begin, slot.end, [](Coefficient c) {
    return kZigzag[static_cast<std::size_t>(place_of(c))] < kBlockSide;
  });
}

void transform_plainly(Batch& batch) {
  for (std::size_t b = 0; b < batch.count; ++b) {
    const Slot& slot = batch.slots[b];
    std::array<std::int16_t, kBlockSamples> values{};
    for (std::size_t y = 0; y < kBlockSide; ++y) {
      std::memcpy(&values[y * kBlockSide], batch.values + (y * kBlocks + b) * kBlockSide, sizeof(Eight));
    }
    const auto samples = inverse_dct(values, has_flat_columns(slot));
    for (std::size_t y = 0; y < kBlockSide; ++y) {
      std::memcpy(slot.samples + static_cast<std::int64_t>(y) * slot.stride, &samples[y * kBlockSide],
                  kBlockSide);
    }
  }
  std::memset(batch.values, 0, sizeof batch.values);
  batch.count = 0;
}

#if IMGPIPE_DCT_IN_VECTORS

void transform(Batch& batch) {
  const D16 d;
  V16 x[kBlockSide];
  for (std::size_t y = 0; y < kBlockSide; ++y) x[y] = hn::Load(d, batch.values + y * kBlocks * kBlockSide);
  // Flat columns matter only if a value of the first row overflows in this shift; then each block is checked.
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
  constexpr std::size_t kRowPair = std::size_t{2} * kBlockSide;
  for (std::size_t i = 0; i < kBlockSide / 2; ++i) {
    hn::Store(hn::BitCast(hn::Repartition<std::uint8_t, D16>(), rows[i]),
              hn::Repartition<std::uint8_t, D16>(), batch.done + i * kRowPair * kBlocks);
  }
  for (std::size_t b = 0; b < batch.count; ++b) {
    std::uint8_t* to = batch.slots[b].samples;
    const std::int64_t stride = batch.slots[b].stride;
    for (std::size_t i = 0; i < kBlockSide / 2; ++i, to += 2 * stride) {
      const std::uint8_t* pair = batch.done + (i * kBlocks + b) * kRowPair;
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

// Writes the dequantised AC coefficients, of which there is at least one. Writes four at a time, and may
// write the last four twice: the count is hard to predict, and a misprediction takes as long as several
// coefficients.
HWY_INLINE void add_coefficients(const Coefficient* begin, const Coefficient* end, const std::uint16_t* steps,
                                 std::int16_t* values) {
  const auto add = [&](const Coefficient* c) {
    const auto position = static_cast<std::size_t>(place_of(*c));
    values[kValueOffsets[position]] = dequantised(value_of(*c), steps[position]);
  };
  const auto count = end - begin;
  if (count < 4) {
    add(begin);
    add(begin + count / 2);
    add(end - 1);
    return;
  }
  for (int i = 0; i < 4; ++i) add(begin + i);
  for (int i = 0; i < 4; ++i) add(end - 4 + i);
  for (const Coefficient* c = begin + 4; c < end - 4; c += 4) {
    for (int i = 0; i < 4; ++i) add(c + i);
  }
}

void reconstruct(std::span<const BlockTarget> targets, const BlockRun& run) {
  // Two batches alternate: vector loads right after the narrow stores to the same batch would stall.
  Batch batches[2];
  Batch* filled = &batches[0];
  Batch* waiting = &batches[1];
  const auto in_mcu = static_cast<std::int64_t>(targets.size());
  std::int64_t mcu = run.first / in_mcu;
  const BlockTarget* target = targets.data() + run.first % in_mcu;
  const BlockTarget* const after = targets.data() + targets.size();
  const Coefficient* begin = run.coefficients + run.begin;
  for (const CoefficientBlock& block : run.blocks) {
    const auto base = static_cast<std::uint32_t>(run.dc_base[static_cast<std::size_t>(target->component)]);
    const auto sum = static_cast<std::int32_t>(base + static_cast<std::uint32_t>(block.dc));
    const std::int16_t dc = dequantised(wrapped_16(sum), target->steps[0]);
    std::uint8_t* const samples = target->samples + mcu * target->mcu_step;
    const Coefficient* const end = run.coefficients + block.end;
    if (begin == end) {
      fill_block(constant_sample(dc), samples, target->stride);
    } else {
      const std::size_t b = filled->count++;
      filled->slots[b] = {begin, end, samples, target->stride};
      std::int16_t* const values = filled->values + b * kBlockSide;
      values[0] = dc;
      add_coefficients(begin, end, target->steps, values);
      begin = end;
      if (b + 1 == kBlocks) {
        std::swap(filled, waiting);
        if (filled->count > 0) transform(*filled);
      }
    }
    if (++target == after) {
      target = targets.data();
      ++mcu;
    }
  }
  if (waiting->count > 0) transform(*waiting);
  if (filled->count > 0) transform(*filled);
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
