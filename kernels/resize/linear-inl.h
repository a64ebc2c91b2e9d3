// resize by linear, and to half of both sides, which is the same for linear and area. For Highway files;
// included once per instruction set.
//
// linear blends each input row horizontally once, into twice the bits of a sample, and keeps it for the next
// row of the output; blends two such rows into a row of the output, a vector at a time. Horizontally, byte
// shuffles select the neighbours of a block of samples. Halving is fully vectorised.
//
// Both accept interleaved RGB: a sample's neighbours are then `Step` = 3 samples apart, otherwise 1.
#if defined(IMGPIPE_KERNELS_RESIZE_LINEAR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_RESIZE_LINEAR_INL_H
#undef IMGPIPE_KERNELS_RESIZE_LINEAR_INL_H
#else
#define IMGPIPE_KERNELS_RESIZE_LINEAR_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/resize/host_plane.h"
#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kBlockBytes = 16;
constexpr std::int64_t kBlocks = HWY_MAX_BYTES >= 32 && !HWY_HAVE_SCALABLE ? 2 : 1;  // in a vector
// Vectors of kBlocks blocks.
template <class T>
using BlockLanes = hn::CappedTag<T, kBlocks * kBlockBytes / sizeof(T)>;
using BlockBytes = BlockLanes<std::uint8_t>;

// Loads 16 bytes for each block of a vector; the second ones for the second block, if a vector has one.
template <class T>
HWY_INLINE hn::Vec<BlockBytes> load_blocks(const T* first, [[maybe_unused]] const T* second) {
  const hn::CappedTag<std::uint8_t, kBlockBytes> d;
  const auto load = [d](const T* from)
                        HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from)); };
  if constexpr (kBlocks == 1) return load(first);
  if constexpr (kBlocks == 2) return hn::Combine(BlockBytes(), load(second), load(first));
}

// ---- linear -----------------------------------------------------------------------------------------

// Multiplies pairs of signed numbers, hence values less 2^15; adds 2^15 to the sums to round them. Odd and
// even lanes separately, in 32 bits: the value is the upper half of a sum.
HWY_INLINE V16 blend_vector(V16 first, V16 second, int share) {
  using Int16 = hn::RebindToSigned<D16>;
  using Int32 = hn::RebindToSigned<D32>;
  constexpr int kOne = kLinearOne<Sample8>;
  const D16 d;
  const D32 d32;
  const auto weights = hn::BitCast(Int16(), hn::Set(Int32(), share << 16 | (kOne - share)));
  const auto blended = [&](V16 pairs) HWY_ATTR {
    auto rest = hn::Zero(Int32());
    const auto sum =
        hn::ReorderWidenMulAccumulate(Int32(), hn::BitCast(Int16(), pairs), weights, hn::Zero(Int32()), rest);
    // Not before: on NEON the accumulators hold one product in each lane.
    const auto rounding = hn::Set(Int32(), (kOne << 15) + (1 << 15));
    return hn::BitCast(d32, hn::Add(hn::RearrangeToOddPlusEven(sum, rest), rounding));
  };
  const V16 a = hn::Xor(first, hn::Set(d, 0x8000)), b = hn::Xor(second, hn::Set(d, 0x8000));
  const V16 even_pairs = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d32, b))), a);
  const V16 odd_pairs = hn::OddEven(b, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(d32, a))));
  const V32 even = blended(even_pairs), odd = blended(odd_pairs);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<16>(even)));
}

// Computes even and odd lanes separately, in 64 bits: the value is the upper half of the rounded sum.
HWY_INLINE V32 blend_vector(V32 first, V32 second, int share) {
  const D32 d;
  const V32 first_share = hn::Set(d, static_cast<std::uint32_t>(kLinearOne<Sample16> - share));
  const V32 second_share = hn::Set(d, static_cast<std::uint32_t>(share));
  const auto blended_even = [&](V32 a, V32 b) HWY_ATTR {
    const auto sum = hn::Add(hn::MulEven(a, first_share), hn::MulEven(b, second_share));
    return hn::Add(sum, hn::Set(D64(), std::uint64_t{1} << 31));
  };
  const auto odd_lanes = [](V32 v) HWY_ATTR {
    return hn::BitCast(D32(), hn::ShiftRight<32>(hn::BitCast(D64(), v)));
  };
  const auto even = blended_even(first, second);
  const auto odd = blended_even(odd_lanes(first), odd_lanes(second));
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// Blends samples first..end-1 of the output's rows, in every row that needs them.
//
// A block's samples are computed together. A part of them, all, a half or a quarter, finds its neighbours in
// the 16 bytes from its first left neighbour on: each part is a load, and a shuffle that leaves zeros for the
// others.
template <class T, int Step>
class LinearColumns {
 public:
  using Value = typename Pairs<T>::Sum;  // times kLinearOne
  // Samples; what is kept of them, and two rows of their values, take 17 to 24 KiB.
  static constexpr auto kChunk = static_cast<std::int64_t>(4096 / sizeof(Value));

  // `samples`: in a row of the input.
  LinearColumns(const AxisTable& table, std::int64_t samples, std::int64_t first, std::int64_t end)
      : table_(table), samples_(samples), first_(first), end_(end) {
    for (int parts = 1; parts <= kMaxParts && end - first_ - columns_ > kSpare; parts *= 2) prepare(parts);
  }

  void blend(const T* row, Value* to) const {
    if (parts_ == 1) blend_blocks<1>(row, to);
    if (parts_ == 2) blend_blocks<2>(row, to);
    if (parts_ == 4) blend_blocks<4>(row, to);
    std::int64_t end = end_;
    for (; end > first_ + columns_ && source(end - 1) + Step >= samples_; --end)  // has no right neighbour
      to[end - 1 - first_] = blended(row[source(end - 1)], 0, 0);
    for (std::int64_t x = first_ + columns_; x < end; ++x) {
      const T* at = row + source(x);
      to[x - first_] = blended(at[0], at[Step], table_.share[x / Step]);
    }
  }

 private:
  static constexpr std::int64_t kBlock = kBlockBytes / sizeof(Value), kSamples = kBlockBytes / sizeof(T);
  static constexpr int kMaxParts = 4;
  static constexpr std::int64_t kSpare = 2 * kBlock;  // too few samples for another attempt
  using Lanes = BlockLanes<Value>;

  // A lane of shuffle indices that yields zero, and the indices of sample i in a lane, which are followed by
  // zeros.
  static constexpr Value kNothing = static_cast<Value>(~Value{0}) / 255 * 0x80;
  static constexpr Value selector(std::int64_t i) {
    const auto at = static_cast<Value>(i * sizeof(T));
    constexpr Value kBytes = kLargest<T>;
    return static_cast<Value>((kNothing & ~kBytes) | (kIsWide<T> ? at | (at + 1) << 8 : at));
  }
  // Added to indices, selects the right neighbours.
  static constexpr Value kNext = Step * (kIsWide<T> ? 0x0202 : 1);

  // The sample to the left of a sample of the output.
  [[nodiscard]] std::int64_t source(std::int64_t x) const {
    return std::int64_t{table_.source[x / Step]} * Step + x % Step;
  }

  // Returns the value between two columns; the added term may wrap.
  static Value blended(std::uint32_t left, std::uint32_t right, std::int32_t share) {
    constexpr std::uint32_t kOne = kLinearOne<T>;
    return static_cast<Value>(left * kOne + (right - left) * static_cast<std::uint32_t>(share));
  }

  void prepare(int parts) {
    parts_ = parts;
    prepare_blocks();
    columns_ -= columns_ % (kBlocks * kBlock);
  }
  // Prepares the blocks whose parts fit into their loads, and whose loads end within the row.
  void prepare_blocks() {
    const std::int64_t part = kBlock / parts_;
    std::int32_t* load = loads_;
    for (columns_ = 0; columns_ + kBlock <= end_ - first_; columns_ += kBlock) {
      std::int64_t sources[kBlock];
      for (std::int64_t i = 0; i < kBlock; ++i) {
        sources[i] = source(first_ + columns_ + i);
        shares_[columns_ + i] = static_cast<Value>(table_.share[(first_ + columns_ + i) / Step]);
      }
      for (std::int64_t i = 0; i < kBlock; i += part) {
        const auto [least, most] = std::minmax_element(sources + i, sources + i + part);
        if (*least + kSamples > samples_ || *most - *least >= kSamples - Step) return;
        *load++ = static_cast<std::int32_t>(*least);
        for (std::int64_t j = i; j < i + part; ++j) selectors_[columns_ + j] = selector(sources[j] - *least);
      }
    }
  }

  template <int Parts>
  HWY_NOINLINE void blend_blocks(const T* row, Value* to) const {
    const Lanes d;
    const BlockBytes bytes;
    HWY_ALIGN Value others[Parts][kBlock];
    for (int part = 0; part < Parts; ++part) {
      for (std::int64_t i = 0; i < kBlock; ++i) others[part][i] = i * Parts / kBlock == part ? 0 : kNothing;
    }
    const std::int32_t* loads = loads_;
    for (std::int64_t x = 0; x < columns_; x += kBlocks * kBlock, loads += kBlocks * Parts) {
      const auto indices = hn::LoadU(d, selectors_ + x);
      auto left = hn::Zero(d), right = hn::Zero(d);
      for (int part = 0; part < Parts; ++part) {
        const auto samples = load_blocks(row + loads[part], row + loads[(kBlocks - 1) * Parts + part]);
        auto these = indices;
        if constexpr (Parts > 1) these = hn::Or(indices, hn::LoadDup128(d, others[part]));
        const auto chosen = [&](hn::Vec<Lanes> from) HWY_ATTR {
          return hn::BitCast(d, hn::TableLookupBytesOr0(samples, hn::BitCast(bytes, from)));
        };
        left = hn::Or(left, chosen(these));
        right = hn::Or(right, chosen(hn::Add(these, hn::Set(d, kNext))));
      }
      const auto change = hn::Mul(hn::Sub(right, left), hn::LoadU(d, shares_ + x));
      hn::StoreU(hn::Add(hn::ShiftLeft<8 * sizeof(T)>(left), change), d, to + x);
    }
  }

  AxisTable table_;
  std::int64_t samples_, first_, end_;
  int parts_ = 0;
  std::int64_t columns_ = 0;  // samples that blocks compute
  std::int32_t loads_[kMaxParts * kChunk / kBlock];
  Value selectors_[kChunk], shares_[kChunk];
};

template <class T, int Step>
struct Linear {
  using D = typename Pairs<T>::D;
  using Columns = LinearColumns<T, Step>;
  using Value = typename Columns::Value;

  static void blend_rows(const Value* first, const Value* second, int share, std::int64_t count,
                         bool bypasses, T* to) {
    const D d;
    const auto vector = [&](std::int64_t x, const auto& store) HWY_ATTR {
      const auto v = blend_vector(hn::LoadU(d, first + x), hn::LoadU(d, second + x), share);
      store_as(d, v, to + x, store);
    };
    for_stored_row<1>(to, count, lanes_of(d), bypasses, vector, [&] {
      for (std::int64_t x = 0; x < count; ++x) {
        to[x] = linear_rounded<T>(static_cast<LinearSum<T>>(kLinearOne<T> - share) * first[x] +
                                  static_cast<LinearSum<T>>(share) * second[x]);
      }
    });
  }

  // Two input rows, blended horizontally on demand.
  class BlendedRows {
   public:
    const Value* row(const ResizePlane<T>& plane, const Columns& columns, std::int64_t source) {
      const auto slot = static_cast<std::size_t>(source % 2);
      if (holds_[slot] != source) {
        columns.blend(plane.from(source), values_[slot]);
        holds_[slot] = source;
      }
      return values_[slot];
    }

   private:
    std::int64_t holds_[2] = {-1, -1};
    alignas(64) Value values_[2][Columns::kChunk];
  };

  static void plane(const ResizePlane<T>& plane) {
    const std::int64_t samples = plane.out.row_samples();
    for (std::int64_t first = 0; first < samples; first += Columns::kChunk) {
      const std::int64_t end = std::min(samples, first + Columns::kChunk);
      const Columns columns(plane.tables.across, plane.in.row_samples(), first, end);
      BlendedRows rows;
      for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
        const std::int64_t source = plane.tables.down.source[y];
        const int share = plane.tables.down.share[y];
        const Value* upper = rows.row(plane, columns, source);
        const Value* lower = share > 0 ? rows.row(plane, columns, source + 1) : upper;
        blend_rows(upper, lower, share, end - first, plane.band.bypasses_caches, plane.to(y) + first);
      }
    }
  }
};

// ---- halves -----------------------------------------------------------------------------------------

// Returns the sums of adjacent pairs.
template <class T>
HWY_INLINE auto pair_sums(const T* at) {
  const auto both = hn::LoadU(typename Pairs<T>::Samples(), at);
  return hn::Add(Pairs<T>::even(both), Pairs<T>::odd(both));
}

template <class T>
void halve_row(const T* upper, const T* lower, std::int64_t width, T* to) {
  const typename Pairs<T>::D d;
  const std::int64_t lanes = lanes_of(d);
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto sum = hn::Add(hn::Add(pair_sums(upper + 2 * x), pair_sums(lower + 2 * x)), hn::Set(d, 2));
    store_as(d, hn::ShiftRight<2>(sum), to + x);
  }
  for (; x < width; ++x) {
    const int sum = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
    to[x] = static_cast<T>((sum + 2) / 4);
  }
}

// Halves a row of interleaved pixels. Each block joins the samples of two pixels, or of one of 16 bits, with
// those of the next pixel: 12 bytes give the sums for 6 bytes of output.
template <class T>
void halve_rgb_row(const T* upper, const T* lower, std::int64_t width, T* to) {
  constexpr std::int64_t kSums = 6 / sizeof(T), kStored = 8 / sizeof(T);
  constexpr std::int64_t kSecond = kBlocks - 1;
  using Sum = typename Pairs<T>::Sum;
  const BlockLanes<Sum> d;
  HWY_ALIGN std::uint8_t pairs[kBlockBytes] = {};
  for (std::size_t i = 0; i < kSums; ++i) {
    const std::size_t left = (i / 3 * 6 + i % 3) * sizeof(T);
    for (std::size_t k = 0; k < sizeof(T); ++k) {
      pairs[2 * i * sizeof(T) + k] = static_cast<std::uint8_t>(left + k);
      pairs[(2 * i + 1) * sizeof(T) + k] = static_cast<std::uint8_t>(left + 3 * sizeof(T) + k);
    }
  }
  const auto joined = hn::LoadDup128(BlockBytes(), pairs);
  const auto pair_sums = [&](const T* at) HWY_ATTR {
    const auto both = hn::BitCast(d, hn::TableLookupBytes(load_blocks(at, at + kSecond * 2 * kSums), joined));
    return hn::Add(hn::And(both, hn::Set(d, Sum{kLargest<T>})), hn::ShiftRight<8 * sizeof(T)>(both));
  };
  const std::int64_t samples = 3 * width;
  std::int64_t x = 0;
  // A block stores 8 bytes and loads twice as many, of rows that are twice as long.
  for (; x + kSecond * kSums + kStored <= samples; x += kBlocks * kSums) {
    const auto sum = hn::Add(hn::Add(pair_sums(upper + 2 * x), pair_sums(lower + 2 * x)), hn::Set(d, 2));
    HWY_ALIGN T made[kBlocks * kStored];
    store_as(d, hn::ShiftRight<2>(sum), made);
    for (std::int64_t i = 0; i < kBlocks; ++i)
      std::memcpy(to + x + i * kSums, made + i * kStored, kStored * sizeof(T));
  }
  for (; x < samples; ++x) {
    const std::int64_t left = x / 3 * 6 + x % 3;
    const int sum = upper[left] + upper[left + 3] + lower[left] + lower[left + 3];
    to[x] = static_cast<T>((sum + 2) / 4);
  }
}

template <class T, int Step>
void halve_plane(const ResizePlane<T>& plane) {
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
    const T* const upper = plane.from(2 * y);
    const T* const lower = plane.from(2 * y + 1);
    if constexpr (Step == kMaxStep) {
      halve_rgb_row(upper, lower, plane.out.width, plane.to(y));
    } else {
      halve_row(upper, lower, plane.out.width, plane.to(y));
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif
