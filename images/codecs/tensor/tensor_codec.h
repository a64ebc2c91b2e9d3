// Writes NumPy's .npy, version 1.0 (numpy.lib.format), with an image or a tensor, and tensors as safetensors
// (github.com/huggingface/safetensors). Both are a header and the elements in C order, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/error.h"
#include "images/tensor.h"

namespace imgpipe {

// The key of the tensor in a .safetensors file.
inline constexpr const char* kTensorKey = "pixel_values";
// The longest header that readers of safetensors accept.
inline constexpr std::size_t kMaxSafetensorsHeader = 100'000'000;

[[nodiscard]] bool npy_holds(Sample sample);
// Returns the error about an image where a tensor is needed.
[[nodiscard]] Error not_a_tensor(Format format);

struct TensorHeader {
  std::vector<std::int64_t> dimensions;  // outermost first
  Sample sample = Sample::f32;
  Mark mark = Mark::none;
  std::span<const std::string> names{};  // printable names of the rows, for safetensors
};

// Returns the bytes before the elements: `bytes` of them, or more if they do not suffice. A multiple of 64
// for .npy, of 8 for .safetensors, if `bytes` is.
[[nodiscard]] std::string tensor_header(Format format, const TensorHeader& header, std::size_t bytes = 0);

// Entries in the codec table (images/formats/codec_table.h). The rows are those of EncodeOptions::tensor; for
// .npy, if that is not set, those of an image: an array of height x width, or height x width x channels.
[[nodiscard]] std::unique_ptr<Writer> make_npy_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] std::unique_ptr<Writer> make_safetensors_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_npy_mark(Bytes beginning);
[[nodiscard]] Mark find_safetensors_mark(Bytes beginning);

}  // namespace imgpipe
