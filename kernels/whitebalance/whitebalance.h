// White balance: each colour plane is multiplied by a factor, as von Kries's coefficients do (Buchsbaum, A
// Spatial Processor Model for Object Colour Perception, 1980, for the grey world). Factors are given, or make
// the means of the three planes equal: that of all samples, divided by that of the plane.
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

inline constexpr std::int64_t kGrayWorld = -1;
// In millionths, as kDecimalOne.
inline constexpr std::int64_t kMaxBalance = 100 * kDecimalOne;

// Returns the factor of a plane whose samples add up to `sum`, if those of all three planes add up to
// `total`, at most 2^60: rounded half up, at most kMaxBalance. A black plane has the factor 1.
IMGPIPE_HOST_DEVICE constexpr std::int64_t gray_world_factor(std::uint64_t total, std::uint64_t sum) {
  if (sum == 0) return kDecimalOne;
  const std::uint64_t divisor = 3 * sum;
  if (total / divisor >= 100) return kMaxBalance;
  std::uint64_t factor = total / divisor, rest = total % divisor;
  for (std::int64_t unit = kDecimalOne; unit > 1; unit /= 10) {
    rest *= 10;
    factor = factor * 10 + rest / divisor;
    rest %= divisor;
  }
  return static_cast<std::int64_t>(2 * rest >= divisor ? factor + 1 : factor);
}

template <class T>
IMGPIPE_HOST_DEVICE constexpr T balanced(std::int64_t v, std::int64_t factor) {
  const std::int64_t product = (v * factor + kDecimalOne / 2) / kDecimalOne;
  return static_cast<T>(product < kLargest<T> ? product : kLargest<T>);
}

static_assert(gray_world_factor(60, 10) == 2'000'000 && gray_world_factor(60, 40) == 500'000);
static_assert(gray_world_factor(1, 7) == 47'619 && gray_world_factor(2, 7) == 95'238);
static_assert(gray_world_factor(5, 0) == 1'000'000 && gray_world_factor(5'000'000, 1) == kMaxBalance);
static_assert(balanced<Sample8>(3, 500'000) == 2 && balanced<Sample8>(3, 499'999) == 1);
static_assert(balanced<Sample8>(255, kMaxBalance) == 255 && balanced<Sample16>(65535, 999'999) == 65535);

// All three factors are given, or none.
[[nodiscard]] std::string_view whitebalance_problem(const Parameters& parameters);
[[nodiscard]] std::string_view whitebalance_skip_reason(const FrameType& in, const Parameters& parameters);
[[nodiscard]] bool is_gray_world(const Parameters& parameters);
[[nodiscard]] bool has_balance_factors(const Parameters& parameters);

// The results of all values, a table for each colour plane. histogram: the counts of the whole image, for the
// grey world.
[[nodiscard]] std::int64_t whitebalance_table_bytes(const FrameType& in, const Parameters& parameters);
void whitebalance_tables(const StageCall<Host>& call, const Band& band);
CudaStatus whitebalance_tables_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

// in, out: planar, RGB, same shape; histogram: as above. The SIMD function, and that for 16 bits on devices,
// are equalize's.
void whitebalance_reference(const StageCall<Host>& call);

// 8 bits; table: the output of whitebalance_tables().
CudaStatus whitebalance_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
