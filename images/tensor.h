// The type of a tensor: the array of floats that normalize makes from an image, and that .npy and
// .safetensors files hold (docs/pixels.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "images/plane.h"

namespace imgpipe {

// The order of the axes: nchw has one plane per channel, nhwc interleaved channels.
enum class TensorLayout : std::uint8_t { nchw, nhwc };
inline constexpr std::array<std::string_view, 2> kTensorLayoutNames{"nchw", "nhwc"};

// The library whose arithmetic scales and normalises the samples.
enum class TensorFormula : std::uint8_t { transformers, totensor, torchvision_v2, transformers_fused };
inline constexpr std::array<std::string_view, 4> kTensorFormulaNames{"transformers", "totensor",
                                                                     "torchvision-v2", "transformers-fused"};

// The types of a tensor's elements, in the order of Sample from f32 on.
inline constexpr std::array<std::string_view, 3> kTensorSampleNames{"float32", "float16", "bfloat16"};
[[nodiscard]] constexpr std::size_t tensor_sample_index(Sample sample) {
  switch (sample) {
    case Sample::f32:
      return 0;
    case Sample::f16:
      return 1;
    case Sample::bf16:
      return 2;
    case Sample::u8:
    case Sample::u16:
      break;
  }
  unreachable();
}

// One image: the array has channels x height x width elements (nchw) or height x width x channels (nhwc).
struct TensorType {
  int channels = 1;
  std::int64_t height = 0, width = 0;
  TensorLayout layout = TensorLayout::nchw;
  Sample sample = Sample::f32;  // f32, f16 or bf16
  TensorFormula formula = TensorFormula::transformers;

  // The frame with the same bytes: interleaved pixels (nhwc), or one channel of channels x height rows, the
  // planes one below the other (nchw).
  [[nodiscard]] constexpr Shape frame() const {
    switch (layout) {
      case TensorLayout::nchw:
        return {width, channels * height, 1, sample};
      case TensorLayout::nhwc:
        return {width, height, channels, sample};
    }
    unreachable();
  }
  // The axes of the array, outermost first.
  [[nodiscard]] constexpr std::array<std::int64_t, 3> dimensions() const {
    switch (layout) {
      case TensorLayout::nchw:
        return {channels, height, width};
      case TensorLayout::nhwc:
        return {height, width, channels};
    }
    unreachable();
  }
  [[nodiscard]] constexpr std::string_view sample_name() const {
    return kTensorSampleNames[tensor_sample_index(sample)];
  }
  [[nodiscard]] constexpr std::string_view layout_name() const {
    return kTensorLayoutNames[static_cast<std::size_t>(layout)];
  }
  [[nodiscard]] constexpr std::string_view formula_name() const {
    return kTensorFormulaNames[static_cast<std::size_t>(formula)];
  }
  friend constexpr bool operator==(const TensorType&, const TensorType&) = default;
};
static_assert(TensorType{3, 5, 4}.frame() == Shape{4, 15, 1, Sample::f32});

}  // namespace imgpipe
