// Arithmetic of each colour sample v with a number d, or with the sample d at the same x and y of a second
// image: an image of one channel serves all channels. Results beyond the range of samples are its ends;
// alpha bypasses. Like NumPy's and OpenCV's functions of the same names, but for rounding, which is half up.
//
//   add, subtract, absdiff    v + d, v - d, |v - d|
//   min, max                  the smaller, the larger
//   multiply                  v d scale
//   divide                    v scale / d; white if only d is 0, and 0 if both are
//   mask                      v d / white, with an image only
//
// Floats: one IEEE operation after the other in this order, NaN made canonical; min and max give NaN if one
// of both is NaN. divide has the default scale 1.
#pragma once

#include <cstdint>

#include "kernels/pixel.h"
#include "kernels/second_image.h"
#include "kernels/shared/float_sample.h"

namespace imgpipe {

enum class Arithmetic : std::uint8_t { add, subtract, multiply, divide, min, max, absdiff, mask };

#define IMGPIPE_EACH_ARITHMETIC(name) \
  name(add) name(subtract) name(multiply) name(divide) name(min) name(max) name(absdiff) name(mask)

inline constexpr std::int64_t kMeanScale = -1;  // divide: the mean of the divisor
// With these limits the products fit into 63 bits.
inline constexpr std::int64_t kMaxProductScale = 1000 * kDecimalOne, kMaxQuotientScale = 0x7FFFFFFF;

// The scale of a step with an image: millionths for multiply, an integer for divide, 1 for all others.
template <Arithmetic Op>
[[nodiscard]] std::int64_t scale_of(const Parameters& parameters) {
  if constexpr (Op == Arithmetic::multiply) return parameters[1];
  if constexpr (Op == Arithmetic::divide) {
    if (parameters[1] != kMeanScale) return parameters[1];
    return is_float(parameters.image->type.sample) ? 1 : parameters.image->mean;
  }
  return 1;
}

// For samples v and d of integers.
template <Arithmetic Op, class T>
struct IntegerArithmetic {
  std::int64_t scale = 1;

  IMGPIPE_HOST_DEVICE constexpr T operator()(std::int64_t v, std::int64_t d) const {
    constexpr std::int64_t kWhite = kLargest<T>;
    const std::int64_t result = unlimited(v, d);
    return static_cast<T>(result < 0 ? 0 : result > kWhite ? kWhite : result);
  }

 private:
  IMGPIPE_HOST_DEVICE constexpr std::int64_t unlimited(std::int64_t v, std::int64_t d) const {
    constexpr std::int64_t kWhite = kLargest<T>;
    if constexpr (Op == Arithmetic::add) return v + d;
    if constexpr (Op == Arithmetic::subtract) return v - d;
    if constexpr (Op == Arithmetic::multiply) return (v * d * scale + kDecimalOne / 2) / kDecimalOne;
    if constexpr (Op == Arithmetic::divide) {
      return d == 0 ? (v == 0 ? 0 : kWhite) : (2 * v * scale + d) / (2 * d);
    }
    if constexpr (Op == Arithmetic::min) return v < d ? v : d;
    if constexpr (Op == Arithmetic::max) return v > d ? v : d;
    if constexpr (Op == Arithmetic::absdiff) return v < d ? d - v : v - d;
    if constexpr (Op == Arithmetic::mask) return (2 * v * d + kWhite) / (2 * kWhite);
  }
};
static_assert(IntegerArithmetic<Arithmetic::subtract, Sample8>{}(5, 7) == 0);
static_assert(IntegerArithmetic<Arithmetic::multiply, Sample8>{kDecimalOne / 2}(3, 5) == 8);  // 7.5
static_assert(IntegerArithmetic<Arithmetic::divide, Sample8>{3}(3, 2) == 5);                  // 4.5
static_assert(IntegerArithmetic<Arithmetic::divide, Sample16>{9}(1, 0) == 65535);
static_assert(IntegerArithmetic<Arithmetic::mask, Sample16>{}(65535, 65535) == 65535);

template <Arithmetic Op>
struct FloatArithmetic {
  float scale = 1;

  // `scale` is that of a step with an image; by a number, multiply and divide have none.
  IMGPIPE_HOST_DEVICE float operator()(float v, float d) const { return canonical(result(v, d)); }

 private:
  IMGPIPE_HOST_DEVICE float result(float v, float d) const {
    if constexpr (Op == Arithmetic::add) return v + d;
    if constexpr (Op == Arithmetic::subtract) return v - d;
    if constexpr (Op == Arithmetic::multiply) return v * d * scale;
    if constexpr (Op == Arithmetic::divide) return v * scale / d;
    if constexpr (Op == Arithmetic::min) return d < v || d != d ? d : v;
    if constexpr (Op == Arithmetic::max) return d > v || d != d ? d : v;
    if constexpr (Op == Arithmetic::absdiff) return float_of_bits(float_bits(v - d) & 0x7FFFFFFFU);
    if constexpr (Op == Arithmetic::mask) return v * d;
  }
};

// Returns the number of a step and its scale as floats, the nearest ones.
[[nodiscard]] inline float float_of_decimal(std::int64_t millionths) {
  return static_cast<float>(static_cast<double>(millionths) / static_cast<double>(kDecimalOne));
}
template <Arithmetic Op>
[[nodiscard]] FloatArithmetic<Op> float_arithmetic(const Parameters& parameters) {
  if (parameters.image == nullptr) return {};
  const std::int64_t scale = scale_of<Op>(parameters);
  return {Op == Arithmetic::multiply ? float_of_decimal(scale) : static_cast<float>(scale)};
}

// Whether the number changes nothing: 0 added, 1 multiplied.
template <Arithmetic Op>
std::string_view arithmetic_skip_reason(const FrameType& in, const Parameters& parameters);
// divide: a divisor of 0; multiply and divide: a scale without an image.
std::string_view multiply_problem(const Parameters& parameters);
std::string_view divide_problem(const Parameters& parameters);

// By a number: the result of each value, bins() samples, which gamma's kernels look up; empty for floats.
// With an image: the image.
[[nodiscard]] std::int64_t arithmetic_table_bytes(const FrameType& in, const Parameters& parameters);
template <Arithmetic Op>
void arithmetic_table(const StageCall<Host>& call, const Band& band);

// in, out: planar, same shape and samples, which are also those of the second image. Steps with integers have
// one.
template <Arithmetic Op>
void arithmetic_reference(const StageCall<Host>& call);
template <Arithmetic Op>
void arithmetic_f32_reference(const StageCall<Host>& call);

template <Arithmetic Op>
void arithmetic_cpu(const StageCall<Host>& call, const Band& band);
template <Arithmetic Op>
void arithmetic_f32_cpu(const StageCall<Host>& call, const Band& band);

// Not templates: without another definition nvcc puts the number of its process into the names of a file's
// kernels, and each build differs.
CudaStatus arithmetic_cuda(Arithmetic op, const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus arithmetic16_cuda(Arithmetic op, const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus arithmetic_f32_cuda(Arithmetic op, const StageCall<Device>& call, const CudaLaunch& launch);

template <Arithmetic Op>
CudaStatus arithmetic_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return arithmetic_cuda(Op, call, launch);
}
template <Arithmetic Op>
CudaStatus arithmetic16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return arithmetic16_cuda(Op, call, launch);
}
template <Arithmetic Op>
CudaStatus arithmetic_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return arithmetic_f32_cuda(Op, call, launch);
}

}  // namespace imgpipe
