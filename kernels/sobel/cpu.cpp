// sobel in SIMD. Sums along columns first, for chunks of kChunk columns and one more on either side:
//
//   sums[]          above + 2 middle + below      dx(x) = sums(x+1) - sums(x-1)
//   differences[]   below - above                 dy(x) = differences(x-1) + 2 differences(x)
//                                                         + differences(x+1)
//
// then computes the norm, rounded by floats: see rounded_norm().
#include <algorithm>
#include <type_traits>

#include "kernels/shared/window.h"
#include "kernels/sobel/sobel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sobel/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Columns per chunk: both sums, at most 16 KiB, stay in the L1 cache.
constexpr std::int64_t kChunk = 2048;
// Space after a chunk's columns, for vectors that extend beyond the last one.
constexpr std::size_t kVectorPadding = 256;
constexpr int kRows = 3;

template <class T>
struct Sobel {
  using Wide = std::conditional_t<kIsWide<T>, std::int32_t, std::int16_t>;  // holds dx and dy
  using D = hn::ScalableTag<Wide>;
  using DT = hn::Rebind<T, D>;
  using V = hn::Vec<D>;
  using S32 = hn::ScalableTag<std::int32_t>;

  // Column x of the chunk is at position x + 1.
  struct Columns {
    alignas(64) Wide sums[static_cast<std::size_t>(kChunk) + 2 + kVectorPadding];
    alignas(64) Wide differences[static_cast<std::size_t>(kChunk) + 2 + kVectorPadding];
  };

  static HWY_INLINE V rounded_norm(V dx, V dy) {
    const hn::RebindToFloat<S32> df;
    if constexpr (!kIsWide<T>) {
      // dx^2 + dy^2 < 2^21 is exact. Below 256 a root is at least 1/4 / 511 away from a half, and the float's
      // rounding error is less than 2^-17. Larger roots are not rounded below 256.
      const hn::Half<D> half;
      const auto norm_of = [&](auto x, auto y) HWY_ATTR {
        const auto fx = hn::ConvertTo(df, hn::PromoteTo(S32(), x));
        const auto fy = hn::ConvertTo(df, hn::PromoteTo(S32(), y));
        const auto root = hn::Sqrt(hn::Add(hn::Mul(fx, fx), hn::Mul(fy, fy)));
        return hn::DemoteTo(half, hn::NearestInt(root));
      };
      return hn::Combine(D(), norm_of(hn::UpperHalf(half, dx), hn::UpperHalf(half, dy)),
                         norm_of(hn::LowerHalf(half, dx), hn::LowerHalf(half, dy)));
    } else {
      // Norms are limited to 65535, so dx and dy may be too. The float's root is less than 1/2 + 1/50 off, so
      // it rounds to one of two integers; r is correct if r^2 - r < dx^2 + dy^2 <= r^2 + r.
      const hn::RebindToUnsigned<S32> du;
      const V most = hn::Set(S32(), 65535);
      dx = hn::Min(hn::Abs(dx), most);
      dy = hn::Min(hn::Abs(dy), most);
      const auto fx = hn::ConvertTo(df, dx);
      const auto fy = hn::ConvertTo(df, dy);
      const auto root = hn::Sqrt(hn::Add(hn::Mul(fx, fx), hn::Mul(fy, fy)));
      const auto near = hn::BitCast(du, hn::Min(hn::NearestInt(root), most));
      const auto ux = hn::BitCast(du, dx);
      const auto uy = hn::BitCast(du, dy);
      const auto x_squared = hn::Mul(ux, ux);
      const auto low_sum = hn::Add(x_squared, hn::Mul(uy, uy));  // modulo 2^32
      const auto all = hn::Set(du, 0xFFFFFFFFU);
      const auto square = hn::IfThenElse(hn::Lt(low_sum, x_squared), all, low_sum);
      const auto near_squared = hn::Mul(near, near);  // at most 65535^2
      const auto too_low = hn::Gt(square, hn::Add(near_squared, near));
      // The root of 0 is exact.
      const auto too_high =
          hn::Lt(hn::Max(square, hn::Set(du, 1)), hn::Add(hn::Sub(near_squared, near), hn::Set(du, 1)));
      const auto up = hn::VecFromMask(du, too_low);  // -1 where it holds
      const auto down = hn::VecFromMask(du, too_high);
      return hn::BitCast(S32(), hn::Add(hn::Sub(near, up), down));
    }
  }

  // Sums the first `columns` columns of the rows into `to` from position `at` on.
  static HWY_NOINLINE void sum_columns(const T* const* rows, std::int64_t ahead, std::int64_t columns,
                                       Columns& to, std::int64_t at) {
    for_columns<kRows>(D(), rows, ahead, columns, [&](std::int64_t x, const auto& v) HWY_ATTR {
      const D d;
      hn::StoreU(hn::Add(hn::Add(v[0], v[2]), hn::Add(v[1], v[1])), d, to.sums + at + x);
      hn::StoreU(hn::Sub(v[2], v[0]), d, to.differences + at + x);
    });
  }

  template <GradientNorm Norm>
  static HWY_INLINE auto gradient_vector(const Columns& columns, std::int64_t x) {
    const D d;
    const V dx = hn::Sub(hn::LoadU(d, columns.sums + x + 2), hn::LoadU(d, columns.sums + x));
    const V middle = hn::LoadU(d, columns.differences + x + 1);
    const V dy =
        hn::Add(hn::Add(hn::LoadU(d, columns.differences + x), hn::LoadU(d, columns.differences + x + 2)),
                hn::Add(middle, middle));
    if constexpr (Norm == GradientNorm::l1) return hn::DemoteTo(DT(), hn::Add(hn::Abs(dx), hn::Abs(dy)));
    if constexpr (Norm == GradientNorm::l2) return hn::DemoteTo(DT(), rounded_norm(dx, dy));
  }

  template <GradientNorm Norm>
  static HWY_NOINLINE void gradients(const Columns& from, std::int64_t columns, T* out) {
    store_row(DT(), columns, out, [&](std::int64_t x) HWY_ATTR { return gradient_vector<Norm>(from, x); });
  }

  // Computes columns first..end-1 of a row, given its window's rows.
  template <GradientNorm Norm>
  static void chunk(const T* const* rows, std::int64_t ahead, std::int64_t first, std::int64_t end,
                    std::int64_t width, Columns& columns, T* out) {
    const std::int64_t from = std::max<std::int64_t>(0, first - 1);
    const std::int64_t to = std::min(width, end + 1);
    const T* at[kRows];
    for (int i = 0; i < kRows; ++i) at[i] = rows[i] + from;
    sum_columns(at, ahead, to - from, columns, from - first + 1);
    for (const std::int64_t beyond : {std::int64_t{-1}, width}) {
      if (beyond < first - 1 || beyond > end) continue;
      const std::int64_t inside = reflected(beyond, width);
      columns.sums[beyond - first + 1] = columns.sums[inside - first + 1];
      columns.differences[beyond - first + 1] = columns.differences[inside - first + 1];
    }
    gradients<Norm>(columns, end - first, out + first);
  }

  template <GradientNorm Norm>
  static void planes(const StageCall<Host>& call, const Band& band) {
    const FrameType& type = call.in.type;
    Columns columns;
    for_color_planes<T>(call, [&](const auto& in, const auto& out) {
      for_chunks(type.width, kChunk, band, [&](std::int64_t first, std::int64_t end, std::int64_t y) {
        const T* rows[kRows];
        for (int i = 0; i < kRows; ++i) rows[i] = in.row(reflected(y + i - 1, type.height) - band.in_top);
        chunk<Norm>(rows, in.stride, first, end, type.width, columns, out.row(y - band.out_top));
      });
    });
  }
};

template <class T>
void sobel_planes(const StageCall<Host>& call, const Band& band) {
  if (SobelParameters(call.parameters).norm == GradientNorm::l1) {
    Sobel<T>::template planes<GradientNorm::l1>(call, band);
  } else {
    Sobel<T>::template planes<GradientNorm::l2>(call, band);
  }
}

void sobel_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { sobel_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(sobel)
#endif
