#include "kernels/resize/filter_alpha.h"
#include "kernels/resize/filter_sum.h"
#include "kernels/resize/resize.h"

namespace imgpipe {
namespace {

// Returns output sample i of a pass; value(j) is input sample j.
template <class T, class Value>
T filtered(const FilterTable<FilterWeight<T>>& table, std::int64_t i, const Value& value) {
  if (table.window == 0) return value(i);
  const FilterWeight<T>* const weights = table.weights + i * table.window;
  FilterWeight<T> sum = 0;
  for (std::int32_t j = 0; j < table.count[i]; ++j) sum += weights[j] * value(table.first[i] + j);
  return filter_rounded(sum);
}

// value(x, y) is a sample of the input. Computes the first pass anew for each sample of the second one, which
// needs no memory for the image between them.
template <class T, class Value>
void filter_plane(const Plane<T, Host>& out, const FilterTables<FilterWeight<T>>& tables, bool down_is_first,
                  const Value& value) {
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::int64_t x = 0; x < out.width; ++x) {
      const auto across = [&](std::int64_t j) {
        return filtered<T>(tables.across, x, [&](std::int64_t i) { return value(i, j); });
      };
      const auto down = [&](std::int64_t i) {
        return filtered<T>(tables.down, y, [&](std::int64_t j) { return value(i, j); });
      };
      out.row(y)[x] =
          down_is_first ? filtered<T>(tables.across, x, down) : filtered<T>(tables.down, y, across);
    }
  }
}

// Filters the colours multiplied by alpha, and divides them by the new alpha.
void filter_transparent(const StageCall<Host>& call, const FilterTables<std::int32_t>& tables,
                        bool down_is_first) {
  const auto alpha = call.in.plane<Sample8>(kAlphaPlane);
  const auto out_alpha = call.out.plane<Sample8>(kAlphaPlane);
  filter_plane(out_alpha, tables, down_is_first,
               [&](std::int64_t x, std::int64_t y) { return alpha.row(y)[x]; });
  for (std::size_t c = 0; c < static_cast<std::size_t>(call.in.type.color_channels); ++c) {
    const auto in = call.in.plane<Sample8>(c);
    const auto out = call.out.plane<Sample8>(c);
    filter_plane(out, tables, down_is_first, [&](std::int64_t x, std::int64_t y) {
      return premultiplied(in.row(y)[x], alpha.row(y)[x]);
    });
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x)
        out.row(y)[x] = unpremultiplied(out.row(y)[x], out_alpha.row(y)[x]);
    }
  }
}

template <class T>
void filter_planes(const StageCall<Host>& call, const Resampling& resampling) {
  const auto tables = filter_tables<FilterWeight<T>>(resampling, call.table.data);
  const bool down_is_first = down_first(resampling);
  if constexpr (!kIsWide<T>) {
    if (premultiplies(call.in.type, resampling)) {
      filter_transparent(call, tables, down_is_first);
      return;
    }
  }
  for (int c = 0; c < call.in.type.channels(); ++c) {
    const auto in = call.in.plane<T>(plane_of_channel(call.in.type, c));
    filter_plane(call.out.plane<T>(plane_of_channel(call.in.type, c)), tables, down_is_first,
                 [&](std::int64_t x, std::int64_t y) { return in.row(y)[x]; });
  }
}

}  // namespace

void resize_filter_reference(const StageCall<Host>& call) {
  const Resampling resampling = resampling_of(call.in.type, call.parameters);
  visit_sample(call.in.type.sample, [&]<class T>(T) { filter_planes<T>(call, resampling); });
}

}  // namespace imgpipe
