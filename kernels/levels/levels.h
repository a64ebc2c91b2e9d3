// Levels: spreads the values between the given lo and hi over all values, like contrast with one range for a
// whole series of images. A table of all results is made once and used like gamma's. Floats have no table;
// they become (v - lo) / (hi - lo), limited to 0..1. Their lo and hi are any numbers.
#pragma once

#include "kernels/shared/float_sample.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The scale of lo and hi: the image's sample type, 8 bits or 16 bits. An 8-bit value v equals the 16-bit
// value 257 v. For floats, white is 1.
enum class LevelsOf : std::uint8_t { same, u8, u16 };

// Returns why lo and hi are invalid; empty: valid.
[[nodiscard]] std::string_view levels_problem(const Parameters& parameters);
// A range that covers all values leaves the image unchanged. So does hi <= lo of a series range, which occurs
// if all samples are equal.
[[nodiscard]] std::string_view levels_skip_reason(const FrameType& in, const Parameters& parameters);

// Rejects limits of integers that are not values of 8- or 16-bit samples.
[[nodiscard]] std::string_view levels_infer(const FrameType& in, const Parameters& parameters,
                                            FrameType& out);

// The table of all results, for gamma's functions (kernels/gamma/gamma.h).
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
