#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"

namespace imgpipe {

bool contrast_reads_histogram(const Parameters&) {
  return true;
}

StretchRange stretch_range(const Histogram<Host>& histogram, const ContrastParameters& parameters, int c) {
  std::array<std::uint64_t, kBins> counts{};
  std::uint64_t pixels = 0;
  for (std::int64_t plane = 0; plane < histogram.height; ++plane) {
    if (parameters.stretch == Stretch::each && plane != c) continue;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      counts[bin] += histogram.row(plane)[bin];
      pixels += histogram.row(plane)[bin];
    }
  }
  const std::uint64_t clip_low = clip_count(pixels, parameters.clip_low);
  const std::uint64_t clip_high = clip_count(pixels, parameters.clip_high);
  StretchRange range{0, kBins - 1};
  std::uint64_t below = counts[0];
  while (below <= clip_low && range.lo < kBins - 1) below += counts[static_cast<std::size_t>(++range.lo)];
  std::uint64_t above = counts[kBins - 1];
  while (above <= clip_high && range.hi > 0) above += counts[static_cast<std::size_t>(--range.hi)];
  return range;
}

void contrast_reference(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const StretchRange range = stretch_range(call.histogram, ContrastParameters(call.parameters), c);
    const ConstHostPlane in = call.in.plane<Sample>(static_cast<std::size_t>(c));
    const HostPlane out = call.out.plane<Sample>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        out.row(y)[x] = stretched(in.row(y)[x], range.lo, range.hi);
      }
    }
  }
}

}  // namespace imgpipe
