// Colours of an image's ICC profile to sRGB, by a table that pipeline/color_profiles.h makes of the profile.
// The sources of its rules are in docs/pixels.md. All arithmetic is in integers; samples of 8 bits are
// computed as v * 257, and their results rounded as depth does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/second_image.h"
#include "kernels/shared/convert.h"

namespace imgpipe {

enum class IccIntent : std::uint8_t { perceptual, relative, saturation };

enum class IccRule : std::uint8_t {
  curve,   // grey: a table of all results
  matrix,  // RGB: a table per channel, a 3x3 matrix, the curve of sRGB
  grid,    // RGB or CMYK: interpolation between nodes
};

// Fixed-point numbers of `matrix`: linear light, 1.0 is 2^22; coefficients, 1.0 is 2^24; the curve of sRGB
// has a node each 2^8 units of linear light.
inline constexpr int kIccLightBits = 22, kIccMatrixBits = 24, kIccNodeBits = 8;
inline constexpr int kIccCurveNodes = (1 << (kIccLightBits - kIccNodeBits)) + 1;
inline constexpr std::int64_t kIccMaxCoefficient = std::int64_t{16} << kIccMatrixBits;

// The numbers of distinct samples.
inline constexpr std::ptrdiff_t kIccBytes = 256, kIccWords = 65536;

// A table begins with its head. Then follow:
//   curve   u8[256], u16[65536]
//   matrix  linear light: u32[3][256], u32[3][65536]; the curve of sRGB: u16[kIccCurveNodes]
//   grid    u16[points^inputs][3]; the last input varies fastest
struct IccHead {
  IccRule rule = IccRule::curve;
  std::int32_t inputs = 1;  // 1: grey, 3: RGB, 4: CMYK
  std::int32_t points = 0;  // of a grid, for each input
  std::int64_t matrix[3][3] = {};
};

[[nodiscard]] inline bool has_icc_table(const Parameters& parameters) {
  return parameters.image != nullptr && !parameters.image->planes.empty();
}
// Returns the head of a step's table on the host.
[[nodiscard]] inline const IccHead& icc_head(const Parameters& parameters) {
  return *reinterpret_cast<const IccHead*>(parameters.image->planes.data());
}

// Selects the entries for samples of type T.
template <class T>
IMGPIPE_HOST_DEVICE inline const T* icc_curve(const std::byte* table) {
  const std::byte* const entries = table + sizeof(IccHead);
  return reinterpret_cast<const T*>(kIsWide<T> ? entries + kIccBytes : entries);
}
template <class T>
IMGPIPE_HOST_DEVICE inline const std::uint32_t* icc_light(const std::byte* table, int channel) {
  const auto* const entries = reinterpret_cast<const std::uint32_t*>(table + sizeof(IccHead));
  return kIsWide<T> ? entries + 3 * kIccBytes + channel * kIccWords : entries + channel * kIccBytes;
}
IMGPIPE_HOST_DEVICE inline const std::uint16_t* icc_nodes(const std::byte* table, IccRule rule) {
  const std::size_t light = rule == IccRule::matrix ? 3 * (kIccBytes + kIccWords) * sizeof(std::uint32_t) : 0;
  return reinterpret_cast<const std::uint16_t*>(table + sizeof(IccHead) + light);
}

// Returns the 16-bit sample of sRGB for linear light, which is clipped; linear between the nodes.
IMGPIPE_HOST_DEVICE inline std::uint32_t icc_encoded(const std::uint16_t* nodes, std::int64_t light) {
  if (light <= 0) return nodes[0];
  if (light >= std::int64_t{1} << kIccLightBits) return nodes[kIccCurveNodes - 1];
  const auto l = static_cast<std::uint32_t>(light);
  constexpr std::uint32_t kOne = 1U << kIccNodeBits;
  const std::uint32_t node = l >> kIccNodeBits, rest = l & (kOne - 1);
  return (nodes[node] * (kOne - rest) + nodes[node + 1] * rest + kOne / 2) >> kIccNodeBits;
}

// Returns row `channel` of the matrix times linear light, rounded half up.
IMGPIPE_HOST_DEVICE inline std::int64_t icc_product(const std::int64_t (&row)[3],
                                                    const std::uint32_t (&light)[3]) {
  const std::int64_t sum = row[0] * light[0] + row[1] * light[1] + row[2] * light[2];
  return (sum + (std::int64_t{1} << (kIccMatrixBits - 1))) >> kIccMatrixBits;
}

// Interpolates in the simplex of N + 1 nodes that contains the 16-bit samples `v` (for N = 3: tetrahedral):
// from the node below all of them, one step along each input, in descending order of the samples' distances
// from that node. Weights are 65535ths; the result is rounded to the nearest.
template <int N>
IMGPIPE_HOST_DEVICE inline void icc_interpolate(const std::uint16_t* nodes, int points,
                                                const std::uint32_t (&v)[N], std::uint32_t (&out)[3]) {
  constexpr std::uint32_t kOne = 65535;
  std::uint32_t distance[N] = {};
  std::ptrdiff_t step[N] = {}, node = 0, stride = 3;
  for (int c = N - 1; c >= 0; --c) {
    const std::uint32_t position = v[c] * static_cast<std::uint32_t>(points - 1);
    const std::uint32_t cell = position / kOne, rest = position % kOne;
    node += static_cast<std::ptrdiff_t>(cell) * stride;
    int at = N - 1 - c;  // inserts into the distances so far
    for (; at > 0 && distance[at - 1] < rest; --at) {
      distance[at] = distance[at - 1];
      step[at] = step[at - 1];
    }
    distance[at] = rest;
    step[at] = stride;
    stride *= points;
  }
  std::uint32_t sum[3];
  for (int c = 0; c < 3; ++c) sum[c] = (kOne - distance[0]) * nodes[node + c];
  // A distance of 0 has no weight, and its node may be outside the grid.
  for (int i = 0; i < N && distance[i] > 0; ++i) {
    node += step[i];
    const std::uint32_t weight = distance[i] - (i + 1 < N ? distance[i + 1] : 0);
    for (int c = 0; c < 3; ++c) sum[c] += weight * nodes[node + c];
  }
  for (int c = 0; c < 3; ++c) out[c] = (sum[c] + kOne / 2) / kOne;
}

// Converts one pixel: `in` has the head's inputs.
template <class T>
IMGPIPE_HOST_DEVICE inline void icc_pixel(const IccHead& head, const std::byte* table, const T (&in)[4],
                                          T (&out)[3]) {
  std::uint32_t wide[3];
  if (head.rule == IccRule::matrix) {
    const std::uint32_t light[3] = {icc_light<T>(table, 0)[in[0]], icc_light<T>(table, 1)[in[1]],
                                    icc_light<T>(table, 2)[in[2]]};
    const std::uint16_t* const nodes = icc_nodes(table, IccRule::matrix);
    for (int c = 0; c < 3; ++c) wide[c] = icc_encoded(nodes, icc_product(head.matrix[c], light));
  } else {
    const std::uint16_t* const nodes = icc_nodes(table, IccRule::grid);
    const std::uint32_t v[4] = {converted<Sample16>(in[0]), converted<Sample16>(in[1]),
                                converted<Sample16>(in[2]), converted<Sample16>(in[3])};
    if (head.inputs == 4) {
      icc_interpolate<4>(nodes, head.points, v, wide);
    } else {
      const std::uint32_t rgb[3] = {v[0], v[1], v[2]};
      icc_interpolate<3>(nodes, head.points, rgb, wide);
    }
  }
  for (int c = 0; c < 3; ++c) out[c] = converted<T>(static_cast<Sample16>(wide[c]));
}

// A step without a table is skipped: the planner has found no profile, or that of sRGB.
[[nodiscard]] std::string_view icc_skip_reason(const FrameType& in, const Parameters& parameters);
// Rejects frames with other channels than the profile's. Inks are frames of RGB with alpha: CMY and K.
[[nodiscard]] std::string_view icc_infer(const FrameType& in, const Parameters& parameters, FrameType& out);

// in, out: planar, same samples; alpha is copied.
void icc_reference(const StageCall<Host>& call);

void icc_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus icc_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
