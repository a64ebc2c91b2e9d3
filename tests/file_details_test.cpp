// How files are stored, in the words of the libraries that decode them: what imgpipe info says of odd ones.
#include "images/codecs/file_details.h"

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>

#include "images/codecs/image_inspection.h"
#include "images/files/input_file.h"
#include "images/synth.h"
#include "tests/support/file_parts.h"
#include "tests/support/jpeg_file.h"

namespace imgpipe::test {
namespace {

ImageInspection inspected(const Bytes& file) {
  return inspect_image(InputFile(file), {.lenient = true, .most_bits = 16});
}

Image picture(int channels) {
  return synthesize(parse_pattern("photo"), {40, 30, channels}, 7);
}

// ---- JPEG ---------------------------------------------------------------------------------------------

// Where the first segment of this marker begins.
std::size_t segment_of(const Bytes& file, std::byte marker) {
  std::size_t at = 2;
  while (file.at(at + 1) != marker)
    at += 2 + (std::to_integer<std::size_t>(file.at(at + 2)) << 8 |
               std::to_integer<std::size_t>(file.at(at + 3)));
  return at;
}

Bytes with_factors(Bytes file, const std::vector<int>& factors) {
  const std::size_t frame = segment_of(file, std::byte{0xC0});
  for (std::size_t c = 0; c < factors.size(); ++c)
    file.at(frame + 11 + 3 * c) = static_cast<std::byte>(factors[c]);
  return file;
}

// Of the components, in the frame's header and in the scan's.
Bytes with_names(Bytes file, std::string_view names) {
  const std::size_t frame = segment_of(file, std::byte{0xC0}), scan = segment_of(file, std::byte{0xDA});
  for (std::size_t c = 0; c < names.size(); ++c) {
    file.at(frame + 10 + 3 * c) = static_cast<std::byte>(names[c]);
    file.at(scan + 5 + 2 * c) = static_cast<std::byte>(names[c]);
  }
  return file;
}

TEST(FileDetails, ChromaSamplingIsTheRatioOfTheFactors) {
  const Bytes three = make_jpeg({}, picture(3).view());
  const Bytes four = make_jpeg({.in = JCS_CMYK, .stored = JCS_YCCK}, picture(4).view());
  const auto said = [](const Bytes& file) { return inspected(file).details.subsampling; };
  EXPECT_EQ(said(with_factors(three, {0x11, 0x11, 0x11})), "4:4:4");
  EXPECT_EQ(said(with_factors(three, {0x22, 0x22, 0x22})), "4:4:4");
  EXPECT_EQ(said(with_factors(three, {0x22, 0x11, 0x11})), "4:2:0");
  EXPECT_EQ(said(with_factors(three, {0x22, 0x12, 0x12})), "4:2:2");
  EXPECT_EQ(said(with_factors(three, {0x12, 0x11, 0x11})), "4:4:0");
  EXPECT_EQ(said(with_factors(three, {0x14, 0x11, 0x11})), "4:4:1");
  EXPECT_EQ(said(with_factors(three, {0x41, 0x11, 0x11})), "4:1:1");
  EXPECT_EQ(said(with_factors(three, {0x42, 0x11, 0x11})), "4:1:0");
  EXPECT_EQ(said(with_factors(three, {0x22, 0x11, 0x21})), "2x2,1x1,2x1");
  EXPECT_EQ(said(with_factors(three, {0x31, 0x21, 0x21})), "3x1,2x1,2x1");
  EXPECT_EQ(said(with_factors(four, {0x22, 0x11, 0x11, 0x22})), "4:2:0");
  EXPECT_EQ(said(with_factors(four, {0x22, 0x11, 0x11, 0x11})), "2x2,1x1,1x1,1x1") << "K is not as fine as Y";
}

std::string color_by_libjpeg(const Bytes& file) {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  decoder.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&decoder, TRUE);
  const J_COLOR_SPACE color = decoder.jpeg_color_space;
  jpeg_destroy_decompress(&decoder);
  return color == JCS_YCbCr ? "YCbCr" : color == JCS_RGB ? "RGB" : color == JCS_YCCK ? "YCCK" : "CMYK";
}

// Whatever the markers say or leave open: libjpeg makes the pixels, and what it takes them for is what they
// are.
TEST(FileDetails, ColoursOfAJpegAreThoseThatItsDecoderSees) {
  int kinds = 0;
  for (const int components : {3, 4}) {
    const Bytes file =
        components == 3 ? make_jpeg({.adobe = false}, picture(3).view())
                        : make_jpeg({.in = JCS_CMYK, .stored = JCS_CMYK, .adobe = false}, picture(4).view());
    const std::size_t head = components == 3 ? 20 : 2;  // behind JFIF, which libjpeg writes for YCbCr
    const Bytes rest(file.begin() + static_cast<std::ptrdiff_t>(head), file.end());
    for (const int jfif_bytes : {0, 5, 7, 13, 14}) {
      for (const std::optional<std::uint32_t>& transform :
           std::vector<std::optional<std::uint32_t>>{std::nullopt, 0, 1, 2, 3}) {
        for (const char* names : {"", "RGB", "\1\2\3", "rgb"}) {
          Bytes made = bytes_of("\xFF\xD8");
          if (jfif_bytes > 0) {
            Bytes payload = bytes_of(std::string_view("JFIF\0\1\2\0\0\1\0\1\0\0", 14));
            payload.resize(static_cast<std::size_t>(jfif_bytes));
            made =
                made + bytes_of("\xFF\xE0") + number(static_cast<std::uint32_t>(2 + jfif_bytes), 2) + payload;
          }
          if (transform) {
            made = made + bytes_of("\xFF\xEE") + number(14, 2) + bytes_of("Adobe") + Bytes(6) +
                   number(*transform, 1);
          }
          made = with_names(made + rest, names);
          EXPECT_EQ(inspected(made).details.color, color_by_libjpeg(made))
              << components << " components, JFIF of " << jfif_bytes << ", transform "
              << (transform ? static_cast<int>(*transform) : -1) << ", names '" << names << "'";
          ++kinds;
        }
      }
    }
  }
  EXPECT_EQ(kinds, 200);
}

}  // namespace
}  // namespace imgpipe::test
