#include "kernels/hist/hist.h"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {

// Each function adds the counts of its part, a band of rows or a range of bins, to the histogram.
template <class T>
void hist_private(const StageCall<Host>& call, const Band& band) {
  const auto plane = call.in.plane<T>(0);
  std::uint64_t* counts = call.histogram.row(0);
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const T* row = plane.row(y - band.in_top);
    for (std::int64_t x = 0; x < plane.width; ++x) ++counts[row[x]];
  }
}

template <class T>
void hist_bin_range(const StageCall<Host>& call, const Share& share) {
  constexpr std::int64_t kValues = kLargest<T> + 1;
  const auto plane = call.in.plane<T>(0);
  std::uint64_t* counts = call.histogram.row(0);
  const auto first = static_cast<int>(kValues * share.index / share.count);
  const auto bins = static_cast<unsigned>(kValues * (share.index + 1) / share.count - first);
  for (std::int64_t y = 0; y < plane.height; ++y) {
    for (std::int64_t x = 0; x < plane.width; ++x) {
      const int value = plane.row(y)[x];
      if (static_cast<unsigned>(value - first) < bins) ++counts[value];
    }
  }
}

template void hist_private<Sample8>(const StageCall<Host>&, const Band&);
template void hist_private<Sample16>(const StageCall<Host>&, const Band&);
template void hist_bin_range<Sample8>(const StageCall<Host>&, const Share&);
template void hist_bin_range<Sample16>(const StageCall<Host>&, const Share&);

}  // namespace imgpipe
