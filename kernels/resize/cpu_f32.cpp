// resize of floats in SIMD where whole rows are processed, structured like cpu.cpp.
#include <algorithm>

#include "kernels/resize/float_axis.h"
#include "kernels/resize/host_plane.h"
#include "kernels/resize/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/cpu_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kFloatColumns = 2048;  // processed together: 8 KiB per row

// ---- linear -----------------------------------------------------------------------------------------

float share_of(const AxisTable& table, std::int64_t i) {
  return float_of_bits(static_cast<std::uint32_t>(table.share[i]));
}

// Two input rows, blended horizontally on demand.
class BlendedFloats {
 public:
  // Columns first..end-1 of the output.
  const float* row(const ResizePlane<float>& plane, std::int64_t source, std::int64_t first,
                   std::int64_t end) {
    const auto slot = static_cast<std::size_t>(source % 2);
    if (holds_[slot] == source) return values_[slot];
    const float* from = plane.from(source);
    const AxisTable& table = plane.tables.across;
    for (std::int64_t x = first; x < end; ++x) {
      const float share = share_of(table, x);
      const float* at = from + table.source[x];
      values_[slot][x - first] = float_blended(at[0], share > 0 ? at[1] : 0.0F, share);
    }
    holds_[slot] = source;
    return values_[slot];
  }

 private:
  std::int64_t holds_[2] = {-1, -1};
  alignas(64) float values_[2][kFloatColumns + hn::MaxLanes(DFloat())];
};

void blend_rows(const float* first, const float* second, float share, std::int64_t count, float* to) {
  const DFloat d;
  store_row(d, count, to, [&](std::int64_t x) HWY_ATTR {
    const VFloat upper = hn::LoadU(d, first + x);
    if (share == 0.0F) return canonical(upper);
    const VFloat lower = hn::Mul(hn::Set(d, share), hn::LoadU(d, second + x));
    return canonical(hn::Add(hn::Mul(hn::Set(d, 1.0F - share), upper), lower));
  });
}

void linear_plane(const ResizePlane<float>& plane) {
  for (std::int64_t first = 0; first < plane.out.width; first += kFloatColumns) {
    const std::int64_t end = std::min(plane.out.width, first + kFloatColumns);
    BlendedFloats rows;
    for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
      const std::int64_t source = plane.tables.down.source[y];
      const float share = share_of(plane.tables.down, y);
      const float* upper = rows.row(plane, source, first, end);
      const float* lower = share > 0 ? rows.row(plane, source + 1, first, end) : upper;
      blend_rows(upper, lower, share, end - first, plane.to(y) + first);
    }
  }
}

// ---- area -------------------------------------------------------------------------------------------

FloatCover cover_of(const AxisTable& table, std::int64_t i, const AreaUnits& units) {
  return float_cover({table.source[i], table.share[i]}, {table.source[i + 1], table.share[i + 1]}, units);
}

// Computes the means of columns column..column + columns - 1 over the rows that an output row covers.
void average_rows(const ResizePlane<float>& plane, const FloatCover& down, std::int64_t column,
                  std::int64_t columns, float* means) {
  const DFloat d;
  const float* top = plane.from(down.first) + column;
  const std::int64_t stride = plane.in.stride;
  const std::int64_t rows = down.last - down.first;  // excluding the first
  const VFloat first_weight = hn::Set(d, down.first_weight);
  const VFloat last_weight = hn::Set(d, down.last_weight);
  const VFloat length = hn::Set(d, down.length);
  const auto mean = [&](const auto& load) HWY_ATTR {
    VFloat sum = hn::Mul(first_weight, load(0));
    for (std::int64_t j = 1; j < rows; ++j) sum = hn::Add(sum, load(j));
    if (rows > 0) sum = hn::Add(sum, hn::Mul(last_weight, load(rows)));
    return hn::Div(sum, length);
  };
  const std::int64_t lanes = lanes_of(d);
  std::int64_t x = 0;
  for (; x + lanes <= columns; x += lanes)
    hn::StoreU(mean([&](std::int64_t j) HWY_ATTR { return hn::LoadU(d, top + j * stride + x); }), d,
               means + x);
  for (; x < columns; ++x)
    hn::StoreU(mean([&](std::int64_t j) HWY_ATTR { return hn::Set(d, top[j * stride + x]); }), d, means + x);
}

// Computes pixels from the means of their columns; a pixel may extend over several chunks of columns.
class PixelSum {
 public:
  explicit PixelSum(const ResizePlane<float>& plane) : plane_(plane) {}

  // means[i] is the mean of column first + i, for columns below `end`. Writes all pixels that end before it.
  void add(const float* means, std::int64_t first, std::int64_t end, float* to) {
    for (; x_ < plane_.out.width; ++x_) {
      const FloatCover cover = cover_of(plane_.tables.across, x_, plane_.across);
      for (std::int64_t i = std::max(cover.first, first); i < std::min(cover.last + 1, end); ++i) {
        const float weighed = cover.weight_of(i) * means[i - first];
        sum_ = i == cover.first ? weighed : sum_ + weighed;
      }
      if (cover.last >= end) return;
      to[x_] = imgpipe::canonical(sum_ / cover.length);
    }
  }

 private:
  const ResizePlane<float>& plane_;
  std::int64_t x_ = 0;  // the next pixel to write
  float sum_ = 0;       // its sum so far
};

void area_plane(const ResizePlane<float>& plane) {
  alignas(64) float means[kFloatColumns + hn::MaxLanes(DFloat())];
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
    const FloatCover down = cover_of(plane.tables.down, y, plane.down);
    PixelSum sum(plane);
    for (std::int64_t first = 0; first < plane.in.width; first += kFloatColumns) {
      const std::int64_t end = std::min(plane.in.width, first + kFloatColumns);
      average_rows(plane, down, first, end - first, means);
      sum.add(means, first, end, plane.to(y));
    }
  }
}

void resize_f32_rows(const StageCall<Host>& call, const Band& band) {
  const FrameType& in = call.in.type;
  const FrameType& out = call.out.type;
  for (int c = 0; c < out.channels(); ++c) {
    const std::size_t number = plane_of_channel(out, c);
    const ResizePlane<float> plane{call.in.plane<float>(number),
                                   call.out.plane<float>(number),
                                   band,
                                   resize_tables(call.table.as<std::int32_t>(), out.width, out.height),
                                   area_units({in.width, out.width}),
                                   area_units({in.height, out.height})};
    switch (ResizeParameters(call.parameters).method) {
      case ResizeMethod::linear:
        linear_plane(plane);
        break;
      case ResizeMethod::area:
        area_plane(plane);
        break;
      case ResizeMethod::nearest:
        nearest_plane(plane);
        break;
      case ResizeMethod::box:
      case ResizeMethod::bilinear:
      case ResizeMethod::hamming:
      case ResizeMethod::bicubic:
      case ResizeMethod::lanczos:
        unreachable();
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(resize_f32)
#endif
