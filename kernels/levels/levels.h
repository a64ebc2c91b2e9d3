// Levels: spreads the values between the given lo and hi over all values, as contrast with one range for a
// whole series of images. A table of all results is made once and used like gamma's. Floats, which have no
// such table, become (v - lo) / (hi - lo).
#pragma once

#include "kernels/shared/float_sample.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The scale of lo and hi: the image's sample type, or 8 or 16 bits. A value v of 8 bits is 257 v of 16. White
// is 1 for floats.
enum class LevelsOf : std::uint8_t { same, u8, u16 };

// Returns why lo and hi are invalid; empty: valid.
[[nodiscard]] std::string_view levels_problem(const Parameters& parameters);
// A range that covers all values leaves the image unchanged. So does hi <= lo of a series range, which occurs
// if all samples are equal.
[[nodiscard]] std::string_view levels_skip_reason(const FrameType& in, const Parameters& parameters);

// For gamma's functions (kernels/gamma/gamma.h): the result of each value.
[[nodiscard]] std::int64_t levels_table_bytes(const FrameType& in, const Parameters& parameters);
void levels_table(const StageCall<Host>& call, const Band& band);

// lo and hi of floats, on the scale whose white is 1.
struct FloatLevels {
  float lo, hi;

  [[nodiscard]] static FloatLevels of(const Parameters& parameters);
  IMGPIPE_HOST_DEVICE float operator()(float v) const {
    if (v <= lo) return 0.0F;
    if (v >= hi) return 1.0F;
    return canonical((v - lo) / (hi - lo));
  }
};

// in, out: planar, same shape.
void levels_f32_reference(const StageCall<Host>& call);
void levels_f32_cpu(const StageCall<Host>& call, const Band& band);
CudaStatus levels_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
