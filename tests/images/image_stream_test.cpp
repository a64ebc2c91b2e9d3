// Streams of images: where each image ends, for any sizes of reads, and errors for truncated or damaged ones.
#include "images/formats/image_stream.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"

namespace imgpipe::test::image_stream_test {
namespace {

using namespace std::string_view_literals;
using Images = std::vector<Bytes>;

struct Found {
  std::vector<Bytes> images;
  std::vector<std::int64_t> at;
  std::string reason;  // why the stream ended early
};

// Returns `read_size` bytes at a time.
ByteSource byte_source_of(const Bytes& stream, std::size_t read_size) {
  return [&stream, read_size, given = std::size_t{0}](std::span<std::byte> buffer) mutable {
    const std::size_t count = std::min({read_size, buffer.size(), stream.size() - given});
    std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(given), count, buffer.begin());
    given += count;
    return count;
  };
}

Found images_in(const Bytes& stream, std::size_t read_size = 1 << 20, const DecodeOptions& options = {}) {
  ImageStream images(byte_source_of(stream, read_size), options);
  Found found;
  try {
    while (!images.at_end()) {
      const std::int64_t at = images.offset();
      found.images.push_back(images.next());
      found.at.push_back(at);
    }
    EXPECT_EQ(images.read_bytes(), static_cast<std::int64_t>(stream.size()));
    EXPECT_EQ(images.images(), static_cast<std::int64_t>(found.images.size()));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    found.reason = error.what();
    EXPECT_NE(found.reason, "");
  }
  return found;
}

Bytes joined(const std::vector<Bytes>& images) {
  Bytes all;
  for (const Bytes& image : images) all.insert(all.end(), image.begin(), image.end());
  return all;
}

// Adds an Exif segment with a thumbnail, which has its own markers.
Bytes with_thumbnail(const Bytes& jpeg, const Bytes& thumbnail) {
  const Bytes payload = bytes_of(std::string_view("Exif\0\0", 6)) + thumbnail;
  return Bytes(jpeg.begin(), jpeg.begin() + 2) + number(0xFFE1, 2) +
         number(static_cast<std::uint32_t>(payload.size() + 2), 2) + payload +
         Bytes(jpeg.begin() + 2, jpeg.end());
}

// Adds an index of further images (CIPA DC-007): their lengths and their offsets from the index.
Bytes with_index(const Bytes& jpeg, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pictures) {
  const auto count = static_cast<std::uint32_t>(pictures.size() + 1);
  Bytes index = bytes_of(std::string_view("MM\0*", 4)) + number(8) + number(1, 2) + number(0xB002, 2) +
                number(7, 2) + number(16 * count) + number(26) + number(0);
  index = index + number(0x20030000) + number(0) + number(0) + number(0);
  for (const auto& [at, bytes] : pictures) index = index + number(0) + number(bytes) + number(at) + number(0);
  const Bytes payload = bytes_of(std::string_view("MPF\0", 4)) + index;
  return Bytes(jpeg.begin(), jpeg.begin() + 2) + number(0xFFE2, 2) +
         number(static_cast<std::uint32_t>(payload.size() + 2), 2) + payload +
         Bytes(jpeg.begin() + 2, jpeg.end());
}
// The index begins after the start marker, the segment's marker and length, and "MPF" with its zero.
constexpr std::uint32_t kIndexAt = 2 + 4 + 4;

// Two images in one file, as written by cameras, with `padding` zeros before and after the second.
Bytes picture_and_preview(const Bytes& picture, const Bytes& preview, std::size_t padding) {
  const auto length = static_cast<std::uint32_t>(with_index(picture, {{0, 0}}).size());
  const auto bytes = static_cast<std::uint32_t>(preview.size() + padding);
  return with_index(picture, {{length + static_cast<std::uint32_t>(padding) - kIndexAt, bytes}}) +
         Bytes(padding) + preview + Bytes(padding);
}

std::vector<Bytes> of_every_kind() {
  std::vector<Bytes> images;
  for (const Format format : {Format::png, Format::ppm, Format::jpeg, Format::bmp, Format::webp})
    images.push_back(encoded(format));
  images.push_back(encoded(Format::pgm, 1));
  images.push_back(with_thumbnail(encoded(Format::jpeg), encoded(Format::jpeg, 1)));
  images.push_back(bytes_of("P4 9 2\n\xFF\x80\x01\x80"));
  images.push_back(bytes_of("P6#c\n2 # width\n1\n255 abcdef"));
  images.push_back(bytes_of("P5 2 1 65535\nabcd"));
  return images;
}

TEST(ImageStream, FindsImagesForEveryReadSize) {
  const std::vector<Bytes> images = of_every_kind();
  const Bytes stream = joined(images);
  for (const std::size_t read_size : {1, 2, 3, 7, 64, 1000, 65536, 1 << 20}) {
    const Found found = images_in(stream, read_size);
    EXPECT_EQ(found.reason, "") << read_size;
    ASSERT_EQ(found.images, images) << read_size;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      EXPECT_EQ(found.at[i], at);
      at += static_cast<std::int64_t>(images[i].size());
    }
  }
}

TEST(ImageStream, EveryPairOfImagesIsSplit) {
  const std::vector<Bytes> images = of_every_kind();
  for (const Bytes& first : images)
    for (const Bytes& second : images) EXPECT_EQ(images_in(first + second).images, (Images{first, second}));
}

// Cut at every byte, the stream yields the complete images, and reports the truncated one with its length.
TEST(ImageStream, TruncationAtEveryByte) {
  const std::vector<Bytes> images = of_every_kind();
  for (std::size_t kind = 0; kind < images.size(); ++kind) {
    const Bytes& first = images.front();
    const Bytes& last = images[kind];
    for (std::size_t cut = 1; cut < last.size(); ++cut) {
      const Bytes stream = first + Bytes(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(cut));
      const Found found = images_in(stream, 1 + cut % 97);
      ASSERT_EQ(found.images, Images{first}) << kind << " cut at " << cut;
      ASSERT_NE(found.reason, "") << kind << " cut at " << cut;
      const bool is_told = format_by_content(std::span(last).first(cut)).has_value();
      const std::string said = "truncated: the stream ends after " + std::to_string(cut) + " byte";
      ASSERT_EQ(found.reason.find(said) == 0, is_told) << found.reason << " cut at " << cut;
    }
  }
}

TEST(ImageStream, LenientAcceptsATruncatedLastImage) {
  const Bytes whole = encoded(Format::jpeg);
  const Bytes cut(whole.begin(), whole.end() - 20);
  DecodeOptions options;
  options.accept = Acceptance::lenient;
  EXPECT_EQ(images_in(whole + cut, 100, options).images, (Images{whole, cut}));
}

TEST(ImageStream, PlainNetpbmSamplesAreCounted) {
  const std::vector<Bytes> images{bytes_of("P2 2 2 9 1 2 # comment 5\n3 4"), bytes_of("P1 3 2 101 0#\n1 0"),
                                  bytes_of("P3\n1 1\n255\n1 2 3"), bytes_of("P5 1 1 255 x")};
  Bytes stream;
  for (const Bytes& image : images) stream = stream + image + bytes_of("\n");
  for (const std::size_t read_size : {1, 5, 1000}) EXPECT_EQ(images_in(stream, read_size).images, images);
  // The last number may end with the stream.
  EXPECT_EQ(images_in(bytes_of("P2 2 1 9 1 23")).images, Images{bytes_of("P2 2 1 9 1 23")});
  EXPECT_NE(images_in(bytes_of("P2 2 1 9 1 ")).reason.find("truncated: the stream"), std::string::npos);
  EXPECT_NE(images_in(bytes_of("P2 2 1 9 1 x")).reason.find("not a number"), std::string::npos);
}

TEST(ImageStream, PaddingAfterAnImageIsSkipped) {
  const Bytes jpeg = encoded(Format::jpeg);
  const Bytes pgm = encoded(Format::pgm, 1);
  const Bytes fill = number(0x0000FFFF) + bytes_of(" \n") + number(0xFF, 1);
  for (const std::size_t read_size : {1, 2, 3, 1000}) {
    const Found found = images_in(jpeg + fill + jpeg + fill, read_size);
    EXPECT_EQ(found.images, (Images{jpeg, jpeg}));
    EXPECT_EQ(found.at[1], static_cast<std::int64_t>(jpeg.size() + fill.size()));
    EXPECT_EQ(images_in(pgm + bytes_of(" \n\n") + pgm + bytes_of("\n"), read_size).images,
              (Images{pgm, pgm}));
  }
  // Zeros after an image of another format, or after a PGM, are not padding.
  EXPECT_NE(images_in(encoded(Format::png) + Bytes(4) + jpeg).reason.find("not an image"), std::string::npos);
  EXPECT_NE(images_in(pgm + Bytes(4) + jpeg).reason.find("not an image"), std::string::npos);
}

// Data after an image is skipped only if Exif identifies the file as a camera's.
TEST(ImageStream, CameraTrailersAreSkipped) {
  const Bytes plain = encoded(Format::jpeg);
  const Bytes camera = with_thumbnail(plain, turned_exif());
  const Bytes film = bytes_of(
      "\0\0\0\x18"
      "ftypmp42\xFF\xD8 no picture \x89PNG \xFF"sv);
  for (const std::size_t read_size : {1, 7, 1000}) {
    EXPECT_EQ(images_in(camera + film, read_size).images, Images{camera});
    for (const Bytes& next : {plain, camera, encoded(Format::png)}) {
      const Found found = images_in(camera + film + next, read_size);
      EXPECT_EQ(found.images, (Images{camera, next}));
      EXPECT_EQ(found.at.back(), static_cast<std::int64_t>(camera.size() + film.size()));
    }
    EXPECT_EQ(images_in(plain + film + plain, read_size).reason, "not an image of a known format");
  }
  const Bytes stream = camera + film + plain + film;
  ImageStream images(byte_source_of(stream, 100), {});
  while (images.images() < 2 && !images.at_end()) (void)images.next();
  EXPECT_EQ(images.skipped_bytes(), static_cast<std::int64_t>(film.size()) - 3);  // zeros
}

// Trailing images belong to their file. If a program has cut them off, the next image follows.
TEST(ImageStream, IndexedImagesBelongToTheirFile) {
  const Bytes main = encoded(Format::jpeg);
  const Bytes preview = encoded(Format::jpeg, 1);
  for (const std::size_t padding : {0, 1, 5}) {
    const Bytes file = picture_and_preview(main, preview, padding);
    const auto alone = static_cast<std::ptrdiff_t>(file.size() - preview.size() - 2 * padding);
    const Bytes picture(file.begin(), file.begin() + alone);
    for (const std::size_t read_size : {1, 3, 100, 100'000}) {
      const Found found = images_in(file + file + main + file, read_size);
      EXPECT_EQ(found.reason, "");
      EXPECT_EQ(found.images, (Images{picture, picture, main, picture})) << padding << ", " << read_size;
      EXPECT_EQ(found.at[1], static_cast<std::int64_t>(file.size()));
      // The preview is cut off but still in the index: any image may follow, or none.
      for (const Bytes& next : of_every_kind())
        EXPECT_EQ(images_in(picture + next + main, read_size).images, (Images{picture, next, main}));
      EXPECT_EQ(images_in(picture, read_size).images, Images{picture});
      EXPECT_EQ(images_in(picture + picture, read_size).images, (Images{picture, picture}));
    }
  }
}

TEST(ImageStream, FalseIndexIsHandled) {
  const Bytes main = encoded(Format::jpeg);
  for (const auto& [at, bytes] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {1, 10}, {0xFFFFFFFF, 0xFFFFFFFF}, {0x7FFFFFFF, 1}, {500, 0xFFFFFFFF}, {0, 5}}) {
    const Bytes lying = with_index(main, {{at, bytes}, {at, bytes}});
    EXPECT_EQ(images_in(lying + main, 50).images, (Images{lying, main})) << at;
  }
}

// A JPEG without its end, followed by another: the truncated image is returned, too.
TEST(ImageStream, StartMarkerEndsATruncatedJpeg) {
  const Bytes whole = encoded(Format::jpeg);
  const Bytes broken(whole.begin(), whole.end() - 30);
  EXPECT_EQ(images_in(whole + broken + whole, 10).images, (Images{whole, broken, whole}));
}

TEST(ImageStream, RestartMarkersAndFillBytesDoNotEndAnImage) {
  Bytes jpeg = encoded(Format::jpeg);
  const Bytes end(jpeg.end() - 2, jpeg.end());
  jpeg.resize(jpeg.size() - 2);
  for (std::uint32_t marker = 0xFFD0; marker <= 0xFFD7; ++marker) jpeg = jpeg + number(marker, 2);
  jpeg = jpeg + number(0xFF00FFFF) + number(0xFFFF, 2) + end;
  for (const std::size_t read_size : {1, 2, 1000})
    EXPECT_EQ(images_in(jpeg + jpeg, read_size).images, (Images{jpeg, jpeg}));
}

TEST(ImageStream, HostileLengthsAreRejectedCheaply) {
  const Bytes png_head = [] {
    const Bytes png = encoded(Format::png);
    return Bytes(png.begin(), png.begin() + 33);
  }();
  const std::vector<std::pair<Bytes, std::string>> cases{
      {bytes_of("P6 2147483647 2147483647 255 "), "too large"},
      {bytes_of("P6 99999999999 1 255 "), "out of range"},
      {bytes_of("P5 1 1 65536 "), "maximum value"},
      {bytes_of("P5 1 x "), "header"},
      {png_head + number(0xFFFFFFFF) + bytes_of("IDAT") + Bytes(100), "invalid chunk"},
      {png_head + number(5) + bytes_of("I\1AT") + Bytes(100), "invalid chunk"},
      {png_head + number(0x7FFFFFFF) + bytes_of("IDAT") + Bytes(100), "truncated: the stream"},
      {bytes_of("BM") + Bytes(60), "0 bytes"},
      {bytes_of("BM") + number(0x19000000) + Bytes(60), "25 bytes"},
      {bytes_of("BM") + number(0xFFFFFFFF) + Bytes(60), "truncated: the stream"},
      {bytes_of("RIFF") + number(0) + bytes_of("WEBPVP8 ") + Bytes(60), "8 bytes"},
      {bytes_of("RIFF") + number(0x21000000) + bytes_of("WEBPVP8 ") + Bytes(60), "41 bytes"},
      {number(0xFFD8FFE1) + number(0, 2) + Bytes(60), "segment length must be at least 2, got 0"},
      {number(0xFFD8FFE1) + number(0xFFFF, 2) + Bytes(60), "truncated: the stream"},
      {bytes_of("nothing that is known, and long enough to be told from all there is"), "not an image"},
      {bytes_of("GIF89a") + Bytes(60), "the end of a gif image"},
      {encoded(Format::tiff), "the end of a tiff image"},
  };
  for (const auto& [bytes, words] : cases) {
    for (const std::size_t read_size : {1, 1000}) {
      const Found found = images_in(encoded(Format::ppm) + bytes, read_size);
      EXPECT_EQ(found.images, Images{encoded(Format::ppm)}) << words;
      EXPECT_NE(found.reason.find(words), std::string::npos) << words << ": " << found.reason;
    }
  }
}

// An image that is longer than its header allows is refused without reading more of it.
TEST(ImageStream, EndlessImageIsRejected) {
  DecodeOptions options;
  options.max_pixels = 1000;
  const Bytes front = bytes_of("P5 40000 30000 255 ");
  std::size_t given = 0;
  const ByteSource endless = [&](std::span<std::byte> buffer) {
    const std::size_t count = std::min<std::size_t>(buffer.size(), 4096);
    for (std::size_t i = 0; i < count; ++i)
      buffer[i] = given + i < front.size() ? front[given + i] : std::byte{1};
    given += count;
    return count;
  };
  ImageStream images(endless, options);
  ASSERT_FALSE(images.at_end());
  EXPECT_THROW((void)images.next(), Error);
  EXPECT_LE(given, std::size_t{1} << 17);
}

// Nothing is read after the image, so that an image from a camera is returned before the next one arrives.
TEST(ImageStream, CompleteImagesAreReturnedAtOnce) {
  for (const Bytes& image : of_every_kind()) {
    if (image.size() < 64) continue;  // shorter than the bytes that identify the format
    bool ended = false;
    const ByteSource source = [&, given = false](std::span<std::byte> buffer) mutable {
      EXPECT_FALSE(given) << "waits for the next";
      ended = given;
      given = true;
      std::ranges::copy(image, buffer.begin());
      return image.size();
    };
    ImageStream images(source, {});
    ASSERT_FALSE(images.at_end());
    EXPECT_EQ(images.next(), image);
    EXPECT_FALSE(ended);
  }
}

TEST(ImageStream, HoldsAtMostOneImage) {
  const Bytes image = encoded(Format::ppm);
  std::size_t given = 0;
  constexpr std::size_t kImages = 20'000;
  const ByteSource source = [&](std::span<std::byte> buffer) {
    const std::size_t count = std::min(buffer.size(), kImages * image.size() - given);
    EXPECT_LE(buffer.size(), std::size_t{1} << 18);
    for (std::size_t i = 0; i < count; ++i) buffer[i] = image[(given + i) % image.size()];
    given += count;
    return count;
  };
  ImageStream images(source, {});
  while (!images.at_end()) ASSERT_EQ(images.next(), image);
  EXPECT_EQ(images.images(), static_cast<std::int64_t>(kImages));
}

TEST(ImageStream, RealPhotographs) {
  IMGPIPE_NEED_CORPUS();
  std::vector<Bytes> images;
  Bytes stream;
  for (const auto& path : files_below(*corpus())) {
    const Bytes bytes = load(path);
    const auto format = format_by_content(bytes);
    if (!format || bytes.size() > 3'000'000 || stream.size() > 40'000'000) continue;
    if (*format != Format::jpeg && *format != Format::png && *format != Format::ppm) continue;
    const Decoded alone = try_decode(bytes);
    if (!alone.reason.empty() || !alone.warnings.empty()) continue;
    images.push_back(bytes);
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  ASSERT_GT(images.size(), 10U);
  const Found found = images_in(stream, 50'000);
  EXPECT_EQ(found.reason, "");
  ASSERT_EQ(found.images.size(), images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    // Found images end before a file's further images and padding; up to there, all bytes are equal.
    ASSERT_LE(found.images[i].size(), images[i].size());
    ASSERT_TRUE(std::equal(found.images[i].begin(), found.images[i].end(), images[i].begin())) << i;
    const Decoded as_file = try_decode(images[i]), as_found = try_decode(found.images[i]);
    ASSERT_EQ(as_found.reason, "");
    EXPECT_EQ(samples(as_found.image), samples(as_file.image));
  }
}

}  // namespace
}  // namespace imgpipe::test::image_stream_test
