#include <array>

#include "kernels/equalize/equalize.h"

namespace imgpipe {

bool equalize_reads_histogram(const Parameters&) {
  return true;
}

template <class T>
void equalize_table(const std::uint64_t* counts, T* table) {
  constexpr int kMax = max_sample(sample_type_of<T>);
  std::uint64_t total = 0;
  for (int v = 0; v <= kMax; ++v) total += counts[v];
  int first = 0;
  while (first < kMax && counts[first] == 0) ++first;
  const std::uint64_t others = total - counts[first];
  if (others == 0) {
    for (int v = 0; v <= kMax; ++v) table[v] = static_cast<T>(v);
    return;
  }
  const float scale = equalize_scale(kMax, others);
  for (int v = 0; v <= first; ++v) table[v] = 0;
  std::uint64_t sum = 0;
  for (int v = first + 1; v <= kMax; ++v) {
    sum += counts[v];
    table[v] = static_cast<T>(equalized(sum, scale, kMax));
  }
}
template void equalize_table(const std::uint64_t* counts, std::uint8_t* table);
template void equalize_table(const std::uint64_t* counts, std::uint16_t* table);

void equalize_reference(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    std::array<Sample, kBins> table{};
    equalize_table(call.histogram.row(c), table.data());
    const ConstHostPlane in = call.in.plane<Sample>(static_cast<std::size_t>(c));
    const HostPlane out = call.out.plane<Sample>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = table[in.row(y)[x]];
    }
  }
}

}  // namespace imgpipe
