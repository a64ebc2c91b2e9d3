// Table look-ups in scalar code; the cost is memory latency.
#include <algorithm>

#include "kernels/icc/icc.h"

namespace imgpipe {
namespace {

template <class T>
void convert_rows(const StageCall<Host>& call, const Band& band) {
  const IccHead& head = icc_head(call.parameters);
  const FrameType& type = call.out.type;
  const std::byte* const table = call.table.data;
  const T* const curve = icc_curve<T>(table);
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const auto in = [&](std::size_t plane) { return call.in.plane<T>(plane).row(y - band.in_top); };
    const auto out = [&](std::size_t plane) { return call.out.plane<T>(plane).row(y - band.out_top); };
    if (type.alpha) std::copy_n(in(kAlphaPlane), type.width, out(kAlphaPlane));
    const T* const first = in(0);
    if (head.rule == IccRule::curve) {
      std::transform(first, first + type.width, out(0), [&](T v) { return curve[v]; });
      continue;
    }
    const T* const planes[4] = {first, in(1), in(2), head.inputs == 4 ? in(kAlphaPlane) : first};
    T* const to[3] = {out(0), out(1), out(2)};
    for (std::int64_t x = 0; x < type.width; ++x) {
      const T from[4] = {planes[0][x], planes[1][x], planes[2][x], planes[3][x]};
      T result[3];
      icc_pixel<T>(head, table, from, result);
      for (int c = 0; c < 3; ++c) to[c][x] = result[c];
    }
  }
}

}  // namespace

void icc_cpu(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { convert_rows<T>(call, band); });
}

}  // namespace imgpipe
