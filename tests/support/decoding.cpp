#include "tests/support/decoding.h"

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe::test {

Image decode(const std::vector<std::byte>& bytes, const DecodeOptions& options) {
  const auto reader = open_reader(bytes, options);
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  return image;
}

std::string failure(const std::vector<std::byte>& bytes, const DecodeOptions& options) {
  try {
    (void)decode(bytes, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(printable(error.what()), error.what());
    return error.what();
  }
  return "";
}

std::vector<int> samples(const Image& image) {
  return {image.view().data, image.view().data + image.shape().samples()};
}

DecodeOptions lenient() {
  DecodeOptions options;
  options.lenient = true;
  return options;
}

DecodeOptions with_stb() {
  DecodeOptions options;
  options.codec = CodecChoice::stb;
  return options;
}

}  // namespace imgpipe::test
