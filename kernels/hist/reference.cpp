#include "kernels/hist/hist.h"

namespace imgpipe {

void hist_reference(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const ConstHostPlane plane = call.in.plane<Sample>(static_cast<std::size_t>(c));
    std::uint64_t* counts = call.histogram.row(c);
    for (int bin = 0; bin < kBins; ++bin) counts[bin] = 0;
    for (std::int64_t y = 0; y < plane.height; ++y) {
      for (std::int64_t x = 0; x < plane.width; ++x) ++counts[plane.row(y)[x]];
    }
  }
}

}  // namespace imgpipe
