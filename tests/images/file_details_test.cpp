// How files are stored, in terms of the libraries that decode them: imgpipe info on unusual files.
#include "images/codecs/file_details.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>

#include "images/files/input_file.h"
#include "images/formats/image_inspection.h"
#include "images/synth.h"
#include "tests/support/bmp_file.h"
#include "tests/support/exif_maker.h"
#include "tests/support/file_parts.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/profiles.h"
#include "tests/support/psd_file.h"
#include "tests/support/tiff_file.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test::file_details_test {
namespace {

ImageInspection inspected(const Bytes& file) {
  return inspect_image(InputFile(file), {.accept = Acceptance::lenient, .max_bits = 16});
}

Image picture(int channels) {
  return synthesize(parse_pattern("photo"), {40, 30, channels}, 7);
}

// ---- JPEG ---------------------------------------------------------------------------------------------

// Returns the offset of the first segment with this marker.
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

// Renames the components in the frame's header and in the scan's.
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

// libjpeg decodes the pixels, so the details follow its interpretation of the colours, not the markers.
TEST(FileDetails, JpegColoursFollowTheDecoder) {
  int kinds = 0;
  for (const int components : {3, 4}) {
    const Bytes file =
        components == 3 ? make_jpeg({.adobe = false}, picture(3).view())
                        : make_jpeg({.in = JCS_CMYK, .stored = JCS_CMYK, .adobe = false}, picture(4).view());
    const std::size_t head = components == 3 ? 20 : 2;  // after JFIF, which libjpeg writes for YCbCr
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

// libjpeg continues after a segment whose length is less than its own two bytes, and so does the inspection.
TEST(FileDetails, EmptySegmentsHideNothing) {
  const Bytes file = make_jpeg({}, picture(3).view());
  for (const std::uint32_t length : {0U, 1U}) {
    Bytes damaged = file;
    const Bytes segment = bytes_of("\xFF\xFE") + number(length, 2);
    damaged.insert(damaged.begin() + 20, segment.begin(), segment.end());
    EXPECT_EQ(inspected(damaged).details.color, "YCbCr");
    EXPECT_EQ(inspected(damaged).details.subsampling, "4:4:4");
  }
}

// ---- resolution ---------------------------------------------------------------------------------------

std::string resolution_of(const Bytes& file) {
  const std::optional<Resolution> found = inspected(file).resolution;
  if (!found) return "";
  constexpr const char* kUnits[] = {"", " an inch", " a centimetre"};
  const auto text = [](std::uint32_t a, std::uint32_t b) {
    return std::to_string(a) + "/" + std::to_string(b);
  };
  return text(found->x, found->x_of) + " " + text(found->y, found->y_of) +
         kUnits[static_cast<int>(found->unit)];
}

Bytes exif_of(std::uint32_t unit, bool big_endian) {
  ExifParts parts;
  parts.big_endian = big_endian;
  parts.image[282] = {.type = 5, .values = {300, 1}};
  parts.image[283] = {.type = 5, .values = {1501, 10}};
  if (unit > 0) parts.image[296] = {.type = 3, .values = {unit}};
  return parts.build();
}

// Returns a JPEG with a JFIF segment of this unit and density, and with EXIF if given.
Bytes jpeg_of(int unit, int x, int y, const Bytes& exif) {
  Bytes file = make_jpeg({}, picture(3).view());
  const Bytes density = number(static_cast<std::uint32_t>(unit), 1) +
                        number(static_cast<std::uint32_t>(x), 2) + number(static_cast<std::uint32_t>(y), 2);
  std::ranges::copy(density, file.begin() + 13);
  if (exif.empty()) return file;
  const Bytes block = bytes_of(std::string_view("Exif\0\0", 6)) + exif;
  const Bytes segment =
      bytes_of("\xFF\xE1") + number(static_cast<std::uint32_t>(block.size() + 2), 2) + block;
  file.insert(file.begin() + 20, segment.begin(), segment.end());
  return file;
}

TEST(FileDetails, FormatResolutionPrecedesExif) {
  EXPECT_EQ(resolution_of(jpeg_of(0, 1, 1, {})), "") << "square pixels of no known size";
  EXPECT_EQ(resolution_of(jpeg_of(0, 2, 1, {})), "2/1 1/1");
  for (const bool big_endian : {false, true}) {
    EXPECT_EQ(resolution_of(jpeg_of(0, 1, 1, exif_of(2, big_endian))), "300/1 1501/10 an inch");
    EXPECT_EQ(resolution_of(jpeg_of(0, 1, 1, exif_of(3, big_endian))), "300/1 1501/10 a centimetre");
    EXPECT_EQ(resolution_of(jpeg_of(0, 1, 1, exif_of(0, big_endian))), "300/1 1501/10 an inch");
    EXPECT_EQ(resolution_of(jpeg_of(1, 72, 96, exif_of(2, big_endian))), "72/1 96/1 an inch");
  }
  EXPECT_EQ(resolution_of(jpeg_of(0, 1, 1, exif_of(4, false))), "");
  Bytes cut = exif_of(2, false);
  cut.resize(cut.size() - 12);
  EXPECT_EQ(resolution_of(jpeg_of(0, 1, 1, cut)), "") << "its values lie outside";
  const Bytes chunks = picture_chunks(make_webp({}, picture(3).view()));
  EXPECT_EQ(
      resolution_of(riff_file(vp8x(kWebpExif, 40, 30) + chunks + riff_chunk("EXIF", exif_of(2, false)))),
      "300/1 1501/10 an inch");
}

TEST(FileDetails, ResolutionOfBmpAndPsd) {
  const auto bitmap = [](std::uint32_t header_bytes, std::uint32_t x, std::uint32_t y) {
    Bmp made;
    made.header_bytes = header_bytes;
    made.pixels = {1, 2, 3, 0};
    Bytes file = made.build();
    if (header_bytes < 40) return file;
    for (std::size_t i = 0; i < 4; ++i) {
      file.at(38 + i) = static_cast<std::byte>(x >> 8 * i);
      file.at(42 + i) = static_cast<std::byte>(y >> 8 * i);
    }
    return file;
  };
  EXPECT_EQ(resolution_of(bitmap(40, 3937, 11'811)), "3937/100 11811/100 a centimetre");
  EXPECT_EQ(resolution_of(bitmap(124, 3937, 11'811)), "3937/100 11811/100 a centimetre");
  EXPECT_EQ(resolution_of(bitmap(12, 0, 0)), "");
  EXPECT_EQ(resolution_of(bitmap(40, 0, 3937)), "");
  EXPECT_EQ(resolution_of(bitmap(40, 3937, 0xFFFFF09F)), "") << "less than nothing";
  const Bytes size =
      number(300 << 16) + number(1, 2) + number(1, 2) + number(144 << 16) + number(1, 2) + number(1, 2);
  const auto resource = [](std::uint32_t id, const Bytes& data) {
    return bytes_of("8BIM") + number(id, 2) + number(0, 2) + number(static_cast<std::uint32_t>(data.size())) +
           data + Bytes(data.size() % 2);
  };
  Psd psd{.resources = resource(1005, size) + resource(1039, adobe_profile()), .channels = {{1}, {2}, {3}}};
  EXPECT_EQ(resolution_of(make_psd(psd)), "19660800/65536 9437184/65536 an inch");
  EXPECT_EQ(inspected(make_psd(psd)).profile, "Adobe RGB (1998)");
  EXPECT_EQ(open_reader(make_psd(psd))->header().profile, "Adobe RGB (1998)")
      << "a run says that it is not kept";
  psd.resources = resource(1005, number(1));
  EXPECT_EQ(resolution_of(make_psd(psd)), "");
}

// ---- TIFF ---------------------------------------------------------------------------------------------

TEST(FileDetails, ReducedTiffPagesAreCounted) {
  const auto stack = [](std::vector<std::uint64_t> kinds) {
    // Directories one after the other; all share the pixels of the first.
    FileBytes file = bytes_of("II") + riff_number(42, 2) + riff_number(0, 4) + Bytes(4);
    std::size_t link = 4;
    for (const std::uint64_t kind : kinds) {
      const std::size_t at = file.size();
      const Bytes position = riff_number(static_cast<std::uint32_t>(at), 4);
      std::ranges::copy(position, file.begin() + static_cast<std::ptrdiff_t>(link));
      const std::vector<std::pair<int, std::uint32_t>> fields{{254, static_cast<std::uint32_t>(kind)},
                                                              {256, 2},
                                                              {257, 2},
                                                              {258, 8},
                                                              {259, 1},
                                                              {262, 1},
                                                              {273, 8},
                                                              {277, 1},
                                                              {278, 2},
                                                              {279, 4}};
      file = file + riff_number(static_cast<std::uint32_t>(fields.size()), 2);
      for (const auto& [tag, value] : fields)
        file = file + riff_number(static_cast<std::uint32_t>(tag), 2) + riff_number(4, 2) +
               riff_number(1, 4) + riff_number(value, 4);
      link = file.size();
      file = file + riff_number(0, 4);
    }
    return file;
  };
  const ImageInspection pyramid = inspected(stack({0, 1, 1, 2, 3}));
  EXPECT_EQ(pyramid.images, 5);
  EXPECT_EQ(pyramid.reduced_images, 3) << "pages (2) are none, masks of smaller versions are";
  EXPECT_EQ(inspected(stack({0, 2})).reduced_images, 0);
}

// If the subsampling cannot be read, the default applies; the reader accepts the file, too.
TEST(FileDetails, UnreadableSubsamplingInTiffUsesTheDefault) {
  Bytes file =
      make_tiff({.width = 16, .height = 16, .samples = 3, .photometric = 6, .compression = 7}, Values(768));
  const std::size_t directory =
      std::to_integer<std::size_t>(file.at(4)) | std::to_integer<std::size_t>(file.at(5)) << 8;
  std::size_t field = directory + 2;
  while (file.at(field) != std::byte{0x12} || file.at(field + 1) != std::byte{0x02}) field += 12;  // 530
  EXPECT_EQ(inspected(file).details.subsampling, "4:4:4");
  file.at(field + 5) = std::byte{0x7F};  // the number of values
  EXPECT_NO_THROW((void)open_reader(file, {.accept = Acceptance::lenient}));
  EXPECT_EQ(inspected(file).details.subsampling, "4:2:0");
}

TEST(FileDetails, UnusualGreysAndPalettesInTiffAreReported) {
  const auto layout = [](const TiffKind& kind) {
    return inspected(make_tiff(kind, {1, 0, 1, 0})).details.layout;
  };
  EXPECT_EQ(layout({.width = 2, .height = 2, .photometric = 0}), "1 strip of 2 rows, white is zero");
  EXPECT_EQ(layout({.width = 2, .height = 2, .photometric = 1}), "1 strip of 2 rows");
  EXPECT_EQ(layout({.width = 2, .height = 2, .bits = 4, .photometric = 3, .palette = Values(48)}),
            "1 strip of 2 rows, 4 bits per pixel");
}

}  // namespace
}  // namespace imgpipe::test::file_details_test
