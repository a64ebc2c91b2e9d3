// Decoders and encoders: round trips, every kind of damage, false headers, options.
#include "images/codecs/codec.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"
#include "images/text.h"
#include "tests/support/decoding.h"
#include "tests/support/images.h"

namespace imgpipe::test::codec_test {
namespace {

using Bytes = std::vector<std::byte>;

Image make_image(Shape shape, std::uint64_t seed = 5) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < shape.width * shape.channels; ++i) {
      image.view().row(y)[i] = content_sample("noise", i, y, 0, seed);
    }
  }
  return image;
}

Bytes encode(const Image& image, Format format, const EncodeOptions& options = {}) {
  const auto writer = make_writer(format, image.shape(), options);
  writer->write_rows(image.view());
  return writer->finish().joined();
}

Bytes text_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

const std::vector<Format>& lossless() {
  static const std::vector<Format> formats{Format::png,  Format::bmp, Format::tga, Format::webp,
                                           Format::tiff, Format::pgm, Format::ppm};
  return formats;
}

// ---- round trips ------------------------------------------------------------------------------------

TEST(Codec, LosslessRoundTrips) {
  for (const Format format : lossless()) {
    for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::stb}) {
      for (int channels = 1; channels <= 4; ++channels) {
        if (format == Format::pgm && channels >= 3) continue;
        for (const Size& size :
             {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{5, 3}, Size{64, 33}, Size{257, 3}}) {
          SCOPED_TRACE(std::string(format_info(format).name) + " channels " + std::to_string(channels) + " " +
                       std::to_string(size.width) + "x" + std::to_string(size.height) +
                       (codec == CodecChoice::stb ? " stb" : ""));
          const Shape shape{size.width, size.height, channels};
          const Image image = make_image(shape);
          EncodeOptions encoding;
          encoding.codec = codec;
          DecodeOptions decoding;
          decoding.codec = codec;
          const Image back = decode(encode(image, format, encoding), decoding);
          // Features that the format lacks are dropped or expanded; colours must survive.
          const int colors = shape.color_channels();
          ASSERT_EQ(back.shape().width, size.width);
          ASSERT_EQ(back.shape().height, size.height);
          const int back_colors = back.shape().color_channels();
          for (std::int64_t y = 0; y < size.height; ++y) {
            for (std::int64_t x = 0; x < size.width; ++x) {
              const Sample8* in = image.view().row(y) + x * channels;
              const Sample8* out = back.view().row(y) + x * back.shape().channels;
              for (int c = 0; c < back_colors; ++c)
                ASSERT_EQ(int{out[c]}, int{in[colors == 3 ? c : 0]}) << "x=" << x << " y=" << y;
              if (shape.has_alpha() && format_info(format).holds_alpha) {
                ASSERT_TRUE(back.shape().has_alpha());
                ASSERT_EQ(int{out[back.shape().channels - 1]}, int{in[channels - 1]});
              }
            }
          }
        }
      }
    }
  }
}

TEST(Codec, WritersAcceptRowsInBandsOfAnySize) {
  const Image image = make_image({23, 17, 3});
  for (const Format format :
       {Format::png, Format::bmp, Format::tga, Format::ppm, Format::jpeg, Format::webp}) {
    const Bytes whole = encode(image, format);
    const auto writer = make_writer(format, image.shape());
    for (std::int64_t y = 0; y < 17; y += 5)
      writer->write_rows(image.view().rows(y, std::min<std::int64_t>(5, 17 - y)));
    EXPECT_EQ(writer->finish().joined(), whole) << format_info(format).name;
  }
}

TEST(Codec, ReadersReturnRowsInBandsOfAnySize) {
  const Image image = make_image({23, 17, 3});
  for (const Format format :
       {Format::png, Format::bmp, Format::tga, Format::ppm, Format::jpeg, Format::webp}) {
    const Bytes bytes = encode(image, format);
    const Image whole = decode(bytes);
    for (const std::int64_t band : {1, 4, 16}) {
      const auto reader = open_reader(bytes);
      Image banded(reader->header().shape);
      for (std::int64_t y = 0; y < 17; y += band) {
        reader->read_rows(banded.view().rows(y, std::min<std::int64_t>(band, 17 - y)));
      }
      EXPECT_EQ(first_difference(whole.view(), std::as_const(banded).view()), "")
          << format_info(format).name << " band " << band;
      EXPECT_THROW(reader->read_rows(banded.view().rows(0, 1)), Error) << "more rows than there are";
    }
  }
}

TEST(Codec, ReadersWriteOnlyTheirSamples) {
  for (const Format format :
       {Format::png, Format::bmp, Format::tga, Format::ppm, Format::jpeg, Format::webp}) {
    const Bytes bytes = encode(make_image({13, 7, 3}), format);
    const auto reader = open_reader(bytes);
    GuardedPlane target(reader->header().shape, 9, 3);
    reader->read_rows(target.view());
    EXPECT_EQ(target.damage(), "") << format_info(format).name;
  }
}

TEST(Codec, JpegIsCloseAndKeepsTheGreyRange) {
  const Image photo = synthesize(parse_pattern("photo"), {97, 61, 3}, 3);
  const Image back = decode(encode(photo, Format::jpeg, {.quality = 95}));
  ASSERT_EQ(back.shape(), photo.shape());
  double error = 0;
  for (std::int64_t y = 0; y < 61; ++y) {
    for (std::int64_t i = 0; i < 97 * 3; ++i)
      error += std::abs(photo.view().row(y)[i] - back.view().row(y)[i]);
  }
  EXPECT_LT(error / static_cast<double>(photo.shape().samples()), 3.0);
  // Grey values stay grey.
  const Image grey = synthesize(parse_pattern("constant:200"), {16, 16, 1}, 1);
  const Image grey_back = decode(encode(grey, Format::jpeg));
  for (int c = 0; c < grey_back.shape().channels; ++c)
    EXPECT_NEAR(grey_back.view().row(8)[8 * grey_back.shape().channels + c], 200, 1);
}

TEST(Codec, QualityAndLevelAffectSize) {
  const Image photo = synthesize(parse_pattern("photo"), {200, 150, 3}, 3);
  EXPECT_LT(encode(photo, Format::jpeg, {30, 1, {}}).size(), encode(photo, Format::jpeg, {95, 1, {}}).size());
  EXPECT_LE(encode(photo, Format::png, {90, 9, {}}).size(), encode(photo, Format::png, {90, 0, {}}).size());
}

// ---- recognition and capabilities of formats --------------------------------------------------------

TEST(Codec, FormatsAreDetectedFromContent) {
  const Image image = make_image({9, 9, 1});
  for (const Format format : {Format::png, Format::jpeg, Format::bmp, Format::tga, Format::tiff, Format::pgm,
                              Format::ppm, Format::webp}) {
    EXPECT_EQ(open_reader(encode(image, format))->header().format, format) << format_info(format).name;
  }
  EXPECT_NE(failure({}).find("empty"), std::string::npos);
  EXPECT_NE(failure(text_bytes("hello, this is not an image")).find("not an image"), std::string::npos);
  EXPECT_NE(failure(text_bytes("RIFF....WEBPVP8 ")).find("WebP"), std::string::npos);
  EXPECT_NE(failure(text_bytes(std::string_view("II*\0........", 12))).find("TIFF: "), std::string::npos);
  EXPECT_NE(failure(text_bytes("#?RADIANCE\n")).find("HDR"), std::string::npos);
}

TEST(Codec, FormatNamesAndExtensions) {
  EXPECT_EQ(format_by_ending("a/b.c/photo.JPG"), Format::jpeg);
  EXPECT_EQ(format_by_ending("x.jpeg"), Format::jpeg);
  EXPECT_EQ(format_by_ending("x.y.PnG"), Format::png);
  EXPECT_EQ(format_by_ending("dir.png/file"), std::nullopt);
  EXPECT_EQ(format_by_ending("png"), std::nullopt);
  EXPECT_EQ(format_by_ending(""), std::nullopt);
  EXPECT_EQ(format_by_name("TGA"), Format::tga);
  EXPECT_EQ(format_by_name("WebP"), Format::webp);
  EXPECT_EQ(format_by_name("AVIF"), Format::avif);
  EXPECT_EQ(format_by_name("exr"), std::nullopt);
}

TEST(Codec, StorableShapes) {
  EXPECT_EQ(storable_shape(Format::jpeg, {3, 2, 4}).channels, 3);
  EXPECT_EQ(storable_shape(Format::jpeg, {3, 2, 2}).channels, 1);
  EXPECT_EQ(storable_shape(Format::png, {3, 2, 2}).channels, 2);
  EXPECT_EQ(storable_shape(Format::bmp, {3, 2, 2}).channels, 4);
  EXPECT_EQ(storable_shape(Format::ppm, {3, 2, 1}).channels, 3);
  EXPECT_EQ(storable_shape(Format::webp, {3, 2, 1}).channels, 3);
  EXPECT_EQ(storable_shape(Format::webp, {3, 2, 2}).channels, 4);
  EXPECT_EQ(storable_shape(Format::pgm, {3, 2, 2}).channels, 1);
  EXPECT_THROW((void)storable_shape(Format::pgm, {3, 2, 3}), Error);
  EXPECT_THROW((void)make_writer(Format::gif, {3, 2, 3}), Error);
  EXPECT_THROW((void)make_writer(Format::jpeg, {65501, 1, 1}), Error);
  EXPECT_NO_THROW((void)make_writer(Format::jpeg, {65500, 1, 1}));
  EXPECT_THROW((void)make_writer(Format::tga, {1, 65536, 1}), Error);
  EXPECT_THROW((void)make_writer(Format::png, {std::int64_t{1} << 31, 1, 1}), Error);
  EncodeOptions stb;
  stb.codec = CodecChoice::stb;
  EXPECT_THROW((void)make_writer(Format::png, {40000, 40000, 3}, stb), Error);
}

// ---- damage -----------------------------------------------------------------------------------------

TEST(Damage, TruncationAtEveryByte) {
  for (const Format format :
       {Format::png, Format::jpeg, Format::bmp, Format::tga, Format::pgm, Format::ppm, Format::webp}) {
    const Bytes bytes = encode(make_image({11, 7, format == Format::pgm ? 1 : 3}), format);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      // stb_image_write ends a TGA with its last pixel, so any cut loses data; a JPEG without its end marker
      // is truncated, too.
      ASSERT_NE(failure(cut), "") << format_info(format).name << " cut to " << length << " of "
                                  << bytes.size();
      DecodeOptions lenient;
      lenient.accept = Acceptance::lenient;
      (void)failure(cut, lenient);  // must not crash; may succeed
    }
  }
}

TEST(Damage, EveryBitOfAPngsCriticalChunks) {
  const Image image = make_image({9, 5, 3});
  const Bytes bytes = encode(image, Format::png);
  std::size_t position = 8;
  int flips = 0;
  while (position + 12 <= bytes.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
      length = length << 8 | std::to_integer<std::size_t>(bytes[position + i]);
    const std::size_t chunk_bytes = 12 + length;
    for (std::size_t bit = 0; bit < chunk_bytes * 8; ++bit) {
      Bytes damaged = bytes;
      damaged[position + bit / 8] ^= std::byte{1} << (bit % 8);
      ASSERT_NE(failure(damaged), "") << "bit " << bit % 8 << " of byte " << position + bit / 8;
      ++flips;
    }
    position += chunk_bytes;
  }
  EXPECT_EQ(position, bytes.size());
  EXPECT_GT(flips, 8 * (25 + 12 + 12));
}

// Found by replaying the fuzzer: stb quotes the name of an unknown chunk.
TEST(Damage, StbErrorsContainNoBytesOfTheFile) {
  Bytes png = encode(make_image({4, 4, 1}), Format::png);
  png[png.size() - 8] = std::byte{0x8A};  // IEND becomes a critical chunk with an unknown name
  DecodeOptions stb;
  stb.codec = CodecChoice::stb;
  EXPECT_NE(failure(png, stb).find("unknown critical chunk"), std::string::npos);
  png[png.size() - 7] = std::byte{0};
  EXPECT_NE(failure(png, stb).find("unknown critical chunk"), std::string::npos);
}

// Found by the fuzzer: stb reads past the end of a Huffman segment that ends inside a table, and takes the
// table's counts from the bytes that follow.
TEST(Damage, HuffmanTablesThatOverrunStbAreRejected) {
  const Bytes good = encode(make_image({16, 16, 3}), Format::jpeg);
  DecodeOptions stb;
  stb.codec = CodecChoice::stb;
  EXPECT_EQ(failure(good, stb), "");
  for (const std::size_t length : {3, 10, 19, 200}) {
    Bytes segment = text_bytes(std::string_view("\xFF\xC4\x00\x00\x00", 5));
    segment[3] = static_cast<std::byte>(length);
    segment.resize(segment.size() + 300, std::byte{0xFF});
    Bytes bad = good;
    bad.insert(bad.begin() + 2, segment.begin(), segment.end());
    EXPECT_NE(failure(bad, stb).find("more than 256 codes"), std::string::npos) << length;
  }
}

// Changing any byte in any file must not crash or hang a decoder, and two decodes must give the same pixels.
TEST(Damage, EveryByteChangedInEveryFormat) {
  for (const Format format : {Format::png, Format::jpeg, Format::bmp, Format::tga, Format::pgm}) {
    const Bytes bytes = encode(make_image({8, 8, 1}), format);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const int change : {0x01, 0x80, 0xFF}) {
        Bytes damaged = bytes;
        damaged[i] ^= static_cast<std::byte>(change);
        DecodeOptions options;
        options.max_pixels = 1 << 20;
        for (const bool lenient : {false, true}) {
          options.accept = lenient ? Acceptance::lenient : Acceptance::strict;
          const std::string first = failure(damaged, options);
          ASSERT_EQ(failure(damaged, options), first);
          if (first.empty()) {
            ASSERT_EQ(samples(decode(damaged, options)), samples(decode(damaged, options)));
          }
        }
      }
    }
  }
}

// Decodes the first half of a PNG of the image with --lenient.
Image half_of_png(const Image& image) {
  Bytes bytes = encode(image, Format::png);
  bytes.resize(bytes.size() / 2);
  DecodeOptions lenient;
  lenient.accept = Acceptance::lenient;
  const auto reader = open_reader(bytes, lenient);
  Image back(reader->header().shape);
  reader->read_rows(back.view());
  EXPECT_FALSE(reader->warnings().empty());
  return back;
}

TEST(Damage, LenientPngKeepsRowsBeforeTheDamage) {
  const Image image = make_image({64, 64, 3});
  const Image back = half_of_png(image);
  EXPECT_EQ(first_difference(image.view().rows(0, 20), back.view().rows(0, 20)), "");
  EXPECT_EQ(int{back.view().row(63)[0]}, 128);
  EXPECT_EQ(int{back.view().row(63)[63 * 3 + 2]}, 128);
}

TEST(Damage, MissingPixelsOfPngsWithAlphaAreOpaque) {
  for (const int channels : {2, 4}) {
    const Image image = make_image({64, 64, channels});
    const Image back = half_of_png(image);
    const Sample8* last = back.view().row(63) + 63 * channels;
    for (int c = 0; c < channels; ++c) EXPECT_EQ(int{last[c]}, c == channels - 1 ? 255 : 128);
  }
}

TEST(Damage, HeadersAreValidatedBeforePixelsAreAllocated) {
  DecodeOptions options;
  options.max_pixels = 100;
  for (const Format format :
       {Format::png, Format::jpeg, Format::bmp, Format::tga, Format::ppm, Format::webp}) {
    EXPECT_NE(failure(encode(make_image({11, 10, 3}), format), options).find("--max-pixels (now 100)"),
              std::string::npos);
    EXPECT_EQ(failure(encode(make_image({10, 10, 3}), format), options), "");
    for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::stb}) {
      options.codec = codec;
      EXPECT_NE(failure(encode(make_image({101, 1, 3}), format), options), "");
    }
    options.codec = CodecChoice::automatic;
  }
}

TEST(Damage, BmpWithExcessiveClaims) {
  const Bytes good = encode(make_image({8, 8, 3}), Format::bmp);
  const auto with = [&](std::size_t at, std::initializer_list<int> values) {
    Bytes bytes = good;
    for (const int value : values) bytes[at++] = static_cast<std::byte>(value);
    return failure(bytes);
  };
  EXPECT_EQ(failure(good), "");
  EXPECT_NE(with(18, {0xFF, 0xFF, 0xFF, 0x7F}), "");  // width
  EXPECT_NE(with(22, {0, 0, 0, 0x80}), "");           // height -2^31
  EXPECT_NE(with(10, {0xFF, 0xFF, 0xFF, 0xFF}), "");  // offset of the pixels
  EXPECT_NE(with(10, {4, 0, 0, 0}), "");
  EXPECT_NE(with(28, {3, 0}), "");    // bits
  EXPECT_NE(with(30, {1, 0}), "");    // RLE
  EXPECT_NE(with(14, {200, 0}), "");  // header size
  // 8 bits, a palette of two colours, and an index of 7.
  Bytes indexed(14 + 40 + 8 + 4, std::byte{0});
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) indexed[at + i] = static_cast<std::byte>(value >> (8 * i));
  };
  std::memcpy(indexed.data(), "BM", 2);
  put(2, 66), put(10, 62), put(14, 40), put(18, 1), put(22, 1), put(26, 1 | 8 << 16), put(46, 2);
  indexed[62] = std::byte{1};
  EXPECT_EQ(failure(indexed), "");
  indexed[62] = std::byte{7};
  EXPECT_NE(failure(indexed).find("palette"), std::string::npos);
}

TEST(Text, PrintableEscapesControlsAndInvalidUtf8) {
  EXPECT_EQ(printable("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(printable("a\nb\x1B[31m\x7F"), "a\\x0Ab\\x1B[31m\\x7F");
  EXPECT_EQ(printable("\xFF\xC3"), "\\xFF\\xC3");
  EXPECT_EQ(printable("\xC0\x80"), "\\xC0\\x80");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xED\\xA0\\x80");
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xC2\x85"), "\\xC2\\x85");
  EXPECT_EQ(printable("\xE2\x80\x8F"), "\\xE2\\x80\\x8F") << "a mark that turns the direction of text";
  EXPECT_EQ(printable("\xEF\xBF\xBF"), "\\xEF\\xBF\\xBF") << "no character, and no XML holds it";
  EXPECT_EQ(printable("\xF0\x9F\xBF\xBE"), "\\xF0\\x9F\\xBF\\xBE");
  EXPECT_EQ(printable("\xEF\xBF\xBD"), "\xEF\xBF\xBD");
  EXPECT_EQ(printable("\xE2\x80\xAE"), "\\xE2\\x80\\xAE");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace imgpipe::test::codec_test
