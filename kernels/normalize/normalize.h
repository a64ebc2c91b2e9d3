// Makes the input tensor of a vision model: each sample is scaled to 0..1, minus the mean of its channel,
// divided by the standard deviation. A table of all values is made once, by the operations of the library
// (transformers or torchvision) that `formula` selects (docs/pixels.md). Every backend only looks values up.
#pragma once

#include <array>
#include <bit>

#include "images/tensor.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The means and standard deviations of a family of models. custom: those of the other parameters.
enum class NormalizePreset : std::uint8_t { imagenet, clip, siglip, custom };
// The value of the word "none" of a mean or standard deviation; as the bits of a double it is a NaN.
inline constexpr std::int64_t kNormalizeNone = -1;

inline constexpr int kNormalizeChannels = 3;
using ChannelValues = std::array<double, kNormalizeChannels>;

struct NormalizeParameters {
  explicit constexpr NormalizeParameters(const Parameters& values)
      : preset(values.as<NormalizePreset>(0)),
        sample(static_cast<Sample>(static_cast<std::int64_t>(Sample::f32) + values[7])),
        layout(values.as<TensorLayout>(8)),
        formula(values.as<TensorFormula>(9)) {
    switch (preset) {
      case NormalizePreset::imagenet:  // transformers: IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD
        mean = {0.485, 0.456, 0.406};
        deviation = {0.229, 0.224, 0.225};
        return;
      case NormalizePreset::clip:  // OPENAI_CLIP_MEAN, OPENAI_CLIP_STD
        mean = {0.48145466, 0.4578275, 0.40821073};
        deviation = {0.26862954, 0.26130258, 0.27577711};
        return;
      case NormalizePreset::siglip:  // IMAGENET_STANDARD_MEAN, IMAGENET_STANDARD_STD
        mean = {0.5, 0.5, 0.5};
        deviation = {0.5, 0.5, 0.5};
        return;
      case NormalizePreset::custom:
        for (std::size_t c = 0; c < kNormalizeChannels; ++c) {
          mean[c] = std::bit_cast<double>(values[1 + c]);
          deviation[c] = std::bit_cast<double>(values[4 + c]);
        }
        return;
    }
    unreachable();
  }

  // Whether one mean and one standard deviation serve all channels.
  [[nodiscard]] constexpr bool is_uniform() const {
    return preset == NormalizePreset::custom && mean[1] == mean[0] && mean[2] == mean[0] &&
           deviation[1] == deviation[0] && deviation[2] == deviation[0];
  }

  NormalizePreset preset;
  ChannelValues mean{}, deviation{};
  Sample sample;
  TensorLayout layout;
  TensorFormula formula;
};

// Calls `function` with an element of the input's sample type and one of the output's; float16 and bfloat16
// are moved as 16 bits: visit_normalize(call, [&]<class From, class To>(From, To) { ... }).
template <class Where, class Function>
constexpr decltype(auto) visit_normalize(const StageCall<Where>& call, Sample out, const Function& function) {
  return visit_sample(call.in.type.sample, [&]<class From>(From from) {
    switch (out) {
      case Sample::f32:
        return function(from, float{});
      case Sample::f16:
      case Sample::bf16:
        return function(from, Sample16{});
      case Sample::u8:
      case Sample::u16:
        break;
    }
    unreachable();
  });
}

// A preset, or a mean and a standard deviation, which are finite floats; the latter is not 0.
[[nodiscard]] std::string_view normalize_problem(const Parameters& parameters);
[[nodiscard]] TensorType normalize_tensor(const FrameType& in, const Parameters& parameters);
// Rejects alpha, and grey images if the channels have different values.
[[nodiscard]] std::string_view normalize_infer(const FrameType& in, const Parameters&, FrameType& out);
// nchw: a row of the image becomes a row of each plane, and these rows are not adjacent.
[[nodiscard]] bool normalize_needs_all_rows(const Parameters& parameters);

// The table has an element for each value: bins() elements per channel.
[[nodiscard]] std::int64_t normalize_table_bytes(const FrameType& in, const Parameters& parameters);
void normalize_table(const StageCall<Host>& call, const Band& band);

// in: integers without alpha, either layout; out: TensorType::frame(); table: the output of
// normalize_table().
void normalize_reference(const StageCall<Host>& call);

void normalize_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus normalize_cuda(DeviceCalls calls, const CudaLaunch& launch);

}  // namespace imgpipe
