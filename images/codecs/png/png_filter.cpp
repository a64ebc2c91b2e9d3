#include "images/codecs/png/png_filter.h"

#include <algorithm>
#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/png/png_filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;
using V8 = hn::Vec<D8>;

enum Filter : std::uint8_t { kNone, kSub, kUp, kAverage, kPaeth, kFilters };

// The bytes that determine a residual: x, a to its left, b above x, c above a.
struct Neighbours {
  V8 x, a, b, c;
};

HWY_INLINE V8 distance(V8 p, V8 q) {
  return hn::Or(hn::SaturatedSub(p, q), hn::SaturatedSub(q, p));
}

// Returns the neighbour nearest to a + b - c; ties are resolved in the order a, b, c.
HWY_INLINE V8 paeth_predictor(V8 a, V8 b, V8 c) {
  const V8 to_a = distance(b, c);
  const V8 to_b = distance(a, c);
  // The distance to c is |to_a - to_b| if c is strictly between a and b, else to_a + to_b, which never wins.
  const auto beside = hn::Or(hn::Eq(hn::Min(c, hn::Min(a, b)), c), hn::Eq(hn::Max(c, hn::Max(a, b)), c));
  const V8 to_c = hn::IfThenElse(beside, hn::Set(D8(), 255), distance(to_a, to_b));
  const auto b_wins = hn::Eq(hn::Min(to_b, to_c), to_b);
  const auto a_wins = hn::Eq(hn::Min(to_a, hn::Min(to_b, to_c)), to_a);
  return hn::IfThenElse(a_wins, a, hn::IfThenElse(b_wins, b, c));
}

template <Filter F>
HWY_INLINE V8 residual(const Neighbours& n) {
  const D8 d;
  if constexpr (F == kSub) return hn::Sub(n.x, n.a);
  if constexpr (F == kUp) return hn::Sub(n.x, n.b);
  if constexpr (F == kAverage) {
    const V8 odd = hn::And(hn::Xor(n.a, n.b), hn::Set(d, 1));  // AverageRound rounds up, PNG down
    return hn::Sub(n.x, hn::Sub(hn::AverageRound(n.a, n.b), odd));
  }
  if constexpr (F == kPaeth) return hn::Sub(n.x, paeth_predictor(n.a, n.b, n.c));
  return n.x;
}

// Sums the absolute values of the first `count` signed bytes in groups of eight.
HWY_INLINE auto magnitudes(V8 v, std::size_t count) {
  const D8 d;
  const hn::RebindToSigned<D8> di;
  const V8 magnitude = hn::BitCast(d, hn::Abs(hn::BitCast(di, v)));  // -128 becomes 128
  return hn::SumsOf8(count == hn::Lanes(d) ? magnitude : hn::IfThenElseZero(hn::FirstN(d, count), magnitude));
}

// Calls use(at, count, neighbours) for each vector; `count` of its bytes belong to the row, from `at` on.
// Copies the row's ends to buffers padded with zeros, so that whole vectors can be read everywhere.
template <class Use>
HWY_INLINE void for_each_vector(const std::uint8_t* row, const std::uint8_t* above, std::size_t size,
                                std::size_t pixel_bytes, const Use& use) {
  const D8 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto edge = [&](std::size_t first) {
    HWY_ALIGN std::uint8_t x[hn::MaxLanes(d) + 8] = {};  // 8: the longest pixel
    HWY_ALIGN std::uint8_t b[hn::MaxLanes(d) + 8] = {};
    const std::size_t before = first == 0 ? 0 : pixel_bytes;
    const std::size_t count = std::min(lanes, size - first);
    std::memcpy(x + pixel_bytes - before, row + first - before, before + count);
    if (above != nullptr) std::memcpy(b + pixel_bytes - before, above + first - before, before + count);
    use(first, count,
        Neighbours{hn::LoadU(d, x + pixel_bytes), hn::LoadU(d, x), hn::LoadU(d, b + pixel_bytes),
                   hn::LoadU(d, b)});
  };
  edge(0);
  std::size_t i = lanes;
  for (; i + lanes <= size; i += lanes) {
    const V8 zero = hn::Zero(d);
    use(i, lanes,
        Neighbours{hn::LoadU(d, row + i), hn::LoadU(d, row + i - pixel_bytes),
                   above == nullptr ? zero : hn::LoadU(d, above + i),
                   above == nullptr ? zero : hn::LoadU(d, above + i - pixel_bytes)});
  }
  if (i < size) edge(i);
}

template <Filter F>
void write_filtered(const std::uint8_t* row, const std::uint8_t* above, std::size_t size,
                    std::size_t pixel_bytes, std::uint8_t* out) {
  const D8 d;
  *out++ = F;
  for_each_vector(row, above, size, pixel_bytes, [&](std::size_t at, std::size_t count, const Neighbours& n) {
    const V8 filtered = residual<F>(n);
    if (count == hn::Lanes(d)) {
      hn::StoreU(filtered, d, out + at);
    } else {
      HWY_ALIGN std::uint8_t tail[hn::MaxLanes(d)];
      hn::Store(filtered, d, tail);
      std::memcpy(out + at, tail, count);
    }
  });
}

Filter best_filter(const std::uint8_t* row, const std::uint8_t* above, std::size_t size,
                   std::size_t pixel_bytes) {
  const hn::Repartition<std::uint64_t, D8> d64;
  auto none = hn::Zero(d64);
  auto sub = none;
  auto up = none;
  auto average = none;
  auto paeth = none;
  for_each_vector(row, above, size, pixel_bytes, [&](std::size_t, std::size_t count, const Neighbours& n) {
    none = hn::Add(none, magnitudes(residual<kNone>(n), count));
    sub = hn::Add(sub, magnitudes(residual<kSub>(n), count));
    if (above == nullptr) return;
    up = hn::Add(up, magnitudes(residual<kUp>(n), count));
    average = hn::Add(average, magnitudes(residual<kAverage>(n), count));
    paeth = hn::Add(paeth, magnitudes(residual<kPaeth>(n), count));
  });
  const auto total = [&](auto sums) { return hn::GetLane(hn::SumOfLanes(d64, sums)); };
  const std::array<std::uint64_t, kFilters> costs{total(none), total(sub), total(up), total(average),
                                                  total(paeth)};
  const std::size_t tried = above == nullptr ? 2 : costs.size();
  return static_cast<Filter>(std::min_element(costs.begin(), costs.begin() + tried) - costs.begin());
}

void filter_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t size, std::size_t pixel_bytes,
                std::uint8_t* out) {
  switch (best_filter(row, above, size, pixel_bytes)) {
    case kSub:
      return write_filtered<kSub>(row, above, size, pixel_bytes, out);
    case kUp:
      return write_filtered<kUp>(row, above, size, pixel_bytes, out);
    case kAverage:
      return write_filtered<kAverage>(row, above, size, pixel_bytes, out);
    case kPaeth:
      return write_filtered<kPaeth>(row, above, size, pixel_bytes, out);
    default:
      return write_filtered<kNone>(row, above, size, pixel_bytes, out);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(filter_row);

void filter_png_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t size,
                    std::size_t pixel_bytes, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(filter_row)(row, above, size, pixel_bytes, out);
}

}  // namespace imgpipe
#endif
