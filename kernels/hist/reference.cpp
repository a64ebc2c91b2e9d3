#include <algorithm>

#include "kernels/hist/hist.h"

namespace imgpipe {
namespace {

template <class T>
void hist(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> plane = call.in.plane<T>(static_cast<std::size_t>(c));
    std::uint64_t* counts = call.histogram.row(c);
    std::fill_n(counts, kLargest<T> + 1, 0);
    for (std::int64_t y = 0; y < plane.height; ++y) {
      for (std::int64_t x = 0; x < plane.width; ++x) ++counts[plane.row(y)[x]];
    }
  }
}

}  // namespace

void hist_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { hist<T>(call); });
}

}  // namespace imgpipe
