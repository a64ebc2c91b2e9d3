#include <vector>

#include "kernels/equalize/equalize.h"

namespace imgpipe {

template <class T>
void equalize_table(const std::uint64_t* counts, T* table) {
  constexpr int kMax = kLargest<T>;
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
template void equalize_table(const std::uint64_t* counts, Sample8* table);
template void equalize_table(const std::uint64_t* counts, Sample16* table);

namespace {

template <class T>
void make_tables(const StageCall<Host>& call) {
  for (std::int64_t c = 0; c < call.histogram.height; ++c)
    equalize_table(call.histogram.row(c), call.table.as<T>() + c * call.histogram.width);
}

template <class T>
void equalize_planes(const StageCall<Host>& call) {
  std::vector<T> table(static_cast<std::size_t>(call.in.type.bins()));
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    equalize_table(call.histogram.row(c), table.data());
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = table[in.row(y)[x]];
    }
  }
}

}  // namespace

std::int64_t equalize_table_bytes(const FrameType& in, const Parameters&) {
  return in.color_channels * in.bins() * bytes_per_sample(in.sample);
}

void equalize_tables(const StageCall<Host>& call, const Band&) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { make_tables<T>(call); });
}

void equalize_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { equalize_planes<T>(call); });
}

}  // namespace imgpipe
