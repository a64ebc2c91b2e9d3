#include "kernels/posterize/posterize.h"

#include "kernels/pixel.h"

namespace imgpipe {
namespace {

template <class T>
constexpr T posterized(int v, std::int64_t bits) {
  return static_cast<T>(v & ~(kLargest<T> >> bits));
}

static_assert(posterized<Sample8>(255, 1) == 128 && posterized<Sample8>(127, 1) == 0);
static_assert(posterized<Sample8>(0xAB, 3) == 0xA0 && posterized<Sample8>(0xAB, 8) == 0xAB);
static_assert(posterized<Sample16>(0xABCD, 3) == 0xA000 && posterized<Sample16>(0xABCD, 8) == 0xAB00);

}  // namespace

std::string_view posterize_skip_reason(const FrameType& in, const Parameters& parameters) {
  return parameters[0] >= 8 * bytes_per_sample(in.sample) ? "the samples have no more bits than that" : "";
}

void posterize_table(const StageCall<Host>& call, const Band&) {
  visit_sample(call.in.type.sample, [&]<class T>(T) {
    for (int v = 0; v <= kLargest<T>; ++v) call.table.as<T>()[v] = posterized<T>(v, call.parameters[0]);
  });
}

}  // namespace imgpipe
