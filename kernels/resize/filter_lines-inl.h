// Weighted sums of lines (rows, or columns that were transposed), a vector of their samples at a time. For
// Highway files, after hwy/highway.h; included once per instruction set.
#if defined(IMGPIPE_KERNELS_FILTER_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_FILTER_LINES_INL_H
#undef IMGPIPE_KERNELS_FILTER_LINES_INL_H
#else
#define IMGPIPE_KERNELS_FILTER_LINES_INL_H
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/resize/filter_axis.h"
#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Consecutive lines in memory, each of whole vectors.
template <class T>
struct Lines {
  const T* at = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};

template <class T>
class LineSums;

// Weights are split as 2^16 high + low, both 16 bits, and lines are processed in pairs, so that an
// instruction multiplies two samples of a column and adds the products. Sums wrap; their total fits in 32
// bits.
template <>
class LineSums<Sample8> {
 public:
  using D = D8;
  static constexpr std::int64_t kMaxLines = 256;

  // Not member initialisers, which are compiled without the target's instructions.
  HWY_INLINE LineSums() {
    for (int i = 0; i < 4; ++i) low_[i] = high_[i] = low_rest_[i] = high_rest_[i] = hn::Zero(DInt32());
  }

  // Adds at most kMaxLines lines.
  HWY_INLINE void add(const Lines<Sample8>& lines, const std::int32_t* weights) {
    std::int16_t low[kMaxLines + 1];
    std::int16_t high[kMaxLines + 1];
    for (std::int64_t i = 0; i < lines.count; ++i) {
      low[i] = static_cast<std::int16_t>(weights[i]);
      high[i] = static_cast<std::int16_t>((weights[i] - low[i]) >> 16);
    }
    low[lines.count] = high[lines.count] = 0;
    const D d;
    for (std::int64_t i = 0; i < lines.count; i += 2) {
      const Sample8* const at = lines.at + i * lines.stride;
      const V8 first = hn::LoadU(d, at);
      const V8 second = i + 1 < lines.count ? hn::LoadU(d, at + lines.stride) : first;
      const V8 lower = hn::InterleaveLower(d, first, second);
      const V8 upper = hn::InterleaveUpper(d, first, second);
      const V16 low_pair = both(low + i);
      const V16 high_pair = both(high + i);
      add_pairs<0>(hn::InterleaveLower(d, lower, hn::Zero(d)), low_pair, high_pair);
      add_pairs<1>(hn::InterleaveUpper(d, lower, hn::Zero(d)), low_pair, high_pair);
      add_pairs<2>(hn::InterleaveLower(d, upper, hn::Zero(d)), low_pair, high_pair);
      add_pairs<3>(hn::InterleaveUpper(d, upper, hn::Zero(d)), low_pair, high_pair);
    }
  }

  HWY_INLINE void store(Sample8* to) const {
    alignas(16) static constexpr Sample8 kOrder[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
    const D d;
    const auto words = hn::Or(clipped(0, 1), hn::ShiftLeft<8>(clipped(2, 3)));
    hn::StoreU(hn::TableLookupBytes(hn::BitCast(d, words), hn::LoadDup128(d, kOrder)), d, to);
  }

 private:
  using DInt16 = hn::RebindToSigned<D16>;
  using DInt32 = hn::RebindToSigned<D32>;
  using VInt32 = hn::Vec<DInt32>;

  static HWY_INLINE V16 both(const std::int16_t* weights) {
    std::uint32_t pair;
    std::memcpy(&pair, weights, sizeof pair);
    return hn::BitCast(D16(), hn::Set(D32(), pair));
  }

  template <int Quarter>
  HWY_INLINE void add_pairs(V8 pairs, V16 low, V16 high) {
    const DInt16 d;
    const auto values = hn::BitCast(d, pairs);
    low_[Quarter] = hn::ReorderWidenMulAccumulate(DInt32(), values, hn::BitCast(d, low), low_[Quarter],
                                                  low_rest_[Quarter]);
    high_[Quarter] = hn::ReorderWidenMulAccumulate(DInt32(), values, hn::BitCast(d, high), high_[Quarter],
                                                   high_rest_[Quarter]);
  }

  [[nodiscard]] HWY_INLINE VInt32 rounded(int quarter) const {
    const VInt32 low = hn::RearrangeToOddPlusEven(low_[quarter], low_rest_[quarter]);
    const VInt32 high = hn::RearrangeToOddPlusEven(high_[quarter], high_rest_[quarter]);
    const VInt32 sum = hn::Add(hn::ShiftLeft<16>(high), low);
    return hn::ShiftRight<kFilterBits>(hn::Add(sum, hn::Set(DInt32(), 1 << (kFilterBits - 1))));
  }
  [[nodiscard]] HWY_INLINE V16 clipped(int first, int second) const {
    const DInt16 d;
    const auto words = hn::ReorderDemote2To(d, rounded(first), rounded(second));
    return hn::BitCast(D16(), hn::Min(hn::Max(words, hn::Zero(d)), hn::Set(d, kMaxSample)));
  }

  // Of the columns modulo 16: 0 to 3, 4 to 7, 8 to 11, 12 to 15.
  VInt32 low_[4], high_[4], low_rest_[4], high_rest_[4];
};

// Products and sums of doubles are rounded separately, in the order of the lines.
template <>
class LineSums<Sample16> {
 public:
  using D = D16;
  static constexpr std::int64_t kMaxLines = 256;

  HWY_INLINE LineSums() {
    for (int i = 0; i < 4; ++i) sums_[i] = hn::Zero(DDouble());
  }

  HWY_INLINE void add(const Lines<Sample16>& lines, const double* weights) {
    const DDouble d;
    const std::int64_t lanes = lanes_of(d);
    for (std::int64_t i = 0; i < lines.count; ++i) {
      const Sample16* const at = lines.at + i * lines.stride;
      const auto weight = hn::Set(d, weights[i]);
      for (int part = 0; part < 4; ++part) {
        const auto whole = hn::PromoteTo(DInt32(), hn::LoadU(DHalfWords(), at + part * lanes));
        sums_[part] = hn::Add(sums_[part], hn::Mul(hn::PromoteTo(d, whole), weight));
      }
    }
  }

  HWY_INLINE void store(Sample16* to) const {
    const DDouble d;
    const std::int64_t lanes = lanes_of(d);
    for (int part = 0; part < 4; ++part) {
      const auto half = hn::Add(sums_[part], hn::Set(d, 0.5));
      const auto clipped = hn::Min(hn::Max(half, hn::Zero(d)), hn::Set(d, double{kLargest<Sample16>}));
      hn::StoreU(hn::DemoteTo(DHalfWords(), hn::DemoteTo(DInt32(), clipped)), DHalfWords(),
                 to + part * lanes);
    }
  }

 private:
  using DDouble = hn::Repartition<double, D16>;
  using DInt32 = hn::Rebind<std::int32_t, DDouble>;
  using DHalfWords = hn::Rebind<std::uint16_t, DDouble>;

  hn::Vec<DDouble> sums_[4];
};

// Writes output line i of a pass, `columns` samples. source.lines(first, count) returns the lines from
// `first` on, at least one and at most `count`.
template <class T, class Source>
void filter_line(const FilterTable<FilterWeight<T>>& table, std::int64_t i, Source& source,
                 std::int64_t columns, T* to) {
  using Sums = LineSums<T>;
  const typename Sums::D d;
  const std::int64_t lanes = lanes_of(d);
  const FilterWeight<T>* const weights = table.weights + i * table.window;
  const std::int64_t count = table.count[i];
  for (std::int64_t x = 0; x < columns; x += lanes) {
    Sums sums;
    for (std::int64_t done = 0; done < count;) {
      Lines<T> lines = source.lines(table.first[i] + done, std::min(count - done, Sums::kMaxLines));
      lines.at += x;
      sums.add(lines, weights + done);
      done += lines.count;
    }
    if (x + lanes <= columns) {
      sums.store(to + x);
    } else {
      HWY_ALIGN T end[hn::MaxLanes(typename Sums::D())];
      sums.store(end);
      std::memcpy(to + x, end, static_cast<std::size_t>(columns - x) * sizeof(T));
    }
  }
}

template <class T>
inline constexpr int kBlock = 16 / static_cast<int>(sizeof(T));

// Transposes a block of kBlock x kBlock samples.
template <class T>
HWY_INLINE void transpose_block(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride) {
  constexpr int kSide = kBlock<T>;
  const hn::FixedTag<T, kSide> d;
  hn::Vec<decltype(d)> v[kSide];
  hn::Vec<decltype(d)> next[kSide];
  for (int i = 0; i < kSide; ++i) v[i] = hn::LoadU(d, from + i * from_stride);
  for (int side = 1; side < kSide; side *= 2) {
    for (int i = 0; i < kSide / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, v[i], v[i + kSide / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kSide / 2]);
    }
    for (int i = 0; i < kSide; ++i) v[i] = next[i];
  }
  for (int i = 0; i < kSide; ++i) hn::StoreU(v[i], d, to + i * to_stride);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif
