#include "kernels/resize/filter_axis.h"

#include <algorithm>

#include "kernels/resize/fixed_sine.h"

namespace imgpipe {
namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;

double filter_support(Filter filter) {
  switch (filter) {
    case Filter::box:
      return 0.5;
    case Filter::bilinear:
    case Filter::hamming:
      return 1.0;
    case Filter::bicubic:
      return 2.0;
    case Filter::lanczos:
      return 3.0;
  }
  unreachable();
}

double sinc(double x) {
  if (x == 0.0) return 1.0;
  const double angle = x * kPi;
  return sine(angle) / angle;
}

double hamming(double x) {
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  const double angle = x * kPi;
  return sine(angle) / angle * (double{0.54F} + double{0.46F} * cosine(angle));
}

double bicubic(double x) {
  constexpr double kA = -0.5;
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

double filter_value(Filter filter, double x) {
  const double distance = x < 0.0 ? -x : x;
  switch (filter) {
    case Filter::box:
      return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
    case Filter::bilinear:
      return distance < 1.0 ? 1.0 - distance : 0.0;
    case Filter::hamming:
      return hamming(distance);
    case Filter::bicubic:
      return bicubic(distance);
    case Filter::lanczos:
      return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
  }
  unreachable();
}

// The positions of output samples, in input samples.
class Positions {
 public:
  Positions(const FilterAxis& axis, Filter filter)
      : in_(axis.in),
        from_(axis.from),
        scale_(static_cast<double>(axis.to - axis.from) / static_cast<double>(axis.out)),
        filter_scale_(std::max(scale_, 1.0)),
        support_(filter_support(filter) * filter_scale_) {}

  [[nodiscard]] double center(std::int64_t i) const {
    return from_ + (static_cast<double>(i) + 0.5) * scale_;
  }
  [[nodiscard]] double filter_scale() const { return filter_scale_; }

  [[nodiscard]] FilterTaps taps(std::int64_t i) const {
    // As in Pillow: the sum is rounded before it is truncated.
    // NOLINTBEGIN(bugprone-incorrect-roundings)
    const auto first = static_cast<std::int64_t>(center(i) - support_ + 0.5);
    const auto end = static_cast<std::int64_t>(center(i) + support_ + 0.5);
    // NOLINTEND(bugprone-incorrect-roundings)
    const std::int64_t clipped = std::clamp<std::int64_t>(first, 0, in_ - 1);
    return {static_cast<std::int32_t>(clipped), static_cast<std::int32_t>(std::min(end, in_) - clipped)};
  }

 private:
  std::int64_t in_;
  double from_, scale_, filter_scale_, support_;
};

// Returns the entries of an array of `count` values, rounded up so that its size is a multiple of 16 bytes.
constexpr std::int64_t padded(std::int64_t count) {
  return (count + 3) / 4 * 4;
}

// Returns the greatest count of taps, rounded up to a multiple of four; 0 if the axis does not change.
std::int64_t filter_window(const FilterAxis& axis, Filter filter) {
  if (!axis.changes()) return 0;
  const Positions positions(axis, filter);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < axis.out; ++i) most = std::max<std::int64_t>(most, positions.taps(i).count);
  return padded(most);
}

void store_weight(double weight, double* to) {
  *to = weight;
}

// Rounds half away from zero.
void store_weight(double weight, std::int32_t* to) {
  const double scaled = weight * (1 << kFilterBits);
  *to = static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

template <class Weight>
struct AxisBytes {
  AxisBytes(const FilterAxis& axis, Filter filter)
      : window(filter_window(axis, filter)),
        entries(axis.changes() ? padded(axis.out) : 0),
        bytes(2 * entries * static_cast<std::int64_t>(sizeof(std::int32_t)) +
              (axis.changes() ? axis.out : 0) * window * static_cast<std::int64_t>(sizeof(Weight))) {}

  // Returns a view of the table of this axis at `from`.
  [[nodiscard]] FilterTable<Weight> view(const std::byte* from) const {
    if (entries == 0) return {};
    const auto* first = reinterpret_cast<const std::int32_t*>(from);
    return {first, first + entries, reinterpret_cast<const Weight*>(first + 2 * entries), window};
  }

  std::int64_t window, entries, bytes;
};

// Writes the weights of output sample i.
template <class Weight>
void make_weights(const Positions& positions, Filter filter, std::int64_t i, const FilterTaps& taps,
                  Weight* to) {
  constexpr std::int32_t kStored = 512;  // those of longer windows are computed twice
  double values[kStored];
  const double step = 1.0 / positions.filter_scale();
  const double center = positions.center(i);
  const auto value = [&](std::int32_t j) {
    return filter_value(filter, (j + taps.first - center + 0.5) * step);
  };
  double total = 0.0;
  for (std::int32_t j = 0; j < taps.count; ++j) {
    const double weight = value(j);
    if (j < kStored) values[j] = weight;
    total += weight;
  }
  for (std::int32_t j = 0; j < taps.count; ++j) {
    const double weight = j < kStored ? values[j] : value(j);
    store_weight(total != 0.0 ? weight / total : weight, to + j);
  }
}

template <class Weight>
void make_axis(const FilterAxis& axis, Filter filter, std::byte* to) {
  if (!axis.changes()) return;
  const AxisBytes<Weight> layout(axis, filter);
  std::fill_n(to, layout.bytes, std::byte{0});
  auto* first = reinterpret_cast<std::int32_t*>(to);
  std::int32_t* const count = first + layout.entries;
  auto* weights = reinterpret_cast<Weight*>(count + layout.entries);
  const Positions positions(axis, filter);
  for (std::int64_t i = 0; i < axis.out; ++i, weights += layout.window) {
    const FilterTaps taps = positions.taps(i);
    first[i] = taps.first;
    count[i] = taps.count;
    make_weights(positions, filter, i, taps, weights);
  }
}

template <class Weight>
std::int64_t table_bytes_of(const Resampling& resampling) {
  return AxisBytes<Weight>(resampling.across, resampling.filter).bytes +
         AxisBytes<Weight>(resampling.down, resampling.filter).bytes;
}

template <class Weight>
void make_axes(const Resampling& resampling, std::byte* to) {
  make_axis<Weight>(resampling.across, resampling.filter, to);
  make_axis<Weight>(resampling.down, resampling.filter,
                    to + AxisBytes<Weight>(resampling.across, resampling.filter).bytes);
}

}  // namespace

FilterTaps filter_taps(const FilterAxis& axis, Filter filter, std::int64_t i) {
  return Positions(axis, filter).taps(i);
}

RowRange filter_needs(const FilterAxis& axis, Filter filter, const RowRange& out) {
  if (!axis.changes()) return out;
  const Positions positions(axis, filter);
  const FilterTaps last = positions.taps(out.end - 1);
  return {positions.taps(out.first).first, std::int64_t{last.first} + last.count};
}

std::int64_t filter_table_bytes(const Resampling& resampling, Sample sample) {
  return is_wide(sample) ? table_bytes_of<FilterWeight<Sample16>>(resampling)
                         : table_bytes_of<FilterWeight<Sample8>>(resampling);
}

void make_filter_table(const Resampling& resampling, Sample sample, std::byte* to) {
  visit_sample(sample, [&]<class T>(T) { make_axes<FilterWeight<T>>(resampling, to); });
}

template <class Weight>
FilterTables<Weight> filter_tables(const Resampling& resampling, const std::byte* from) {
  const AxisBytes<Weight> across(resampling.across, resampling.filter);
  const AxisBytes<Weight> down(resampling.down, resampling.filter);
  return {across.view(from), down.view(from + across.bytes)};
}
template FilterTables<std::int32_t> filter_tables(const Resampling&, const std::byte*);
template FilterTables<double> filter_tables(const Resampling&, const std::byte*);

}  // namespace imgpipe
