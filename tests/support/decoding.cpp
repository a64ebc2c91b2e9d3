#include "tests/support/decoding.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe::test {

Image decode(const FileBytes& bytes, const DecodeOptions& options) {
  const auto reader = open_reader(bytes, options);
  Image image(reader->header().shape);
  reader->read_rows(image.untyped_view());
  return image;
}

Values samples(const Image& image) {
  const auto all = [&](const auto* first) { return Values(first, first + image.shape().samples()); };
  if (image.shape().sample == Sample::u16) return all(image.untyped_view().as<std::uint16_t>().data);
  return all(image.view().data);
}

DecodeOptions lenient() {
  DecodeOptions options;
  options.accept = Acceptance::lenient;
  return options;
}

DecodeOptions sixteen_bits(bool forgiving) {
  DecodeOptions options;
  options.max_bits = 16;
  options.accept = forgiving ? Acceptance::lenient : Acceptance::strict;
  return options;
}

DecodeOptions with_stb() {
  DecodeOptions options;
  options.codec = CodecChoice::stb;
  return options;
}

Image decode_in_bands(const FileBytes& bytes, std::int64_t rows, const DecodeOptions& options) {
  const auto reader = open_reader(bytes, options);
  Image image(reader->header().shape);
  for (std::int64_t y = 0; y < image.shape().height; y += rows) {
    reader->read_rows(image.untyped_view().rows(y, std::min(rows, image.shape().height - y)));
  }
  return image;
}

std::vector<std::string> warnings(const FileBytes& bytes) {
  const auto reader = open_reader(bytes, lenient());
  Image image(reader->header().shape);
  reader->read_rows(image.untyped_view());
  return reader->warnings();
}

std::string failure(const FileBytes& bytes, const DecodeOptions& options) {
  try {
    (void)decode(bytes, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(printable(error.what()), error.what());
    EXPECT_STRNE(error.what(), "");
    return error.what();
  }
  return "";
}

FileBytes cut(const FileBytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

void expect_stable_when_damaged(const FileBytes& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {0x01, 0x10, 0x80, 0xFF}) {
      FileBytes damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(change);
      DecodeOptions options;
      options.max_pixels = 1 << 16;
      for (const bool forgiving : {false, true}) {
        options.accept = forgiving ? Acceptance::lenient : Acceptance::strict;
        options.max_bits = change == 0x10 ? 16 : 8;
        const std::string reason = failure(damaged, options);
        ASSERT_EQ(failure(damaged, options), reason) << "byte " << i;
        if (reason.empty()) {
          ASSERT_EQ(samples(decode(damaged, options)), samples(decode(damaged, options))) << "byte " << i;
        }
      }
    }
  }
}

}  // namespace imgpipe::test
