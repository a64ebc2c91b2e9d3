#include "images/codecs/tensor/tensor_codec.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "images/codecs/mark.h"
#include "images/codecs/raw_writer.h"
#include "images/codecs/sniff.h"
#include "images/rounded_up.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

static_assert(std::endian::native == std::endian::little, "the elements are written as they are in memory");

// Both headers end with white space up to the elements.
constexpr std::string_view kNpyMagic = "\x93NUMPY\x01\x00"sv;
constexpr std::size_t kNpyAlignment = 64, kNpyLengthBytes = 2;
constexpr std::size_t kSafetensorsAlignment = 8, kSafetensorsLengthBytes = 8;
// The dictionary of a .npy must not have other keys, so the white space after it holds a plain mark. Other
// writers pad with spaces only.
constexpr std::string_view kNpyMark = " \t \t\t  \t"sv, kNpySyntheticMark = "\t \t  \t\t "sv;
static_assert(kNpyMark.size() == kNpySyntheticMark.size());
constexpr std::string_view kSafetensorsMark = R"({"__metadata__":{"software":")"sv;

std::string little_endian_text(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFFU);
  return text;
}

struct ElementNames {
  std::string_view npy, safetensors;  // empty: not supported
};

ElementNames element_names(Sample sample) {
  switch (sample) {
    case Sample::f32:
      return {"<f4", "F32"};
    case Sample::f16:
      return {"<f2", "F16"};
    case Sample::bf16:
      return {"", "BF16"};
    case Sample::u8:
      return {"|u1", ""};
    case Sample::u16:
      return {"<u2", ""};
  }
  unreachable();
}

// Escapes printable text and line ends.
std::string json_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? "\\n" : std::string(1, c);
  }
  return escaped;
}

std::string_view npy_mark_text(Mark::Kind kind) {
  switch (kind) {
    case Mark::Kind::none:
      return "";
    case Mark::Kind::result:
      return kNpyMark;
    case Mark::Kind::synthetic:
      return kNpySyntheticMark;
  }
  unreachable();
}

std::string npy_header(const TensorHeader& header, std::size_t bytes) {
  std::string text = "{'descr': '" + std::string(element_names(header.sample).npy) +
                     "', 'fortran_order': False, 'shape': (" + joined_numbers(header.dimensions, ", ") +
                     "), }";
  const std::string end = std::string(npy_mark_text(header.mark.kind)) + "\n";
  const std::size_t before = kNpyMagic.size() + kNpyLengthBytes;
  const std::size_t size = std::max(rounded_up(before + text.size() + end.size(), kNpyAlignment), bytes);
  text.resize(size - before - end.size(), ' ');
  return std::string(kNpyMagic) + little_endian_text(size - before, kNpyLengthBytes) + text + end;
}

std::string safetensors_header(const TensorHeader& header, std::size_t bytes) {
  std::string metadata;
  if (header.mark != Mark::none) metadata = R"("software":")" + mark_text(header.mark) + '"';
  if (!header.names.empty()) {
    metadata += (metadata.empty() ? "" : ",") + std::string(R"("names":")");
    for (std::size_t i = 0; i < header.names.size(); ++i)
      metadata += (i == 0 ? "" : "\\n") + json_text(header.names[i]);
    metadata += '"';
  }
  std::int64_t data_bytes = bytes_per_sample(header.sample);
  for (const std::int64_t dimension : header.dimensions) data_bytes *= dimension;
  std::string text = "{";
  if (!metadata.empty()) text += R"("__metadata__":{)" + metadata + "},";
  text += "\"" + std::string(kTensorKey) + R"(":{"dtype":")" +
          std::string(element_names(header.sample).safetensors) + R"(","shape":[)" +
          joined_numbers(header.dimensions, ",") + R"(],"data_offsets":[0,)" + std::to_string(data_bytes) +
          "]}}";
  const std::size_t size =
      std::max(rounded_up(kSafetensorsLengthBytes + text.size(), kSafetensorsAlignment), bytes);
  text.resize(size - kSafetensorsLengthBytes, ' ');
  return little_endian_text(text.size(), kSafetensorsLengthBytes) + text;
}

std::unique_ptr<Writer> make_tensor_writer(Format format, const Shape& shape, const EncodeOptions& options) {
  TensorHeader header{
      .dimensions = {shape.height, shape.width}, .sample = shape.sample, .mark = options.mark};
  if (options.tensor) {
    const auto dimensions = options.tensor->dimensions();
    header.dimensions.assign(dimensions.begin(), dimensions.end());
  } else if (shape.channels > 1) {
    header.dimensions.push_back(shape.channels);
  }
  return make_raw_writer(tensor_header(format, header), shape, false);
}

}  // namespace

bool npy_holds(Sample sample) {
  return !element_names(sample).npy.empty();
}

Error not_a_tensor(Format format) {
  return {ErrorKind::usage, std::string(format_info(format).name) +
                                " stores tensors; end the stages with normalize, such as normalize:imagenet"};
}

std::string tensor_header(Format format, const TensorHeader& header, std::size_t bytes) {
  return format == Format::npy ? npy_header(header, bytes) : safetensors_header(header, bytes);
}

std::unique_ptr<Writer> make_npy_writer(Shape shape, const EncodeOptions& options) {
  return make_tensor_writer(Format::npy, shape, options);
}

std::unique_ptr<Writer> make_safetensors_writer(Shape shape, const EncodeOptions& options) {
  return make_tensor_writer(Format::safetensors, shape, options);
}

Mark find_npy_mark(Bytes beginning) {
  if (!matches_at(beginning, 0, kNpyMagic)) return Mark::none;
  const std::size_t end =
      kNpyMagic.size() + kNpyLengthBytes + little_endian(beginning, kNpyMagic.size(), kNpyLengthBytes);
  const std::size_t mark_bytes = kNpyMark.size() + 1;
  if (end <= mark_bytes || !matches_at(beginning, end - 1, "\n")) return Mark::none;
  if (matches_at(beginning, end - mark_bytes, kNpyMark)) return Mark::result;
  return matches_at(beginning, end - mark_bytes, kNpySyntheticMark) ? Mark::synthetic : Mark::none;
}

Mark find_safetensors_mark(Bytes beginning) {
  if (!matches_at(beginning, kSafetensorsLengthBytes, kSafetensorsMark)) return Mark::none;
  const Bytes text = beginning.subspan(kSafetensorsLengthBytes + kSafetensorsMark.size());
  const auto end = std::ranges::find(text, std::byte{'"'});
  return end == text.end() ? Mark::none : mark_of(Bytes(text.begin(), end));
}

}  // namespace imgpipe
