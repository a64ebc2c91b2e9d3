#include <array>

#include "kernels/equalize/equalize.h"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {

// Divides for every pixel.
void equalize_by_division(const StageCall<Host>& call, const Band& band) {
  const ConstHostPlane in = call.in.plane<Sample8>(0);
  const HostPlane out = call.out.plane<Sample8>(0);
  const std::uint64_t* counts = call.histogram.row(0);
  std::array<std::uint64_t, kBins> not_above{};
  std::uint64_t samples = 0;
  for (std::size_t v = 0; v < kBins; ++v) not_above[v] = samples += counts[v];
  std::size_t least = 0;
  while (counts[least] == 0) ++least;
  const std::uint64_t others = samples - counts[least];
  for (std::int64_t y = band.first; y < band.end; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      const Sample8 value = in.row(y)[x];
      out.row(y)[x] = others == 0
                          ? value
                          : static_cast<Sample8>(equalized(not_above[value] - counts[least],
                                                           equalize_scale(kMaxSample, others), kMaxSample));
    }
  }
}

// Makes the table once per band; every pixel is a lookup.
void equalize_by_table(const StageCall<Host>& call, const Band& band) {
  const ConstHostPlane in = call.in.plane<Sample8>(0);
  const HostPlane out = call.out.plane<Sample8>(0);
  std::array<Sample8, kBins> table{};
  equalize_table(call.histogram.row(0), table.data());
  for (std::int64_t y = band.first; y < band.end; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = table[in.row(y)[x]];
  }
}

}  // namespace imgpipe
