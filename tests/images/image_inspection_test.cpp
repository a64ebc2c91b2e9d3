// Facts about an image file from its headers alone, with the whole file or only the necessary parts.
#include "images/formats/image_inspection.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/files/input_file.h"
#include "images/synth.h"
#include "tests/support/bmp_file.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/gif_file.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/profiles.h"
#include "tests/support/psd_file.h"
#include "tests/support/tiff_file.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test::image_inspection_test {
namespace {

DecodeOptions options() {
  DecodeOptions made;
  made.max_bits = 16;
  return made;
}

Image picture(std::int64_t width, std::int64_t height, int channels, const char* pattern = "photo") {
  return synthesize(parse_pattern(pattern), {width, height, channels}, 7);
}

Bytes file_of(Format format, const Image& image) {
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(std::as_const(image).untyped_view());
  return writer->finish().joined();
}

ImageInspection inspected(const Bytes& file) {
  return inspect_image(InputFile(file), options());
}

// Returns all facts except how much was read and how much memory a reader by rows holds.
std::string facts(const std::function<ImageInspection()>& inspect) {
  try {
    const ImageInspection image = inspect();
    std::string text = std::to_string(image.stored_width) + "x" + std::to_string(image.stored_height) + " " +
                       std::to_string(image.header.shape.channels) + " " +
                       std::to_string(image.header.bits_per_sample) + " " + image.details.color + " " +
                       std::to_string(image.details.channels) + " " + image.details.compression + " " +
                       image.details.subsampling + " " + image.details.layout + " " + image.details.variant +
                       " " + std::to_string(image.images) + " " + image.profile + " " + image.decoder + " " +
                       image.no_device_decoding;
    if (image.header.format != Format::ppm)
      text +=
          " " + std::to_string(image.memory.whole_bytes) + " " + std::to_string(image.memory.by_rows_bytes);
    for (const MetadataBlock& block : image.metadata)
      text += " " + block.name + block.kind + std::to_string(block.bytes);
    for (const std::string& warning : image.warnings) text += " " + warning;
    return text;
  } catch (const Error& error) {
    return "no: " + std::string(error.what());
  }
}

Bytes psd_file(int width, int height) {
  Psd psd{.width = width, .height = height};
  const std::vector<int> plane(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 77);
  psd.channels = {plane, plane, plane};
  return make_psd(psd);
}

Bytes tiff_file(const TiffKind& kind) {
  return make_tiff(kind, std::vector<int>(static_cast<std::size_t>(kind.width) *
                                              static_cast<std::size_t>(kind.height * kind.samples),
                                          5));
}

TEST(ImageInspection, DescribesJpegCoding) {
  const Image image = picture(40, 30, 3);
  ImageInspection plain = inspected(make_jpeg({.h = 2, .v = 2, .restart_rows = 1}, image.view()));
  EXPECT_EQ(plain.details.color, "YCbCr");
  EXPECT_EQ(plain.details.subsampling, "4:2:0");
  EXPECT_EQ(plain.details.compression, "baseline DCT, Huffman");
  EXPECT_EQ(plain.details.layout, "a restart marker every 3 MCUs");
  EXPECT_EQ(plain.no_device_decoding, "");
  const ImageInspection slow = inspected(make_jpeg({.progressive = true}, image.view()));
  EXPECT_EQ(slow.details.compression, "progressive DCT, Huffman");
  EXPECT_EQ(slow.details.subsampling, "4:4:4");
  EXPECT_EQ(slow.decoder, "libjpeg-turbo");
  EXPECT_EQ(slow.no_device_decoding, "it is progressive");
  const ImageInspection scans = inspected(make_jpeg({.scan_each = true}, image.view()));
  EXPECT_EQ(scans.no_device_decoding, "it has several scans");
  const ImageInspection inks =
      inspected(make_jpeg({.in = JCS_CMYK, .stored = JCS_YCCK}, picture(9, 5, 4).view()));
  EXPECT_EQ(inks.details.color, "YCCK");
  EXPECT_EQ(inks.details.channels, 4);
  EXPECT_EQ(inks.header.shape.channels, 3);
  EXPECT_EQ(inks.no_device_decoding, "its colours are stored as YCCK");
  const ImageInspection rgb = inspected(make_jpeg({.stored = JCS_RGB}, image.view()));
  EXPECT_EQ(rgb.details.color, "RGB");
}

TEST(ImageInspection, RotatedImageHasTwoSizes) {
  const Bytes file = make_jpeg({.orientation = 6}, picture(40, 30, 3).view());
  const ImageInspection turned = inspected(file);
  EXPECT_EQ(turned.header.shape.width, 30);
  EXPECT_EQ(turned.stored_width, 40);
  EXPECT_EQ(turned.stored_height, 30);
  EXPECT_EQ(turned.no_device_decoding, "its EXIF orientation rotates or mirrors it");
  ASSERT_EQ(turned.metadata.size(), 1U);
  EXPECT_EQ(turned.metadata[0].name, "EXIF");
  DecodeOptions as_stored = options();
  as_stored.orient = false;
  const ImageInspection stored = inspect_image(InputFile(file), as_stored);
  EXPECT_EQ(stored.header.shape.width, 40);
  EXPECT_EQ(stored.stored_width, 40);
  EXPECT_EQ(stored.no_device_decoding, "");
}

TEST(ImageInspection, DescribesOtherFormats) {
  const ImageInspection png = inspected(encoded(Format::png, 4));
  EXPECT_EQ(png.details.color, "RGB");
  EXPECT_EQ(png.details.channels, 4);
  EXPECT_EQ(png.details.compression, "deflate");
  EXPECT_EQ(png.no_device_decoding, "devices decode only JPEG");
  const ImageInspection bmp = inspected(two_colors().build());
  EXPECT_EQ(bmp.details.color, "palette");
  EXPECT_EQ(bmp.details.layout, "8 bits per pixel, bottom row first");
  const ImageInspection tga = inspected(encoded(Format::tga, 1));
  EXPECT_EQ(tga.details.color, "grey");
  const ImageInspection psd = inspected(psd_file(3, 2));
  EXPECT_EQ(psd.details.color, "RGB");
  EXPECT_EQ(psd.details.variant, "PSD");
  const ImageInspection ppm = inspected(encoded(Format::ppm));
  EXPECT_EQ(ppm.details.variant, "P6");
  EXPECT_EQ(ppm.details.layout, "raw");
  const ImageInspection lossy = inspected(make_webp({.lossless = false}, picture(20, 10, 3).view()));
  EXPECT_EQ(lossy.details.compression, "lossy (VP8)");
  EXPECT_EQ(lossy.decoder, "libwebp");
  const ImageInspection lossless = inspected(make_webp({}, picture(20, 10, 4).view()));
  EXPECT_EQ(lossless.details.compression, "lossless (VP8L)");
  EXPECT_EQ(lossless.header.shape.channels, 4);
}

TEST(ImageInspection, CountsFramesAndPages) {
  const Gif gif{.width = 2, .height = 2};
  Bytes one = make_gif(gif, {0, 1, 2, 3}, {});
  EXPECT_EQ(inspected(one).images, 1);
  one.pop_back();  // the trailer
  const Bytes whole = make_gif(gif, {0, 1, 2, 3}, {});
  const std::size_t table = 13 + 3 * 4;
  const Bytes frame(whole.begin() + static_cast<std::ptrdiff_t>(table), whole.end());
  EXPECT_EQ(inspected(one + frame).images, 2);
  const Bytes picture_of_4 = picture_chunks(make_webp({}, picture(4, 4, 3).view()));
  const Bytes animated = riff_file(vp8x(kWebpAnimated, 4, 4) + anim() + anmf(0, 0, 4, 4, picture_of_4) +
                                   anmf(0, 0, 4, 4, picture_of_4) + anmf(0, 0, 4, 4, picture_of_4));
  EXPECT_EQ(inspected(animated).images, 3);
  EXPECT_EQ(inspected(animated).details.variant, "extended, animated");
  const TiffPageSource page{{.width = 3, .height = 2}, {1, 2, 3, 4, 5, 6}};
  const ImageInspection stack = inspected(make_tiff_stack({page, page, page, page}));
  EXPECT_EQ(stack.images, 4);
  EXPECT_TRUE(stack.has_pages);
}

TEST(ImageInspection, DescribesTiffStorage) {
  const ImageInspection strips = inspected(tiff_file(
      {.width = 20, .height = 33, .compression = 5, .predictor = 2, .rows_per_strip = 16, .big = true}));
  EXPECT_EQ(strips.details.variant, "BigTIFF, little-endian");
  EXPECT_EQ(strips.details.compression, "LZW, horizontal differencing");
  EXPECT_EQ(strips.details.layout, "3 strips of 16 rows");
  EXPECT_EQ(strips.decoder, "libtiff");
  const ImageInspection tiles = inspected(tiff_file({.width = 20,
                                                     .height = 33,
                                                     .samples = 3,
                                                     .photometric = 2,
                                                     .compression = 8,
                                                     .tile_width = 16,
                                                     .tile_height = 32,
                                                     .big_endian = true,
                                                     .description = "ImageJ=1.53\nunit=um\n"}));
  EXPECT_EQ(tiles.details.variant, "TIFF, big-endian");
  EXPECT_EQ(tiles.details.layout, "4 tiles of 16x32");
  EXPECT_EQ(tiles.decoder, "imgpipe");
  ASSERT_EQ(tiles.metadata.size(), 1U);
  EXPECT_EQ(tiles.metadata[0].name, "description");
  EXPECT_EQ(tiles.metadata[0].kind, "ImageJ");
  MadeTiff map(4, 4);
  map.set(33550, std::vector<std::uint64_t>(24, 0), 12);
  EXPECT_EQ(inspected(map.build()).images, 1);
}

TEST(ImageInspection, NamesTheProfileAndResolution) {
  EncodeOptions encode;
  Metadata metadata;
  metadata.icc = adobe_profile();
  metadata.resolution = Resolution{.x = 300, .y = 150, .unit = Resolution::Unit::inch};
  encode.metadata = std::make_shared<const Metadata>(metadata);
  const Image image = picture(16, 8, 3);
  for (const Format format : {Format::jpeg, Format::png, Format::tiff}) {
    const auto writer = make_writer(format, image.shape(), encode);
    writer->write_rows(std::as_const(image).untyped_view());
    const ImageInspection said = inspected(writer->finish().joined());
    EXPECT_EQ(said.profile, "Adobe RGB (1998)");
    ASSERT_EQ(said.metadata.size(), 1U);
    EXPECT_EQ(said.metadata[0].name, "ICC profile");
    EXPECT_EQ(said.metadata[0].bytes, static_cast<std::int64_t>(metadata.icc.size()));
    ASSERT_TRUE(said.resolution);
    EXPECT_NE(said.resolution->unit, Resolution::Unit::none);
  }
}

// ---- amount of data read ---------------------------------------------------------------------------------

struct Large {
  const char* name;
  Bytes file;
  bool little_read;
};

std::vector<Large> large_files() {
  const Image noise = picture(1200, 900, 3, "noise");
  Bytes jpeg = make_jpeg({.quality = 95}, noise.view());
  Bytes padded(jpeg.begin(), jpeg.begin() + 2);  // 5 segments of 60,000 bytes without information
  for (int i = 0; i < 5; ++i) padded = padded + bytes_of("\xFF\xEB") + number(60'002, 2) + Bytes(60'000);
  padded.insert(padded.end(), jpeg.begin() + 2, jpeg.end());
  return {{"jpeg", jpeg, true},
          {"padded.jpeg", padded, true},
          {"png", file_of(Format::png, noise), false},
          {"bmp", file_of(Format::bmp, noise), true},
          {"tga", file_of(Format::tga, noise), true},
          {"ppm", file_of(Format::ppm, noise), true},
          {"tiff", tiff_file({.width = 2000, .height = 900, .rows_per_strip = 10}), true},
          {"psd", psd_file(900, 700), true},
          {"webp", make_webp({}, noise.view()), false}};
}

TEST(ImageInspection, PartialReadsGiveTheSameFacts) {
  const TemporaryDirectory directory;
  for (const Large& large : large_files()) {
    ASSERT_GT(large.file.size(), std::size_t{1} << 20) << large.name;
    const std::string path = directory.file(large.name);
    save(path, large.file);
    const auto in_parts = [&] {
      return inspect_image(open_for_inspection(path, options(), InputKind::regular_only), options());
    };
    EXPECT_EQ(facts(in_parts), facts([&] { return inspected(large.file); })) << large.name;
    const ImageInspection image = in_parts();
    EXPECT_EQ(image.file_bytes, static_cast<std::int64_t>(large.file.size())) << large.name;
    if (large.little_read) {
      EXPECT_LT(image.read_bytes, std::int64_t{600'000}) << large.name;
    }
  }
}

TEST(ImageInspection, NonImagesYieldTheUsualError) {
  for (const Bytes& file : {Bytes(), bytes_of("no image at all"), bytes_of("v/1\x01 and so on")}) {
    const std::string held = facts([&] { return inspected(file); });
    EXPECT_EQ(held, "no: " + try_decode(file, options()).reason);
  }
}

// Any truncated file gives the same result on disk and in memory.
TEST(ImageInspection, TruncatedFilesGiveTheSameResult) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("cut");
  const Image image = picture(16, 12, 3);
  const std::vector<Bytes> files{encoded(Format::jpeg),
                                 encoded(Format::png),
                                 encoded(Format::bmp),
                                 encoded(Format::tga),
                                 encoded(Format::ppm),
                                 make_gif({.width = 2, .height = 2}, {0, 1, 2, 3}, {}),
                                 psd_file(3, 2),
                                 make_webp({.lossless = false}, image.view()),
                                 tiff_file({.width = 20, .height = 33, .rows_per_strip = 16})};
  for (const Bytes& file : files) {
    for (std::size_t size = 1; size < file.size(); size += size < 100 ? 1 : 97) {
      const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      save(path, cut);
      const std::string there = facts([&] { return inspect_image(*open_on_disk(path, 8), options()); });
      const std::string held = facts([&] { return inspected(cut); });
      if (held.starts_with("no: ")) {
        EXPECT_TRUE(there.starts_with("no: ")) << size << " of " << file.size() << ": " << there;
      } else {
        EXPECT_EQ(there, held) << size << " of " << file.size();
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::image_inspection_test
