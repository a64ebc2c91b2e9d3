// The mirror image: out(x, y) = in(width - 1 - x, y), or in(x, height - 1 - y), for all channels including
// alpha. ImageMagick's -flop (horizontal) and -flip (vertical), cv2.flip with 1 and 0.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

// horizontal: left becomes right; vertical: top becomes bottom.
enum class FlipDirection : std::uint8_t { horizontal, vertical };

struct FlipParameters {
  explicit constexpr FlipParameters(const Parameters& values) : direction(values.as<FlipDirection>(0)) {}
  FlipDirection direction;
};

// Returns the index of the source of pixel or row `i`, out of `count`.
[[nodiscard]] constexpr std::int64_t mirrored(std::int64_t i, std::int64_t count) {
  return count - 1 - i;
}
static_assert(mirrored(0, 5) == 4 && mirrored(2, 5) == 2 && mirrored(0, 1) == 0 && mirrored(3, 4) == 0);

// A vertical flip needs the last input row for the first output row.
[[nodiscard]] bool flip_needs_all_rows(const Parameters& parameters);

// in, out: frames of the same type; either layout, any sample type.
void flip_reference(const StageCall<Host>& call);

// The same; rows are reversed in SIMD.
void flip_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus flip_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
