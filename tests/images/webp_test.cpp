// Reading WebP: libwebp's own pixels, every part of the container, damage at every byte.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/synth.h"
#include "tests/support/decoding.h"
#include "tests/support/images.h"
#include "tests/support/profiles.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test::webp_test {
namespace {

Image picture(std::int64_t width, std::int64_t height, int channels, const std::string& content = "noise") {
  Image image({width, height, channels});
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c)
        image.view().row(y)[x * channels + c] = content_sample(c == 3 ? "noise" : content, x, y, c, 7);
    }
  }
  if (channels == 4) image.view().row(0)[3] = 9;  // alpha in use, even in one pixel
  return image;
}

// Returns a copy; RGB gets alpha 255.
Image as_rgba(const Image& image) {
  const std::int64_t channels = image.shape().channels;
  Image out({image.shape().width, image.shape().height, 4});
  for (std::int64_t y = 0; y < out.shape().height; ++y) {
    for (std::int64_t x = 0; x < out.shape().width; ++x) {
      for (int c = 0; c < 4; ++c)
        out.view().row(y)[4 * x + c] = c < channels ? image.view().row(y)[channels * x + c] : kMaxSample;
    }
  }
  return out;
}

std::string difference(const Image& expected, const Image& got) {
  if (expected.shape() != got.shape()) return "not of the same shape";
  return first_difference(expected.view(), got.view());
}

// Expects libwebp's pixels for every way of reading.
void expect_library_pixels(const Bytes& file, int channels) {
  const Image expected = library_rgba(file);
  ASSERT_FALSE(expected.empty());
  const Image got = decode(file);
  ASSERT_EQ(got.shape().channels, channels);
  EXPECT_EQ(difference(expected, as_rgba(got)), "");
  for (const std::int64_t rows : {1, 7}) EXPECT_EQ(difference(got, decode_in_bands(file, rows)), "") << rows;
}

std::vector<WebpKind> kinds() {
  return {{true, 0},      {true, 1},       {true, 6},           {false, 0, 1},
          {false, 4, 90}, {false, 6, 100}, {false, 4, 50, true}};
}

TEST(Webp, EveryKindAndSizeEqualsLibwebp) {
  for (const WebpKind& kind : kinds()) {
    for (const Size& size :
         {Size{1, 1}, {1, 2}, {2, 1}, {1, 37}, {37, 1}, {15, 17}, {16, 16}, {33, 31}, {127, 5}, {131, 67}}) {
      for (const int channels : {3, 4}) {
        for (const char* content : {"noise", "ramp", "two_valued"}) {
          SCOPED_TRACE(std::to_string(size.width) + "x" + std::to_string(size.height) + " lossless " +
                       std::to_string(kind.lossless) + " effort " + std::to_string(kind.effort) +
                       " channels " + std::to_string(channels) + " " + content);
          const Image image = picture(size.width, size.height, channels, content);
          const Bytes file = make_webp(kind, image.view());
          expect_library_pixels(file, channels);
          if (kind.lossless) {
            EXPECT_EQ(difference(image, decode(file)), "");
          }
        }
      }
    }
  }
}

TEST(Webp, HeaderDescribesTheImage) {
  const auto reader = open_reader(make_webp({}, picture(5, 3, 3).view()));
  const ImageHeader& header = reader->header();
  EXPECT_EQ(header.format, Format::webp);
  EXPECT_EQ(header.shape, (Shape{5, 3, 3}));
  EXPECT_EQ(header.bits_per_sample, 8);
  EXPECT_FALSE(header.more_images);
  EXPECT_EQ(header.profile, "");
  EXPECT_EQ(header.orientation, Orientation::upright);
}

TEST(Webp, ReadersWriteOnlyTheirRows) {
  for (const WebpKind& kind : kinds()) {
    for (const int channels : {3, 4}) {
      const Bytes file = make_webp(kind, picture(13, 7, channels).view());
      const auto reader = open_reader(file);
      GuardedPlane target(reader->header().shape, 9, 3);
      reader->read_rows(target.view());
      EXPECT_EQ(target.damage(), "");
      const Image expected = decode(file);
      EXPECT_EQ(first_difference(expected.view(), std::as_const(target).view()), "");
      EXPECT_THROW(reader->read_rows(target.view()), Error) << "more rows than there are";
    }
  }
}

// ---- the container ----------------------------------------------------------------------------------

Bytes plain_chunks(int channels = 3) {
  return picture_chunks(make_webp({}, picture(6, 4, channels).view()));
}

Bytes extended(int flags, const Bytes& before, const Bytes& after) {
  return riff_file(vp8x(flags, 6, 4) + before + plain_chunks() + after);
}

TEST(Webp, ExifRotatesTheImage) {
  const Image stored = decode(extended(0, {}, {}));
  for (const bool head : {false, true}) {
    const Bytes exif =
        riff_chunk("EXIF", (head ? bytes_of(std::string_view("Exif\0\0", 6)) : Bytes()) + turned_exif());
    const Bytes file = extended(kWebpExif, {}, exif);
    EXPECT_EQ(open_reader(file)->header().orientation, Orientation::rotate_90);
    const Image turned = decode(file);
    ASSERT_EQ(turned.shape(), (Shape{4, 6, 3}));
    Image expected(turned.shape());
    orient_pixels(std::as_const(stored).untyped_view(), expected.untyped_view(), Orientation::rotate_90);
    EXPECT_EQ(difference(expected, turned), "");
    EXPECT_EQ(difference(expected, decode_in_bands(file, 1)), "");
    EXPECT_EQ(difference(stored, decode(extended(0, {}, exif))), "") << "VP8X does not speak of it";
    EXPECT_EQ(difference(expected, decode(extended(kWebpExif, exif, {}))), "") << "before the picture";
  }
}

TEST(Webp, ProfileIsNamed) {
  const auto name = [](const Bytes& file) { return open_reader(file)->header().profile; };
  const Bytes adobe = riff_chunk("ICCP", adobe_profile());
  EXPECT_EQ(name(extended(kWebpProfile, adobe, {})), "Adobe RGB (1998)");
  EXPECT_EQ(name(extended(0, adobe, {})), "") << "VP8X does not speak of it";
  EXPECT_EQ(name(extended(kWebpProfile, {}, adobe)), "") << "it has to stand before the picture";
  EXPECT_EQ(name(extended(kWebpProfile, {}, {})), "");
  EXPECT_EQ(name(extended(kWebpProfile, riff_chunk("ICCP", bytes_of("x")), {})), "unnamed");
}

TEST(Webp, OtherChunksAreSkipped) {
  const Bytes odd = riff_chunk("XYZ ", bytes_of("abc"));
  const Image plain = decode(make_webp({}, picture(6, 4, 3).view()));
  for (const Bytes& file : {extended(0, odd, {}), extended(0, {}, odd), extended(0, odd + odd, odd),
                            riff_file(plain_chunks() + odd), extended(kWebpAlpha, {}, {}),
                            extended(0, {}, riff_chunk("XMP ", bytes_of("<x/>")))}) {
    EXPECT_EQ(difference(plain, decode(file)), "");
    EXPECT_FALSE(open_reader(file)->header().more_images);
  }
  // Also after the alpha of a lossy image.
  const Bytes lossy = picture_chunks(make_webp({false, 4}, picture(6, 4, 4).view()));
  ASSERT_EQ(std::string(reinterpret_cast<const char*>(lossy.data()), 4), "ALPH");
  const std::size_t alpha =
      8 + std::to_integer<std::size_t>(lossy[4]) + (std::to_integer<std::size_t>(lossy[4]) & 1);
  const Bytes apart =
      cut(lossy, alpha) + odd + Bytes(lossy.begin() + static_cast<std::ptrdiff_t>(alpha), lossy.end());
  expect_library_pixels(riff_file(vp8x(kWebpAlpha, 6, 4) + lossy), 4);
  EXPECT_EQ(difference(decode(riff_file(vp8x(kWebpAlpha, 6, 4) + lossy)),
                       decode(riff_file(vp8x(kWebpAlpha, 6, 4) + apart))),
            "");
}

TEST(Webp, PaddingMayBeMissingAtTheEnd) {
  const Bytes whole = extended(0, {}, riff_chunk("XYZ ", bytes_of("abc")));
  Bytes bare = cut(whole, whole.size() - 1);
  const Bytes size = riff_number(static_cast<std::uint32_t>(bare.size() - 8), 4);
  std::ranges::copy(size, bare.begin() + 4);  // odd
  EXPECT_EQ(difference(decode(whole), decode(bare)), "");
}

TEST(Webp, AnimationsYieldTheirFirstFrame) {
  for (const int channels : {3, 4}) {
    for (const bool lossless : {true, false}) {
      const Bytes frame = make_webp({lossless, 1}, picture(6, 4, channels).view());
      const Bytes chunks = picture_chunks(frame);
      const Bytes head = vp8x(kWebpAnimated, 6, 4) + anim();
      const Bytes one = riff_file(head + anmf(0, 0, 6, 4, chunks));
      const Bytes two = riff_file(head + anmf(0, 0, 6, 4, chunks) + anmf(2, 2, 4, 2, plain_chunks()));
      for (const Bytes& file : {one, two}) {
        EXPECT_EQ(difference(decode(frame), decode(file)), "");
        EXPECT_EQ(open_reader(file)->header().more_images, file == two);
      }
    }
  }
}

// The area outside a frame is transparent black.
TEST(Webp, FramesArePlacedOnTheCanvas) {
  for (const int channels : {3, 4}) {
    const Image small = picture(6, 4, channels);
    const Image full = as_rgba(small);
    const Bytes frame = anmf(4, 2, 6, 4, picture_chunks(make_webp({}, small.view())));
    const Bytes file = riff_file(vp8x(kWebpAnimated, 11, 9) + anim() + frame);
    const Image got = decode(file);
    ASSERT_EQ(got.shape(), (Shape{11, 9, 4}));
    for (std::int64_t y = 0; y < 9; ++y) {
      for (std::int64_t x = 0; x < 11; ++x) {
        const bool inside = x >= 4 && x < 10 && y >= 2 && y < 6;
        for (int c = 0; c < 4; ++c) {
          const int expected = inside ? full.view().row(y - 2)[4 * (x - 4) + c] : 0;
          ASSERT_EQ(int{got.view().row(y)[4 * x + c]}, expected) << x << "," << y << "," << c;
        }
      }
    }
    EXPECT_EQ(difference(got, decode_in_bands(file, 2)), "");
  }
}

// ---- refusals ---------------------------------------------------------------------------------------

std::string refusal(const Bytes& chunks) {
  const std::string reason = failure(riff_file(chunks));
  EXPECT_EQ(reason.rfind("WebP: ", 0), 0U) << reason;
  return reason.substr(std::min<std::size_t>(6, reason.size()));
}

TEST(Webp, ContradictoryContainersAreRejected) {
  const Bytes plain = plain_chunks();
  const Bytes frame = anmf(0, 0, 6, 4, plain);
  EXPECT_EQ(refusal(riff_chunk("XYZ ", bytes_of("abcdefgh")) + plain), "the first chunk is not an image");
  EXPECT_EQ(refusal(riff_chunk("ALPH", bytes_of("abcdefgh")) + plain), "the first chunk is not an image");
  EXPECT_EQ(refusal(vp8x(0, 6, 4)), "no image in the file");
  EXPECT_EQ(refusal(vp8x(0, 6, 4) + frame), "no image in the file");
  EXPECT_EQ(refusal(vp8x(kWebpAnimated, 6, 4) + anim() + plain), "no image in the file");
  EXPECT_EQ(refusal(vp8x(kWebpAnimated, 6, 4) + frame), "frame before the ANIM chunk");
  EXPECT_EQ(refusal(vp8x(0, 7, 4) + plain), "the image differs in size from the canvas");
  EXPECT_EQ(refusal(vp8x(0, 6, 5) + plain), "the image differs in size from the canvas");
  EXPECT_EQ(refusal(riff_chunk("VP8X", bytes_of("123456789")) + plain), "the VP8X chunk is damaged");
  EXPECT_EQ(refusal(vp8x(0, 1 << 24, 1 << 24) + plain), "the canvas is too large");
  const Bytes head = vp8x(kWebpAnimated, 6, 4) + anim();
  EXPECT_EQ(refusal(head + anmf(2, 0, 6, 4, plain)), "the first frame exceeds the image");
  EXPECT_EQ(refusal(head + anmf(0, 2, 6, 4, plain)), "the first frame exceeds the image");
  EXPECT_EQ(refusal(head + anmf(0, 0, 6, 3, plain)), "the first frame differs in size from its image");
  EXPECT_EQ(refusal(head + anmf(0, 0, 6, 4, {})), "no image in the first frame");
  EXPECT_EQ(refusal(head + riff_chunk("ANMF", bytes_of("short"))), "the first frame is damaged");
  EXPECT_EQ(refusal(head + anmf(0, 0, 6, 4, cut(plain, plain.size() - 2))), "a chunk exceeds its frame");
  EXPECT_EQ(refusal(riff_chunk("VP8L", bytes_of("12345"))), "the image header is damaged");
  EXPECT_EQ(refusal(riff_chunk("VP8 ", bytes_of("1234567890"))), "the image header is damaged");
  EXPECT_EQ(failure(bytes_of("RIFF....WEBPVP8 ")), "WebP: the header is truncated");
}

TEST(Webp, TruncationIsRejected) {
  for (const WebpKind& kind : kinds()) {
    const Bytes plain = make_webp(kind, picture(9, 5, 4).view());
    const Bytes animated =
        riff_file(vp8x(kWebpAnimated, 9, 5) + anim() + anmf(0, 0, 9, 5, picture_chunks(plain)));
    const Bytes described = riff_file(
        vp8x(kWebpExif | kWebpProfile, 9, 5) + riff_chunk("ICCP", bytes_of("no profile")) +
        picture_chunks(plain) + riff_chunk("EXIF", turned_exif()) + riff_chunk("XMP ", bytes_of("<x/>")));
    for (const Bytes& file : {plain, animated, described}) {
      for (std::size_t size = 0; size < file.size(); ++size) {
        const Bytes shorter = cut(file, size);
        const std::string reason = failure(shorter);
        ASSERT_NE(reason, "") << size;
        if (size >= 30) {
          ASSERT_EQ(reason, "WebP: the file is truncated") << size;
        }
        const Decoded kept = decode_leniently(shorter);
        ASSERT_EQ(kept.reason.empty(), !kept.image.empty()) << size;
        if (kept.reason.empty()) {
          ASSERT_EQ(kept.warnings, Strings{"damaged WebP: the file is truncated"}) << size;
        }
      }
    }
  }
}

TEST(Webp, LenientKeepsDecodedRows) {
  for (const bool lossless : {true, false}) {
    const Bytes file = make_webp({lossless, 1}, picture(64, 200, 3).view());
    const Image whole = decode(file);
    const Decoded half = decode_leniently(cut(file, file.size() / 2));
    ASSERT_EQ(half.reason, "");
    std::int64_t kept = 0;
    while (
        kept < 200 &&
        first_difference(whole.view().rows(kept, 1), std::as_const(half.image).view().rows(kept, 1)).empty())
      ++kept;
    EXPECT_GT(kept, 50);
    EXPECT_LT(kept, 150);
    for (std::int64_t y = kept; y < 200; ++y) {
      for (std::int64_t x = 0; x < 192; ++x) ASSERT_EQ(half.image.view().row(y)[x], 128) << y;
    }
  }
}

TEST(Webp, ChangedBytesAreHandledSafely) {
  for (const WebpKind& kind : {WebpKind{true, 1}, {false, 0, 50}, {false, 4, 20, true}}) {
    const Bytes plain = make_webp(kind, picture(8, 5, 4, "two_valued").view());
    expect_stable_when_damaged(plain);
    expect_stable_when_damaged(riff_file(
        vp8x(kWebpAnimated | kWebpExif | kWebpProfile, 10, 7) + riff_chunk("ICCP", bytes_of("no profile")) +
        anim() + anmf(2, 2, 8, 5, picture_chunks(plain)) + riff_chunk("EXIF", turned_exif())));
  }
}

TEST(Webp, TrailingBytesCauseAWarning) {
  const Bytes file = make_webp({}, picture(6, 4, 3).view());
  const std::string two = std::to_string(file.size()) + " bytes follow the image (another image?)";
  const std::pair<Bytes, std::string> whole[] = {{file + bytes_of("ab"), "2 bytes follow the image"},
                                                 {file + file, two}};
  for (const auto& [one, warning] : whole) {
    for (const Decoded& got : {try_decode(one), decode_leniently(one)}) {
      EXPECT_EQ(got.reason, "");
      EXPECT_EQ(got.warnings, Strings{warning});
      EXPECT_EQ(difference(decode(file), got.image), "");
    }
  }
  EXPECT_NE(failure(cut(file, file.size() - 2)), "");
  // A header with too short a length: the image is truncated, and its rest is not read as the next chunk.
  Bytes less = file;
  less[4] = static_cast<std::byte>(std::to_integer<int>(less[4]) - 4);
  EXPECT_NE(failure(less), "");
}

// A few bytes that claim 268 million pixels are refused by the limit; their memory need is known before.
TEST(Webp, HugeHeadersAreRejectedBeforeAllocation) {
  const Bytes lossless =
      riff_file(riff_chunk("VP8L", bytes_of("\x2F") + riff_number(16382 | 16382 << 14, 4)));
  Bytes tag = riff_number(0x10, 3) + bytes_of("\x9D\x01\x2A") + riff_number(16383, 2) + riff_number(16383, 2);
  const Bytes lossy = riff_file(riff_chunk("VP8 ", tag));
  for (const Bytes& file : {lossless, lossy}) {
    DecodeOptions options;
    const auto reader = open_reader(file, options);
    EXPECT_EQ(reader->header().shape, (Shape{16383, 16383, 3}));
    const std::int64_t pixels = reader->header().shape.pixels();
    EXPECT_GE(reader->working_bytes(false), 3 * pixels);
    if (&file == &lossless) {
      EXPECT_GE(reader->working_bytes(true), 4 * pixels);
    }
    options.max_pixels = pixels - 1;
    EXPECT_EQ(failure(file, options),
              "too large: 16383x16383 pixels; raise --max-pixels (now " + std::to_string(pixels - 1) + ")");
    EXPECT_THROW((void)longest_file(file, options), Error);
  }
  DecodeOptions options;
  options.max_pixels = 1000;
  EXPECT_NE(
      failure(riff_file(vp8x(kWebpAnimated, 1 << 20, 1 << 10) + anim() + anmf(0, 0, 6, 4, plain_chunks())),
              options)
          .find("too large"),
      std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test::webp_test
