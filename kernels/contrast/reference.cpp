#include <numeric>

#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

template <class From, class To>
void contrast(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const StretchRange range = stretch_range(call.histogram, ContrastParameters(call.parameters), c);
    const Plane<const From, Host> in = call.in.plane<From>(static_cast<std::size_t>(c));
    const Plane<To, Host> out = call.out.plane<To>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        out.row(y)[x] = stretched<To, From>(in.row(y)[x], range.lo, range.hi);
      }
    }
  }
  if (!call.in.type.alpha) return;
  const Plane<const From, Host> in = call.in.plane<From>(kAlphaPlane);
  const Plane<To, Host> out = call.out.plane<To>(kAlphaPlane);
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = converted<To>(in.row(y)[x]);
  }
}

}  // namespace

bool contrast_sums_planes(const Parameters& parameters) {
  return ContrastParameters(parameters).stretch == Stretch::joint;
}

std::string_view contrast_infer(const FrameType&, const Parameters& parameters, FrameType& out) {
  const StretchTo to = ContrastParameters(parameters).to;
  if (to != StretchTo::same) out.sample = to == StretchTo::u16 ? Sample::u16 : Sample::u8;
  return {};
}

StretchRange stretch_range(const Histogram<Host>& histogram, const ContrastParameters& parameters, int c) {
  const std::int64_t first = parameters.stretch == Stretch::each ? c : 0;
  const std::int64_t end = parameters.stretch == Stretch::each ? c + 1 : histogram.height;
  const auto count_of = [&](int bin) {
    std::uint64_t count = 0;
    for (std::int64_t plane = first; plane < end; ++plane) count += histogram.row(plane)[bin];
    return count;
  };
  const int last = static_cast<int>(histogram.width) - 1;
  std::uint64_t pixels = 0;
  for (std::int64_t plane = first; plane < end; ++plane)
    pixels = std::accumulate(histogram.row(plane), histogram.row(plane) + histogram.width, pixels);
  const std::uint64_t clip_low = clip_count(pixels, parameters.clip_low);
  const std::uint64_t clip_high = clip_count(pixels, parameters.clip_high);
  StretchRange range{0, last};
  std::uint64_t below = count_of(0);
  while (below <= clip_low && range.lo < last) below += count_of(++range.lo);
  std::uint64_t above = count_of(last);
  while (above <= clip_high && range.hi > 0) above += count_of(--range.hi);
  return range;
}

std::int64_t stretch_ranges_bytes(const FrameType& in, const Parameters&) {
  return in.color_channels * static_cast<std::int64_t>(sizeof(StretchRange));
}

void stretch_ranges(const StageCall<Host>& call, const Band&) {
  const ContrastParameters parameters(call.parameters);
  for (int c = 0; c < call.in.type.color_channels; ++c)
    call.table.as<StretchRange>()[c] = stretch_range(call.histogram, parameters, c);
}

void contrast_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class From>(From) {
    visit_sample(call.out.type.sample, [&]<class To>(To) { contrast<From, To>(call); });
  });
}

}  // namespace imgpipe
