// The inverse DCT of as many blocks as a vector holds, to 8x8, 4x4 or 2x2 samples. For Highway files, after
// hwy/highway.h; included once per instruction set.
#if defined(IMGPIPE_IMAGES_INVERSE_DCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_IMAGES_INVERSE_DCT_INL_H
#undef IMGPIPE_IMAGES_INVERSE_DCT_INL_H
#else
#define IMGPIPE_IMAGES_INVERSE_DCT_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "images/codecs/jpeg/jpeg_arithmetic.h"

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
using Bytes8 = hn::Repartition<std::uint8_t, D16>;

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

// Pairs of values, from the lower or the upper four of each eight lanes.
struct ZipLower {
  HWY_INLINE V16 operator()(V16 a, V16 b) const { return hn::InterleaveLower(D16(), a, b); }
};
struct ZipUpper {
  HWY_INLINE V16 operator()(V16 a, V16 b) const { return hn::InterleaveUpper(D16(), a, b); }
};

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
  const HalfOfPass lower = half_of_pass<kShift>(x, ZipLower());
  const HalfOfPass upper = half_of_pass<kShift>(x, ZipUpper());
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

// Flat columns matter only if a value of the first row overflows in this shift; then each block is checked.
HWY_INLINE bool keeps_flat_columns(V16 first_row) {
  const D16 d;
  const V16 shifted = hn::ShiftLeft<dct::kColumnBits>(first_row);
  return hn::AllTrue(d, hn::Eq(hn::ShiftRight<dct::kColumnBits>(shifted), first_row));
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

// Writes the samples: two rows of each block after those of all other blocks. Returns false, and writes
// nothing, if flat columns matter: a value of the first row overflows in their shift.
HWY_INLINE bool inverse_dct_8(const std::int16_t* values, std::uint8_t* samples) {
  const D16 d;
  V16 x[kBlockSide];
  for (std::size_t y = 0; y < kBlockSide; ++y) x[y] = hn::Load(d, values + y * kBlocks * kBlockSide);
  if (!keeps_flat_columns(x[0])) return false;
  inverse_dct_pass_of<dct::kColumnShift>(x);
  transpose(x);
  inverse_dct_pass_of<dct::kRowShift>(x);
  V16 rows[kBlockSide / 2];
  samples_of(x, rows);
  for (std::size_t i = 0; i < kBlockSide / 2; ++i)
    hn::Store(hn::BitCast(Bytes8(), rows[i]), Bytes8(), samples + i * 2 * kBlockSide * kBlocks);
  return true;
}

// ---- 4x4 and 2x2 samples ----------------------------------------------------------------------------

// The value paired with x[0]; its product is the rounding constant.
template <int kShift>
constexpr int kOne = kShift > 14 ? 1 << (kShift - 14) : 1;

// Computes reduced_dct_pass<4>() from pairs of values, but does not saturate.
template <int kShift>
HWY_INLINE void four_of_pass(V16 x0_one, V16 x26, V16 x13, V16 x57, V32 (&out)[4]) {
  using namespace dct;
  const V32 first = sum_of_products(x0_one, factors(1 << (kConstantBits + 1), (1 << kShift) / kOne<kShift>));
  const V32 even = sum_of_products(x26, factors(k1_847759065, -k0_765366865));
  const V32 odd0 = hn::Add(sum_of_products(x13, factors(k2_562915447, k0_899976223)),
                           sum_of_products(x57, factors(-k0_601344887, -k0_509795579)));
  const V32 odd1 = hn::Add(sum_of_products(x13, factors(k1_061594337, -k2_172734803)),
                           sum_of_products(x57, factors(k1_451774981, -k0_211164243)));
  const V32 outer = hn::Add(first, even), inner = hn::Sub(first, even);
  out[0] = hn::ShiftRight<kShift + 1>(hn::Add(outer, odd0));
  out[1] = hn::ShiftRight<kShift + 1>(hn::Add(inner, odd1));
  out[2] = hn::ShiftRight<kShift + 1>(hn::Sub(inner, odd1));
  out[3] = hn::ShiftRight<kShift + 1>(hn::Sub(outer, odd0));
}

HWY_INLINE V16 swapped_halves(V16 v) {
  return hn::BitCast(D16(), hn::Shuffle01(hn::BitCast(D64(), v)));
}

// Writes four rows of four samples per block; false as from inverse_dct_8().
HWY_INLINE bool inverse_dct_4(const std::int16_t* values, std::uint8_t* samples) {
  const D16 d;
  V16 x[kBlockSide];
  for (std::size_t y = 0; y < kBlockSide; ++y) x[y] = hn::Load(d, values + y * kBlocks * kBlockSide);
  if (!keeps_flat_columns(x[0])) return false;
  V16 one = hn::Set(d, kOne<dct::kColumnShift>);
  const auto column_pass = [&](const auto& zip, V32(&out)[4]) HWY_ATTR {
    four_of_pass<dct::kColumnShift>(zip(x[0], one), zip(x[2], x[6]), zip(x[1], x[3]), zip(x[5], x[7]), out);
  };
  V32 lower[4], upper[4];
  column_pass(ZipLower(), lower);
  column_pass(ZipUpper(), upper);
  V16 rows[4];
  for (int i = 0; i < 4; ++i) rows[i] = hn::ReorderDemote2To(d, lower[i], upper[i]);
  for (int i = 0; i < 2; ++i) shuffle(rows);  // columns 2i and 2i + 1 in rows[i]
  one = hn::Set(d, kOne<dct::kRowShift>);
  V32 out[4];
  four_of_pass<dct::kRowShift>(hn::InterleaveLower(d, rows[0], one), hn::InterleaveLower(d, rows[1], rows[3]),
                               hn::InterleaveUpper(d, rows[0], rows[1]),
                               hn::InterleaveUpper(d, rows[2], rows[3]), out);
  const V16 even = level_shifted_of(hn::ReorderDemote2To(d, out[0], out[2]));
  const V16 odd = level_shifted_of(hn::ReorderDemote2To(d, out[1], out[3]));
  const V16 pairs = hn::Or(even, hn::ShiftLeft<8>(odd));
  hn::Store(hn::BitCast(Bytes8(), hn::InterleaveLower(d, pairs, swapped_halves(pairs))), Bytes8(), samples);
  return true;
}

// Computes reduced_dct_pass<2>() from the sum of its odd products, but does not saturate.
template <int kShift>
HWY_INLINE void two_of_pass(V32 first, V32 odd, V32 (&out)[2]) {
  const V32 rounded = hn::Add(first, hn::Set(D32(), 1 << (kShift + 1)));
  out[0] = hn::ShiftRight<kShift + 2>(hn::Add(rounded, odd));
  out[1] = hn::ShiftRight<kShift + 2>(hn::Sub(rounded, odd));
}

// Writes two rows of two samples per block, at even offsets of its 16 bytes.
HWY_INLINE void inverse_dct_2(const std::int16_t* values, std::uint8_t* samples) {
  using namespace dct;
  const D16 d;
  const D32 wide;
  const auto row = [&](std::size_t y) HWY_ATTR { return hn::Load(d, values + y * kBlocks * kBlockSide); };
  const V16 x0 = row(0), x1 = row(1), x3 = row(3), x5 = row(5), x7 = row(7);
  const V16 by13 = factors(k3_624509785, -k1_272758580), by57 = factors(k0_850430095, -k0_720959822);
  const auto column_pass = [&](const auto& zip, V32(&out)[2]) HWY_ATTR {
    constexpr int kDown = 16 - (kConstantBits + 2);  // the zipped values are in the upper 16 of 32 bits
    two_of_pass<kColumnShift>(hn::ShiftRight<kDown>(hn::BitCast(wide, zip(hn::Zero(d), x0))),
                              hn::Add(sum_of_products(zip(x1, x3), by13), sum_of_products(zip(x5, x7), by57)),
                              out);
  };
  V32 lower[2], upper[2];
  column_pass(ZipLower(), lower);
  column_pass(ZipUpper(), upper);
  alignas(16) static constexpr std::int16_t kOdd[kBlockSide] = {0, k3_624509785, 0, -k1_272758580,
                                                                0, k0_850430095, 0, -k0_720959822};
  const V16 by = hn::LoadDup128(d, kOdd);
  const V32 row0 = sum_of_products(hn::ReorderDemote2To(d, lower[0], upper[0]), by);
  const V32 row1 = sum_of_products(hn::ReorderDemote2To(d, lower[1], upper[1]), by);
  const V32 halves = hn::Add(hn::InterleaveLower(wide, row0, row1), hn::InterleaveUpper(wide, row0, row1));
  const V32 odd = hn::Add(halves, hn::BitCast(wide, swapped_halves(hn::BitCast(d, halves))));
  V32 out[2];
  // The first column is not saturated.
  two_of_pass<kRowShift>(hn::ShiftLeft<kConstantBits + 2>(hn::InterleaveLower(wide, lower[0], lower[1])), odd,
                         out);
  const V32 both = hn::InterleaveLower(wide, out[0], out[1]);
  hn::Store(hn::BitCast(Bytes8(), level_shifted_of(hn::ReorderDemote2To(d, both, both))), Bytes8(), samples);
}

#else

constexpr std::size_t kBlocks = 1;

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif
