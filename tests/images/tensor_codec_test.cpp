// Tests the files of tensors: headers, elements, marks, and what is refused.
#include "images/codecs/tensor/tensor_codec.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/mark.h"
#include "images/error.h"
#include "images/image.h"
#include "images/tensor.h"
#include "tests/support/error_kind.h"
#include "tests/support/tensor_reader.h"

namespace imgpipe::test::tensor_codec_test {
namespace {

constexpr Format kFormats[] = {Format::npy, Format::safetensors};

StoredTensor read(Format format, const std::vector<std::byte>& file) {
  return format == Format::npy ? read_npy(file) : read_safetensors(file);
}

std::string type_name(Format format, Sample sample) {
  const bool npy = format == Format::npy;
  return sample == Sample::f32   ? (npy ? "<f4" : "F32")
         : sample == Sample::f16 ? (npy ? "<f2" : "F16")
                                 : "BF16";
}

std::vector<std::byte> random_bytes(std::int64_t count, std::mt19937& random) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(TensorCodec, FilesHoldShapeTypeAndElements) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    TensorType type{.channels = random() % 2 == 0 ? 1 : 3,
                    .height = 1 + static_cast<std::int64_t>(random() % 40),
                    .width = 1 + static_cast<std::int64_t>(random() % 40),
                    .layout = random() % 2 == 0 ? TensorLayout::nchw : TensorLayout::nhwc};
    for (const Format format : kFormats) {
      for (const Sample sample : {Sample::f32, Sample::f16, Sample::bf16}) {
        if (format == Format::npy && sample == Sample::bf16) continue;
        type.sample = sample;
        const Shape shape = type.frame();
        SCOPED_TRACE(std::to_string(trial) + ": " + std::to_string(shape.width) + "x" +
                     std::to_string(shape.height) + "x" + std::to_string(shape.channels));
        const std::vector<std::byte> bytes = random_bytes(shape.bytes(), random);
        const ConstHostView rows(bytes.data(), shape, shape.row_bytes());
        const auto writer = make_writer(format, shape, {.mark = Mark::result, .tensor = type});
        const std::int64_t first = static_cast<std::int64_t>(random()) % shape.height;
        writer->write_rows(rows.rows(0, first));
        writer->write_rows(rows.rows(first, shape.height - first));
        const std::vector<std::byte> file = writer->finish().joined();
        EXPECT_LE(static_cast<std::int64_t>(file.size()), writer->working_bytes());
        const StoredTensor stored = read(format, file);
        const auto dimensions = type.dimensions();
        EXPECT_EQ(stored.shape, std::vector<std::int64_t>(dimensions.begin(), dimensions.end()));
        EXPECT_EQ(stored.type, type_name(format, sample));
        EXPECT_EQ(stored.data, bytes);
      }
    }
  }
}

TEST(TensorCodec, MarksAreFound) {
  const Provenance made_of{1, 2, 3};
  for (const Format format : kFormats) {
    for (Mark mark : {Mark::none, Mark::result, Mark{Mark::Kind::result, made_of}}) {
      const std::string header =
          tensor_header(format, {.dimensions = {3, 2, 2}, .sample = Sample::f32, .mark = mark});
      if (format == Format::npy) mark.made_of.reset();  // it holds plain marks only
      EXPECT_EQ(find_mark(std::as_bytes(std::span(header))), mark) << header;
      for (std::size_t size = 0; size < header.size(); ++size) {
        const Mark found = find_mark(std::as_bytes(std::span(header).first(size)));
        EXPECT_TRUE(found == Mark::none || found == mark) << size;
      }
    }
  }
}

TEST(TensorCodec, HeadersFillTheGivenSize) {
  const std::vector<std::string> names{"a \"b\".jpg", "c\\xFF.png"};
  for (const Format format : kFormats) {
    const TensorHeader header{
        .dimensions = {2, 3, 224, 224}, .sample = Sample::f16, .mark = Mark::result, .names = names};
    for (const std::size_t size : {std::size_t{0}, std::size_t{64}, std::size_t{1024}}) {
      std::string text = tensor_header(format, header, size);
      if (size == 1024) {
        EXPECT_EQ(text.size(), size);
      }
      EXPECT_GE(text.size(), size);
      const std::size_t header_bytes = text.size();
      text.resize(header_bytes + 2UL * 3 * 224 * 224 * 2);
      const auto bytes = std::as_bytes(std::span(text));
      const StoredTensor stored = read(format, {bytes.begin(), bytes.end()});
      EXPECT_EQ(stored.header_bytes, header_bytes);
      EXPECT_EQ(stored.shape, (std::vector<std::int64_t>{2, 3, 224, 224}));
      EXPECT_EQ(stored.names, format == Format::npy ? std::vector<std::string>() : names);
    }
  }
}

TEST(TensorCodec, OtherContentsAreRefused) {
  const TensorType type{.channels = 3, .height = 2, .width = 2, .sample = Sample::bf16};
  const auto refusal = [](Format format, const Shape& shape, bool is_tensor) -> std::string {
    try {
      (void)storable_shape(format, shape, is_tensor);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(Format::npy, type.frame(), true),
            "npy cannot store bfloat16; write .safetensors, or use dtype=float16");
  EXPECT_EQ(refusal(Format::safetensors, type.frame(), true), "");
  EXPECT_EQ(refusal(Format::png, type.frame(), true),
            "png cannot store tensors; write .npy or .safetensors, or remove normalize");
  EXPECT_NE(refusal(Format::safetensors, {2, 2, 3}, false).find("stores tensors"), std::string::npos);
  EXPECT_THROW((void)make_writer(Format::safetensors, {2, 2, 3}), Error);
}

}  // namespace
}  // namespace imgpipe::test::tensor_codec_test
