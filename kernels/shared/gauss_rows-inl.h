// Gaussian blur in SIMD, for Highway files of stages; included once per instruction set. Sums down the
// columns, then along the row, in chunks of kGaussChunk columns.
//
// 16-bit samples are multiplied as signed numbers, less 32768. The sums then lack 32768 * 65536, the top bit;
// none of their parts exceeds 32 bits, because the weights are positive and sum to 65536. Lanes of 32 bits
// hold the sums of even columns, others those of odd ones:
//
//   down:   even  (a0 b0) (a2 b2) ...     odd  (a1 b1) (a3 b3) ...     a, b: samples of two rows
//   along:  even  (t0 t1) (t2 t3) ...     odd  (t1 t2) (t3 t4) ...     t: rounded sums of the columns
#if defined(IMGPIPE_KERNELS_GAUSS_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_GAUSS_ROWS_INL_H
#undef IMGPIPE_KERNELS_GAUSS_ROWS_INL_H
#else
#define IMGPIPE_KERNELS_GAUSS_ROWS_INL_H
#endif

#include <algorithm>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/shared/gauss_pairs.h"
#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Columns per chunk: the window's rows of a chunk stay in the L2 cache.
constexpr std::int64_t kGaussChunk = 512;
// Space after a chunk's columns, for vectors that extend beyond the last one.
constexpr std::size_t kGaussVectorPadding = 256;

template <class T>
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): its arrays lie on a vector's boundary
class GaussRows {
 public:
  GaussRows(const Plane<const T, Host>& in, const Plane<T, Host>& out, const FrameType& type, Border border,
            const GaussPairs& pairs, const Band& band)
      : in_(in),
        out_(out),
        width_(type.width),
        height_(type.height),
        border_(border),
        pairs_(pairs),
        band_(band) {}

  // Blurs the band. Calls finish(in, out, count) for each chunk of a row: `in` points to the first of its
  // `count` original pixels, `out` to the first blurred one.
  template <class Finish>
  void run(const Finish& finish) {
    for_chunks(width_, kGaussChunk, band_, [&](std::int64_t first, std::int64_t end, std::int64_t y) {
      T* to = out_.row(y - band_.out_top) + first;
      sum_columns(y, first, end);
      sum_row(end - first, to);
      finish(in_.row(y - band_.in_top) + first, to, end - first);
    });
  }

 private:
  using Signed16 = hn::RebindToSigned<D16>;
  using Signed32 = hn::RebindToSigned<D32>;
  static constexpr std::uint16_t kSign = 0x8000;

  [[nodiscard]] std::int64_t position(std::int64_t i, std::int64_t size) const {
    if (i >= 0 && i < size) return i;
    return border_ == Border::reflect ? reflected(i, size) : replicated(i, size);
  }

  static HWY_INLINE V16 load(const T* from) {
    if constexpr (kIsWide<T>) return hn::Xor(hn::LoadU(D16(), from), hn::Set(D16(), kSign));
    if constexpr (!kIsWide<T>) return hn::PromoteTo(D16(), hn::LoadU(hn::Rebind<T, D16>(), from));
  }

  // Sums of pairs of products. `rest` holds a part of the sums if the instructions accumulate in two vectors.
  struct PairSums {
    hn::Vec<Signed32> sum, rest;
  };
  static HWY_INLINE PairSums no_sums() { return {hn::Zero(Signed32()), hn::Zero(Signed32())}; }
  static HWY_INLINE void add_products(V16 pairs, V16 weights, PairSums& sums) {
    sums.sum = hn::ReorderWidenMulAccumulate(Signed32(), hn::BitCast(Signed16(), pairs),
                                             hn::BitCast(Signed16(), weights), sums.sum, sums.rest);
  }
  static HWY_INLINE V32 whole(const PairSums& sums) {
    return hn::BitCast(D32(), hn::RearrangeToOddPlusEven(sums.sum, sums.rest));
  }

  template <int Bits, bool Lacks>
  static HWY_INLINE V32 rounded(V32 sum) {
    const D32 d;
    if constexpr (Lacks) sum = hn::Xor(sum, hn::Set(d, 0x80000000U));
    return hn::ShiftRight<Bits>(hn::Add(sum, hn::Set(d, 1U << (Bits - 1))));
  }

  // Calls function(count) with the number of pairs: as a constant if it is small, so that the compiler
  // unrolls the loops over pairs.
  template <class Function>
  HWY_INLINE void with_count(const Function& function) const {
    const auto fixed = [&]<int Count>() HWY_ATTR { function(std::integral_constant<int, Count>()); };
    if (pairs_.count == 2) return fixed.template operator()<2>();
    if (pairs_.count == 3) return fixed.template operator()<3>();
    if (pairs_.count == 4) return fixed.template operator()<4>();
    if (pairs_.count == 5) return fixed.template operator()<5>();
    if (pairs_.count == 7) return fixed.template operator()<7>();
    function(pairs_.count);
  }

  // Returns the rounded sums of a vector of columns, less 32768.
  template <class Count>
  HWY_INLINE V16 column_vector(std::int64_t x, Count count) const {
    const D16 d;
    const D32 d32;
    PairSums even = no_sums();
    PairSums odd = no_sums();
    for (int i = 0; i < count; ++i) {
      const auto pair = static_cast<std::size_t>(i);
      const T* const* rows = rows_ + pairs_.at[pair];
      const V16 a = load(rows[0] + x);
      const V16 b = load(rows[1] + x);
      const V16 weights = hn::BitCast(d, hn::Set(d32, pairs_.weights[pair]));
      add_products(hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d32, b))), a), weights, even);
      add_products(hn::OddEven(b, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(d32, a)))), weights, odd);
    }
    constexpr int kBits = 8 * static_cast<int>(sizeof(T));
    const V32 both = hn::Or(rounded<kBits, kIsWide<T>>(whole(even)),
                            hn::ShiftLeft<16>(rounded<kBits, kIsWide<T>>(whole(odd))));
    return hn::Xor(hn::BitCast(d, both), hn::Set(d, kSign));
  }

  [[nodiscard]] std::uint16_t column_sum_scalar(std::int64_t x) const {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(pairs_.count); ++i) {
      const std::uint32_t both = pairs_.weights[i];
      sum += (both & 0xFFFF) * rows_[pairs_.at[i]][x] + (both >> 16) * rows_[pairs_.at[i] + 1][x];
    }
    return static_cast<std::uint16_t>(column_rounded<T>(sum) ^ kSign);
  }

  // Sums columns first - radius to end + radius - 1 of row y; column `first` is sums_[radius].
  HWY_NOINLINE void sum_columns(std::int64_t y, std::int64_t first, std::int64_t end) {
    const int radius = pairs_.radius;
    const std::int64_t from = std::max<std::int64_t>(0, first - radius);
    const std::int64_t columns = std::min(width_, end + radius) - from;
    for (int i = 0; i <= 2 * radius; ++i)
      rows_[i] = in_.row(position(y + i - radius, height_) - band_.in_top) + from;
    rows_[2 * radius + 1] = rows_[2 * radius];  // has weight 0
    std::uint16_t* const to = sums_ + (from - first + radius);
    const auto lanes = lanes_of(D16());
    if (columns < lanes) {
      for (std::int64_t x = 0; x < columns; ++x) to[x] = column_sum_scalar(x);
    } else {  // the last vector overlaps the one before
      with_count([&](auto count) HWY_ATTR {
        for (std::int64_t x = 0; x < columns; x += lanes) {
          const std::int64_t at = std::min(x, columns - lanes);
          hn::StoreU(column_vector(at, count), D16(), to + at);
        }
      });
    }
    const auto fill = [&](std::int64_t x) {
      sums_[x - first + radius] = sums_[position(x, width_) - first + radius];
    };
    for (std::int64_t x = first - radius; x < from; ++x) fill(x);
    for (std::int64_t x = from + columns; x < end + radius; ++x) fill(x);
  }

  template <class Count>
  HWY_INLINE V16 row_vector(std::int64_t x, Count count) const {
    const D16 d;
    const D32 d32;
    PairSums even = no_sums();
    PairSums odd = no_sums();
    for (int i = 0; i < count; ++i) {
      const auto pair = static_cast<std::size_t>(i);
      const std::uint16_t* at = sums_ + x + pairs_.at[pair];
      const V16 weights = hn::BitCast(d, hn::Set(d32, pairs_.weights[pair]));
      add_products(hn::LoadU(d, at), weights, even);
      add_products(hn::LoadU(d, at + 1), weights, odd);
    }
    constexpr int kBits = 2 * kGaussBits - 8 * static_cast<int>(sizeof(T));
    const V32 both =
        hn::Or(rounded<kBits, true>(whole(even)), hn::ShiftLeft<16>(rounded<kBits, true>(whole(odd))));
    return hn::BitCast(d, both);
  }

  HWY_NOINLINE void sum_row(std::int64_t count, T* to) const {
    const hn::Rebind<T, D16> samples;
    with_count([&](auto pairs) HWY_ATTR {
      store_row(samples, count, to, [&](std::int64_t x) HWY_ATTR {
        if constexpr (kIsWide<T>) return row_vector(x, pairs);
        if constexpr (!kIsWide<T>) return hn::TruncateTo(samples, row_vector(x, pairs));
      });
    });
  }

  alignas(64) std::uint16_t sums_[kGaussChunk + kMaxGaussTaps + kGaussVectorPadding] = {};
  Plane<const T, Host> in_;
  Plane<T, Host> out_;
  std::int64_t width_, height_;
  Border border_;
  const GaussPairs& pairs_;
  Band band_;
  const T* rows_[kMaxGaussTaps + 1];
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif
