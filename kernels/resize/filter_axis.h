// The weights of Pillow's filters along one axis (docs/pixels.md#resize). Tables are computed on the host
// only, by operations that round alike on every machine: no library function, no contraction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/frame.h"

namespace imgpipe {

enum class Filter : std::uint8_t { box, bilinear, hamming, bicubic, lanczos };
// Versions of Pillow that differ in the order of the passes.
enum class FilterRule : std::uint8_t { pillow13, pillow12 };

// The part from..to of `in` input samples becomes `out` output samples; 0 <= from < to <= in. Pillow stores
// the edges as floats.
struct FilterAxis {
  constexpr FilterAxis(std::int64_t in_size, std::int64_t out_size)
      : FilterAxis(in_size, out_size, 0.0F, static_cast<float>(in_size)) {}
  constexpr FilterAxis(std::int64_t in_size, std::int64_t out_size, float from_edge, float to_edge)
      : in(in_size), out(out_size), from(from_edge), to(to_edge) {}

  // Whether the axis needs a pass; otherwise, output and input samples are the same.
  [[nodiscard]] constexpr bool changes() const {
    return out != in || from != 0.0F || to != static_cast<float>(out);
  }

  std::int64_t in, out;
  float from, to;
};

// A resize by a filter.
struct Resampling {
  FilterAxis across, down;
  Filter filter = Filter::bicubic;
  FilterRule rule = FilterRule::pillow13;
};

// Whether the pass down the columns is the first one. Only relevant if both axes change, because the samples
// between the passes are rounded.
[[nodiscard]] constexpr bool down_first(const Resampling& resampling) {
  const FilterAxis& across = resampling.across;
  const FilterAxis& down = resampling.down;
  switch (resampling.rule) {
    case FilterRule::pillow13:
      return down.out < down.in && down.in - down.out > 2 * (across.in - across.out);
    case FilterRule::pillow12:  // Image.resize resizes very tall images in two calls
      return down.out < down.in && down.in > 100 * across.in;
  }
  unreachable();
}

// Whether the colours are multiplied by alpha before the first pass, and divided by it after the last one.
[[nodiscard]] constexpr bool premultiplies(const FrameType& in, const Resampling& resampling) {
  return in.alpha && !is_wide(in.sample) && (resampling.across.changes() || resampling.down.changes());
}

// The input samples with weights of an output sample.
struct FilterTaps {
  std::int32_t first = 0, count = 0;
};
[[nodiscard]] FilterTaps filter_taps(const FilterAxis& axis, Filter filter, std::int64_t i);
// Returns the input samples that output samples first..end-1 need; both ends are monotonic. first < end.
[[nodiscard]] RowRange filter_needs(const FilterAxis& axis, Filter filter, const RowRange& out);

// ---- tables -----------------------------------------------------------------------------------------

inline constexpr int kFilterBits = 22;  // of the fraction of integer weights

// 8-bit samples have integer weights, times 2^kFilterBits; 16-bit samples have unrounded weights.
template <class T>
using FilterWeight = std::conditional_t<kIsWide<T>, double, std::int32_t>;

// Row i of `weights` has `window` entries: the weights of input samples first[i] .. first[i] + count[i] - 1,
// then zeros. Of an axis that does not change, all members are 0.
template <class Weight>
struct FilterTable {
  const std::int32_t* first = nullptr;
  const std::int32_t* count = nullptr;
  const Weight* weights = nullptr;
  std::int64_t window = 0;  // a multiple of 4
};

template <class Weight>
struct FilterTables {
  FilterTable<Weight> across, down;
};

// Returns the size of a table in memory. The arrays follow each other, aligned to 16 bytes: first, count and
// weights of the axis across, then those of the axis down. Takes time proportional to the output's sides.
[[nodiscard]] std::int64_t filter_table_bytes(const Resampling& resampling, Sample sample);
// Writes the table to `to`, which is aligned to 16 bytes.
void make_filter_table(const Resampling& resampling, Sample sample, std::byte* to);
// Returns views of a table, which may be in device memory: reads nothing.
template <class Weight>
[[nodiscard]] FilterTables<Weight> filter_tables(const Resampling& resampling, const std::byte* from);
extern template FilterTables<std::int32_t> filter_tables(const Resampling&, const std::byte*);
extern template FilterTables<double> filter_tables(const Resampling&, const std::byte*);

}  // namespace imgpipe
