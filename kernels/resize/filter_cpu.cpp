// Pillow's filters in SIMD. Both passes compute weighted sums of lines, a vector of samples at a time:
//
//   down     lines are rows.
//   across   lines are columns of a block of rows, as many as a vector holds: transposed before and after.
//
// The first pass makes rows for the second one on demand, in caches of lines.
#include <algorithm>
#include <cstring>

#include "kernels/resize/filter_alpha.h"
#include "kernels/resize/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/filter_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/resize/filter_lines-inl.h"
#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kCacheBytes = 64 << 10;  // both passes' caches fit into the second-level cache
constexpr std::int64_t kChunkBytes = 256;       // of a row in a cache of rows

// A rectangle of samples that a pass makes.
struct Region {
  std::int64_t x, y, columns, rows;
};

// The lines begin..end-1 of an axis.
template <class T>
class LineCache {
 public:
  // Empties the cache for `limit` lines of `samples` samples, which are made in multiples of `step` where
  // possible.
  void reset(std::int64_t samples, std::int64_t limit, std::int64_t step) {
    begin_ = end_ = 0;
    stride_ = (samples + lanes_of(D()) - 1) / lanes_of(D()) * lanes_of(D());
    capacity_ = kSamples / stride_;
    limit_ = limit;
    step_ = step;
  }

  // fill(first, count, to, stride) makes lines.
  template <class Fill>
  Lines<T> lines(std::int64_t first, std::int64_t count, const Fill& fill) {
    if (first < begin_ || std::min(first + count, first + capacity_) > end_) {
      const std::int64_t kept = first >= begin_ && first < end_ ? end_ - first : 0;
      if (kept > 0)
        std::memmove(samples_, samples_ + (first - begin_) * stride_,
                     static_cast<std::size_t>(kept * stride_) * sizeof(T));
      begin_ = first;
      end_ = first + kept;
      const std::int64_t missing = std::min(count, capacity_) - kept;
      std::int64_t made = std::min(capacity_ - kept, limit_ - end_);
      if (made - made % step_ >= missing) made -= made % step_;
      fill(end_, made, samples_ + kept * stride_, stride_);
      end_ += made;
    }
    return {samples_ + (first - begin_) * stride_, stride_, std::min(count, end_ - first)};
  }

 private:
  using D = typename LineSums<T>::D;
  static constexpr auto kSamples = kCacheBytes / static_cast<std::int64_t>(sizeof(T));

  std::int64_t begin_ = 0, end_ = 0, stride_ = 1, capacity_ = 0, limit_ = 0, step_ = 1;
  // A block that is transposed may end beyond the last line.
  HWY_ALIGN T samples_[kSamples + kBlock<T> * hn::MaxLanes(D())];
};

// ---- alpha ------------------------------------------------------------------------------------------

void multiply_row(const Sample8* colors, const Sample8* alphas, std::int64_t count, Sample8* to) {
  const D16 d;
  const std::int64_t lanes = lanes_of(d);
  std::int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    const V16 product = hn::Add(hn::Mul(load_as(d, colors + x), load_as(d, alphas + x)), hn::Set(d, 128));
    store_as(d, hn::ShiftRight<8>(hn::Add(hn::ShiftRight<8>(product), product)), to + x);
  }
  for (; x < count; ++x) to[x] = premultiplied(colors[x], alphas[x]);
}

// The quotient of floats is exact: its error is less than the distance of a fraction of `alpha` to the next
// integer.
void divide_row(const Sample8* alphas, std::int64_t count, Sample8* colors) {
  const DFloat d;
  const std::int64_t lanes = lanes_of(d);
  const VFloat white = hn::Set(d, float{kMaxSample});
  std::int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    const VFloat alpha = load_as(d, alphas + x);
    const VFloat divisor = hn::IfThenElse(hn::Eq(alpha, hn::Zero(d)), white, alpha);
    const VFloat quotient = hn::Div(hn::Mul(load_as(d, colors + x), white), divisor);
    store_as(d, hn::Min(quotient, white), colors + x);
  }
  for (; x < count; ++x) colors[x] = unpremultiplied(colors[x], alphas[x]);
}

// ---- sources of rows: make(region, to, stride) writes samples --------------------------------------------

// The rows of a plane; with alpha, its samples are multiplied by it.
template <class T>
struct ImageRows {
  static constexpr auto kPrefetched = 512 / static_cast<std::int64_t>(sizeof(T));

  Plane<const T, Host> plane, alpha;
  std::int64_t top;  // the row of the image at which the planes begin

  void make(const Region& region, T* to, std::int64_t stride) {
    for (std::int64_t y = 0; y < region.rows; ++y) {
      const std::int64_t from = region.y + y - top;
      const T* const row = plane.row(from) + region.x;
      T* const line = to + y * stride;
      hwy::Prefetch(row + kPrefetched);  // the rows of a block are too many for the hardware's prefetchers
      if (alpha.empty()) {
        std::memcpy(line, row, static_cast<std::size_t>(region.columns) * sizeof(T));
      } else if constexpr (!kIsWide<T>) {
        multiply_row(row, alpha.row(from) + region.x, region.columns, line);
      }
    }
  }
};

template <class T, class Source>
class RowsDown {
 public:
  // `step`: the number of rows that the source makes at once.
  RowsDown(const FilterTable<FilterWeight<T>>& table, Source& source, std::int64_t step)
      : table_(table), source_(source), step_(step) {}

  void make(const Region& region, T* to, std::int64_t stride) {
    const std::int64_t last = region.y + region.rows - 1;
    const std::int64_t limit = std::int64_t{table_.first[last]} + table_.count[last];
    // As many columns as leave space for a window and a step.
    const auto lanes = lanes_of(typename LineSums<T>::D());
    const std::int64_t fitting =
        kCacheBytes / static_cast<std::int64_t>(sizeof(T)) / (table_.window + step_) / lanes * lanes;
    const std::int64_t chunk = std::clamp(fitting, lanes, kChunkBytes / static_cast<std::int64_t>(sizeof(T)));
    for (std::int64_t x = 0; x < region.columns; x += chunk) {
      const std::int64_t columns = std::min(chunk, region.columns - x);
      cache_.reset(columns, limit, step_);
      CachedRows rows{*this, region.x + x, columns};
      for (std::int64_t y = 0; y < region.rows; ++y)
        filter_line<T>(table_, region.y + y, rows, columns, to + y * stride + x);
    }
  }

 private:
  struct CachedRows {
    RowsDown& pass;
    std::int64_t x, columns;

    Lines<T> lines(std::int64_t first, std::int64_t count) {
      return pass.cache_.lines(first, count,
                               [&](std::int64_t y, std::int64_t rows, T* to, std::int64_t stride) HWY_ATTR {
                                 pass.source_.make({x, y, columns, rows}, to, stride);
                               });
    }
  };

  FilterTable<FilterWeight<T>> table_;
  Source& source_;
  std::int64_t step_;
  LineCache<T> cache_;
};

template <class T, class Source>
class RowsAcross {
 public:
  RowsAcross(const FilterTable<FilterWeight<T>>& table, Source& source) : table_(table), source_(source) {}

  void make(const Region& region, T* to, std::int64_t stride) {
    const std::int64_t lanes = lanes_of(D());
    for (std::int64_t y = 0; y < region.rows; y += lanes) {
      const std::int64_t rows = std::min(lanes, region.rows - y);
      make_block({region.x, region.y + y, region.columns, rows}, to + y * stride, stride);
    }
  }

 private:
  using D = typename LineSums<T>::D;
  static constexpr std::int64_t kSide = kBlock<T>;
  static constexpr auto kMaxRows = static_cast<std::int64_t>(hn::MaxLanes(D()));
  static constexpr std::int64_t kColumns = 64 / static_cast<std::int64_t>(sizeof(T));  // transposed at once

  // Makes at most as many rows as a vector has lanes.
  void make_block(const Region& region, T* to, std::int64_t stride) {
    const std::int64_t lanes = lanes_of(D());
    const std::int64_t last = region.x + region.columns - 1;
    cache_.reset(lanes, std::int64_t{table_.first[last]} + table_.count[last], 1);
    CachedColumns columns{*this, region.y, region.rows};
    HWY_ALIGN T made[kSide * kMaxRows];
    HWY_ALIGN T rows[kMaxRows * kSide];
    for (std::int64_t x = 0; x < region.columns; x += kSide) {
      const std::int64_t count = std::min(kSide, region.columns - x);
      for (std::int64_t i = 0; i < count; ++i)
        filter_line<T>(table_, region.x + x + i, columns, lanes, made + i * lanes);
      for (std::int64_t y = 0; y < region.rows; y += kSide)
        transpose_block(made + y, lanes, rows + y * kSide, kSide);
      for (std::int64_t y = 0; y < region.rows; ++y)
        std::memcpy(to + y * stride + x, rows + y * kSide, static_cast<std::size_t>(count) * sizeof(T));
    }
  }

  struct CachedColumns {
    RowsAcross& pass;
    std::int64_t y, rows;

    Lines<T> lines(std::int64_t first, std::int64_t count) {
      return pass.cache_.lines(
          first, count, [&](std::int64_t x, std::int64_t columns, T* to, std::int64_t stride) HWY_ATTR {
            pass.transpose({x, y, columns, rows}, to, stride);
          });
    }
  };

  // Writes the columns of a region of the source as lines.
  void transpose(const Region& region, T* to, std::int64_t stride) {
    HWY_ALIGN T rows[kMaxRows * kColumns];
    for (std::int64_t x = 0; x < region.columns; x += kColumns) {
      const std::int64_t count = std::min(kColumns, region.columns - x);
      source_.make({region.x + x, region.y, count, region.rows}, rows, kColumns);
      for (std::int64_t block = 0; block < count; block += kSide) {
        for (std::int64_t y = 0; y < region.rows; y += kSide)
          transpose_block(rows + y * kColumns + block, kColumns, to + (x + block) * stride + y, stride);
      }
    }
  }

  FilterTable<FilterWeight<T>> table_;
  Source& source_;
  LineCache<T> cache_;
};

// ---- passes -----------------------------------------------------------------------------------------

// Makes the rows of a band, all columns.
template <class T>
void filter_band(ImageRows<T>& image, const FilterTables<FilterWeight<T>>& tables, bool down_is_first,
                 const Plane<T, Host>& out, const Band& band) {
  const Region region{0, band.first, out.width, band.end - band.first};
  T* const to = out.row(band.first - band.out_top);
  if (tables.across.window == 0 && tables.down.window == 0) {
    image.make(region, to, out.stride);
  } else if (tables.down.window == 0) {
    RowsAcross<T, ImageRows<T>>(tables.across, image).make(region, to, out.stride);
  } else if (tables.across.window == 0) {
    RowsDown<T, ImageRows<T>>(tables.down, image, 1).make(region, to, out.stride);
  } else if (down_is_first) {
    RowsDown<T, ImageRows<T>> first(tables.down, image, 1);
    RowsAcross<T, decltype(first)>(tables.across, first).make(region, to, out.stride);
  } else {
    RowsAcross<T, ImageRows<T>> first(tables.across, image);
    RowsDown<T, decltype(first)>(tables.down, first, lanes_of(typename LineSums<T>::D()))
        .make(region, to, out.stride);
  }
}

void divide_by_alpha(const Plane<Sample8, Host>& alpha, const Plane<Sample8, Host>& out, const Band& band) {
  for (std::int64_t y = band.first - band.out_top; y < band.end - band.out_top; ++y)
    divide_row(alpha.row(y), out.width, out.row(y));
}

template <class T>
void filter_planes(const StageCall<Host>& call, const Band& band, const Resampling& resampling) {
  const FrameType& type = call.in.type;
  const auto tables = filter_tables<FilterWeight<T>>(resampling, call.table.data);
  const bool multiply = premultiplies(type, resampling);
  // Alpha first: the colours are divided by it.
  for (int c = type.channels() - 1; c >= 0; --c) {
    const std::size_t number = plane_of_channel(type, c);
    const bool color = multiply && number != kAlphaPlane;
    ImageRows<T> image{call.in.plane<T>(number), {}, band.in_top};
    if (color) image.alpha = call.in.plane<T>(kAlphaPlane);
    const auto out = call.out.plane<T>(number);
    filter_band<T>(image, tables, down_first(resampling), out, band);
    if constexpr (!kIsWide<T>) {
      if (color) divide_by_alpha(call.out.plane<T>(kAlphaPlane), out, band);
    }
  }
}

void resize_filter_rows(const StageCall<Host>& call, const Band& band) {
  const Resampling resampling = resampling_of(call.in.type, call.parameters);
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { filter_planes<T>(call, band, resampling); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(resize_filter)
#endif
