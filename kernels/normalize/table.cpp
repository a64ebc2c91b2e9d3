#include <cmath>

#include "kernels/normalize/narrow_float.h"
#include "kernels/normalize/normalize.h"
#include "kernels/shared/float_sample.h"

namespace imgpipe {
namespace {

// Each operation is rounded separately, as in the library. Whether it divides by 255 or multiplies by 1/255
// decides the last bit of many values.
float normalized(std::int64_t v, int white, TensorFormula formula, float mean, float deviation) {
  const auto value = static_cast<float>(v);
  const auto white_float = static_cast<float>(white);
  switch (formula) {
    case TensorFormula::transformers:
      return (static_cast<float>(static_cast<double>(v) * (1.0 / white)) - mean) / deviation;
    case TensorFormula::totensor:
      return (value / white_float - mean) / deviation;
    case TensorFormula::torchvision_v2:
      return (value * static_cast<float>(1.0 / white) - mean) / deviation;
    case TensorFormula::transformers_fused:
      return (value - mean * white_float) / (deviation * white_float);
  }
  unreachable();
}

void store_element(std::byte* table, std::int64_t i, Sample sample, float value) {
  const std::uint32_t bits = float_bits(canonical(value));
  switch (sample) {
    case Sample::f32:
      reinterpret_cast<std::uint32_t*>(table)[i] = bits;
      return;
    case Sample::f16:
      reinterpret_cast<std::uint16_t*>(table)[i] = float16_bits(bits);
      return;
    case Sample::bf16:
      reinterpret_cast<std::uint16_t*>(table)[i] = bfloat16_bits(bits);
      return;
    case Sample::u8:
    case Sample::u16:
      break;
  }
  unreachable();
}

}  // namespace

std::string_view normalize_problem(const Parameters& parameters) {
  const NormalizeParameters wanted(parameters);
  int means = 0;
  int deviations = 0;
  for (std::size_t c = 0; c < kNormalizeChannels; ++c) {
    means += parameters[1 + c] != kNormalizeNone ? 1 : 0;
    deviations += parameters[4 + c] != kNormalizeNone ? 1 : 0;
  }
  if (wanted.preset != NormalizePreset::custom)
    return means + deviations == 0 ? "" : "takes a preset, or mean and std, but not both";
  if (means + deviations == 0)
    return "normalize makes tensors and needs imagenet, clip, siglip or mean=...; to stretch contrast use "
           "contrast";
  if (deviations == 0) return "mean needs std as well; add std=...";
  if (means == 0) return "std needs mean as well; add mean=...";
  if (means + deviations < 2 * kNormalizeChannels) return "none cannot be combined with numbers";
  for (std::size_t c = 0; c < kNormalizeChannels; ++c) {
    const auto mean = static_cast<float>(wanted.mean[c]);
    const auto deviation = static_cast<float>(wanted.deviation[c]);
    if (deviation == 0) return "std must not be 0";
    if (!std::isfinite(mean) || !std::isfinite(deviation))
      return "mean and std must be numbers that a 32-bit float holds";
  }
  return "";
}

TensorType normalize_tensor(const FrameType& in, const Parameters& parameters) {
  const NormalizeParameters wanted(parameters);
  return {.channels = in.color_channels,
          .height = in.height,
          .width = in.width,
          .layout = wanted.layout,
          .sample = wanted.sample,
          .formula = wanted.formula};
}

std::string_view normalize_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  out = frame_type_of(normalize_tensor(in, parameters).frame());
  if (in.alpha) return "alpha is not accepted; insert rgb or flatten before it";
  if (in.color_channels == 1 && !NormalizeParameters(parameters).is_uniform())
    return "grey has one channel, but mean and std have three; insert rgb before it";
  return "";
}

bool normalize_needs_all_rows(const Parameters& parameters) {
  switch (NormalizeParameters(parameters).layout) {
    case TensorLayout::nchw:
      return true;
    case TensorLayout::nhwc:
      return false;
  }
  unreachable();
}

std::int64_t normalize_table_bytes(const FrameType& in, const Parameters& parameters) {
  return in.color_channels * in.bins() * bytes_per_sample(NormalizeParameters(parameters).sample);
}

void normalize_table(const StageCall<Host>& call, const Band&) {
  const NormalizeParameters wanted(call.parameters);
  const FrameType& in = call.in.type;
  for (int c = 0; c < in.color_channels; ++c) {
    const auto mean = static_cast<float>(wanted.mean[static_cast<std::size_t>(c)]);
    const auto deviation = static_cast<float>(wanted.deviation[static_cast<std::size_t>(c)]);
    for (std::int64_t v = 0; v < in.bins(); ++v) {
      store_element(call.table.data, c * in.bins() + v, wanted.sample,
                    normalized(v, max_sample(in.sample), wanted.formula, mean, deviation));
    }
  }
}

}  // namespace imgpipe
