// Our own reader of the composite of Photoshop files, on files made byte by byte.
#include <cmath>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/decoding.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/psd_file.h"

namespace imgpipe::test::psd_test {
namespace {

Image decode_psd(const Psd& psd) {
  return decode(make_psd(psd));
}

Values noise(int count, int values, unsigned seed) {
  std::mt19937 random(seed);
  Values out(static_cast<std::size_t>(count));
  // Repeats values, so that packed rows contain runs.
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] =
        i > 0 && random() % 3 != 0 ? out[i - 1] : static_cast<int>(random() % static_cast<unsigned>(values));
  return out;
}

int rounded16(int value) {
  return (value * 255 + 32767) / 65535;
}

TEST(Psd, EveryDepthVersionAndCompression) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 7}, {300, 1}, {5, 5}, {17, 9}, {131, 3}}) {
    for (const int depth : {8, 16}) {
      for (const int version : {1, 2}) {
        for (const int compression : {0, 1}) {
          for (const int mode : {+kRgb, +kGrey, +kDuotone}) {
            Psd psd{width, height, mode, depth, version, compression};
            const int colors = mode == kRgb ? 3 : 1;
            for (int c = 0; c < colors; ++c)
              psd.channels.push_back(noise(width * height, 1 << depth, static_cast<unsigned>(depth + c)));
            const Image image = decode_psd(psd);
            ASSERT_EQ(image.shape(), (Shape{width, height, colors}));
            for (int i = 0; i < width * height * colors; ++i) {
              const int value =
                  psd.channels[static_cast<std::size_t>(i % colors)][static_cast<std::size_t>(i / colors)];
              ASSERT_EQ(int{image.view().data[i]}, depth == 8 ? value : rounded16(value))
                  << width << "x" << height << " depth " << depth << " packed " << compression << " sample "
                  << i;
            }
            const auto reader = open_reader(make_psd(psd));
            EXPECT_EQ(reader->header().bits_per_sample, depth);
            // With 16 bits requested, samples are returned as stored.
            const Image deep = decode(make_psd(psd), sixteen_bits());
            ASSERT_EQ(deep.shape().sample, depth == 16 ? Sample::u16 : Sample::u8);
            const Values values = samples(deep);
            for (std::size_t i = 0; i < values.size(); ++i) {
              const auto plane = i % static_cast<std::size_t>(colors);
              ASSERT_EQ(values[i], psd.channels[plane][i / static_cast<std::size_t>(colors)]) << i;
            }
          }
        }
      }
    }
  }
}

TEST(Psd, EverySixteenBitValueIsRounded) {
  Psd psd{256, 256, kGrey, 16};
  psd.channels.emplace_back(65536);
  for (int i = 0; i < 65536; ++i) psd.channels[0][static_cast<std::size_t>(i)] = i;
  const Image image = decode_psd(psd);
  for (int i = 0; i < 65536; ++i) ASSERT_EQ(int{image.view().data[i]}, rounded16(i)) << i;
}

// Colours blended over white at every alpha are restored as exactly as 8 bits allow.
TEST(Psd, WhiteIsRemovedFromTransparentColours) {
  for (const int depth : {8, 16}) {
    const int most = (1 << depth) - 1;
    Psd psd{256, 256, kGrey, depth};
    psd.layers = layer_count(-1);
    psd.channels.assign(2, Values(65536));
    Values expected(65536);
    for (std::size_t i = 0; i < 65536; ++i) {
      const int alpha = static_cast<int>(i / 256) * (most / 255);
      const int value = std::max(most - alpha, static_cast<int>(i % 256) * (most / 255));
      psd.channels[0][i] = value;
      psd.channels[1][i] = alpha;
      const long double color =
          alpha == 0 ? value : (value - (most - alpha)) * static_cast<long double>(most) / alpha;
      expected[i] = static_cast<int>(std::floor(color * 255 / most + 0.5L));
    }
    const Image image = decode_psd(psd);
    ASSERT_EQ(image.shape().channels, 2);
    for (std::size_t i = 0; i < 65536; ++i) {
      ASSERT_EQ(int{image.view().data[2 * i]}, expected[i]) << depth << ": " << i;
      ASSERT_EQ(int{image.view().data[2 * i + 1]}, static_cast<int>(i / 256));
    }
  }
}

// A slightly too dark blended colour may be due to rounding, and is clamped. A much darker one shows that the
// file's colours were never blended.
TEST(Psd, UnblendedColoursArePreserved) {
  Psd psd{3, 1};
  psd.layers = layer_count(-1);
  psd.channels = {{254, 153, 200}, {253, 255, 201}, {255, 154, 202}, {1, 102, 255}};
  EXPECT_EQ(samples(decode_psd(psd)), (std::vector<int>{0, 0, 255, 1, 0, 255, 3, 102, 200, 201, 202, 255}));
  psd.channels[1][1] = 10;
  EXPECT_EQ(samples(decode_psd(psd)),
            (std::vector<int>{254, 253, 255, 1, 153, 10, 154, 102, 200, 201, 202, 255}));
  psd.compression = 1;
  EXPECT_EQ(samples(decode_psd(psd))[5], 10);
}

TEST(Psd, TransparencyOnlyIfDeclared) {
  Psd psd{1, 1};
  psd.channels = {{200}, {201}, {202}, {100}};
  const auto channels = [&] { return decode_psd(psd).shape().channels; };
  EXPECT_EQ(channels(), 3) << "no layers: a saved selection";
  EXPECT_EQ(samples(decode_psd(psd)), (std::vector<int>{200, 201, 202}));
  psd.layers = layer_count(2);
  EXPECT_EQ(channels(), 3);
  psd.layers = layer_count(-2);
  EXPECT_EQ(channels(), 4);
  psd.channels.push_back({7});
  EXPECT_EQ(channels(), 4) << "the first channel beyond the colours";
  psd.version = 2;
  psd.layers = layer_count(-2, 2);
  EXPECT_EQ(channels(), 4);
  psd.channels.resize(3);
  EXPECT_EQ(channels(), 3) << "no such channel";
}

// 16-bit files store their layers after the global mask.
TEST(Psd, TransparencyInSixteenBitFiles) {
  for (const int version : {1, 2}) {
    const int field = version == 2 ? 8 : 4;
    for (const auto& [key, count, channels] :
         {std::tuple{"Lr16", -1, 4}, {"Lr16", 1, 3}, {"Mt16", 0, 4}, {"Mtrn", 0, 4}, {"Patt", -1, 3}}) {
      Psd psd{1, 1, kRgb, 16, version};
      psd.channels = {{65535}, {65535}, {65535}, {65535}};
      put(psd.layers, 0, field);
      put(psd.layers, 4, 4);
      put(psd.layers, 0x12345678, 4);
      put_text(psd.layers, "8BIMFMsk");
      put(psd.layers, 5, field);
      put(psd.layers, 0, 8);  // padded to four
      put_text(psd.layers, "8BIM");
      put_text(psd.layers, key);
      const bool wide = version == 2 && std::string_view(key) != "Patt";
      put(psd.layers, 2, wide ? 8 : 4);
      put(psd.layers, count, 2);
      EXPECT_EQ(decode_psd(psd).shape().channels, channels) << key << " " << count << " version " << version;
    }
  }
}

TEST(Psd, PalettesBitmapsAndInks) {
  Psd indexed{3, 1, kIndexed};
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 256; ++i) put(indexed.palette, (i + 10 * c) & 255, 1);
  }
  indexed.channels = {{0, 100, 255}};
  EXPECT_EQ(samples(decode_psd(indexed)), (std::vector<int>{0, 10, 20, 100, 110, 120, 255, 9, 19}));
  put_text(indexed.resources, "8BIM");
  put(indexed.resources, 1047, 2);
  put(indexed.resources, 0, 2);
  put(indexed.resources, 2, 4);
  put(indexed.resources, 100, 2);
  EXPECT_EQ(samples(decode_psd(indexed)),
            (std::vector<int>{0, 10, 20, 255, 100, 110, 120, 0, 255, 9, 19, 255}));

  Psd bitmap{11, 2, kBitmap, 1};
  bitmap.channels = {noise(22, 2, 3)};
  for (const int compression : {0, 1}) {
    bitmap.compression = compression;
    const Image image = decode_psd(bitmap);
    for (std::size_t i = 0; i < 22; ++i)
      EXPECT_EQ(int{image.view().data[i]}, bitmap.channels[0][i] != 0 ? 0 : 255);
  }

  Psd cmyk{2, 1, kCmyk};  // 255 means no ink
  cmyk.channels = {{255, 10}, {128, 20}, {0, 30}, {255, 100}};
  EXPECT_EQ(samples(decode_psd(cmyk)), (std::vector<int>{255, 128, 0, 4, 8, 12}));
}

TEST(Psd, ErrorsNameTheCause) {
  const auto refused = [](const Psd& psd, const char* why) {
    EXPECT_NE(failure(make_psd(psd)).find(why), std::string::npos) << why << ": " << failure(make_psd(psd));
    EXPECT_NE(failure(make_psd(psd), lenient()), "");
  };
  Psd good{2, 2};
  good.channels.assign(4, Values(4, 9));
  EXPECT_EQ(failure(make_psd(good)), "");
  const auto with = [&](auto member, auto value) {
    Psd psd = good;
    psd.*member = value;
    return psd;
  };
  refused(with(&Psd::mode, +kLab), "Lab");
  refused(with(&Psd::mode, +kMultichannel), "multichannel");
  refused(with(&Psd::mode, 5), "unknown colour mode");
  refused(with(&Psd::mode, +kIndexed), "palette");
  refused(with(&Psd::mode, +kBitmap), "bitmap");
  refused(with(&Psd::depth, 32), "32 bits");
  refused(with(&Psd::version, 3), "version");
  refused(with(&Psd::compression, 2), "ZIP");
  refused(with(&Psd::compression, 3), "ZIP");
  refused(with(&Psd::compression, 4), "unknown compression");
  refused(with(&Psd::width, 30001), "too large for its version");
  refused(with(&Psd::height, 0), "width or height is 0");
  Psd few = good;
  few.channels.resize(2);
  refused(few, "number of channels");
  Psd layers_only = good;
  put_text(layers_only.resources, "8BIM");
  put(layers_only.resources, 1057, 2);
  put(layers_only.resources, 0x0161, 2);  // a name of one letter
  put(layers_only.resources, 5, 4);
  put(layers_only.resources, 1, 4);
  put(layers_only.resources, 0, 2);  // no composite, padding
  EXPECT_NE(failure(make_psd(layers_only)).find("placeholder; use --lenient"), std::string::npos);
  EXPECT_EQ(failure(make_psd(layers_only), lenient()), "");
  EXPECT_EQ(samples(decode(make_psd(layers_only), lenient())), samples(decode(make_psd(good))));
  EXPECT_EQ(warnings(make_psd(layers_only)),
            std::vector<std::string>{"the composite image is a placeholder"});
  const Bytes claims = [&] {
    Bytes file = make_psd(good);
    const auto set = [&](std::size_t at, int value) {
      for (std::size_t i = 0; i < 4; ++i)
        file[at + i] = static_cast<std::byte>(value >> (24 - 8 * static_cast<int>(i)) & 255);
    };
    set(14, 30000);
    set(18, 30000);
    return file;
  }();
  EXPECT_NE(failure(claims).find("--max-pixels"), std::string::npos);
}

// Both versions, packed and not, with 8 and 16 bits per sample.
TEST(Psd, DamagedSixteenBitFiles) {
  for (const int version : {1, 2}) {
    for (const int compression : {0, 1}) {
      Psd psd{5, 3};
      psd.version = version;
      psd.depth = 16;
      psd.compression = compression;
      psd.layers = layer_count(-1, version);
      for (unsigned c = 0; c < 4; ++c) psd.channels.push_back(noise(15, 65536, c));
      const Bytes good = make_psd(psd);
      ASSERT_EQ(failure(good, sixteen_bits()), "");
      for (std::size_t size = 4; size < good.size(); ++size) {
        EXPECT_NE(failure(cut(good, size), sixteen_bits()), "") << size;
        (void)failure(cut(good, size), sixteen_bits(true));
      }
      expect_stable_when_damaged(good);
    }
  }
}

TEST(Psd, TruncationIsRejectedOrFilledWithGrey) {
  for (const int compression : {0, 1}) {
    Psd psd{5, 3};
    psd.compression = compression;
    psd.layers = layer_count(-1);
    for (unsigned c = 0; c < 3; ++c) psd.channels.push_back(noise(15, 256, c));
    psd.channels.emplace_back(15, 255);
    const Bytes good = make_psd(psd);
    const Image whole = decode(good);
    for (std::size_t size = 4; size < good.size(); ++size) {
      const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_NE(failure(cut), "") << size;
      (void)failure(cut, lenient());
    }
    Bytes less(good.begin(), good.end() - 1);  // without the last alpha sample, which is opaque
    EXPECT_EQ(first_difference(whole.view(), decode(less, lenient()).view()), "");
    less.resize(26 + 4 + 4 + 4 + psd.layers.size() + 2 + (compression == 1 ? 24U : 0U));
    const auto reader = open_reader(less, lenient());
    Image grey(reader->header().shape);
    reader->read_rows(grey.view());
    EXPECT_EQ(reader->warnings().size(), 1U);
    for (std::int64_t i = 0; i < grey.shape().samples(); ++i)
      EXPECT_EQ(int{grey.view().data[i]}, i % 4 == 3 ? 255 : 128);
  }
}

// In CMYK, too, a pixel is grey if any of its inks is missing.
TEST(Psd, MissingInksAreGrey) {
  Psd psd{2, 2, kCmyk};
  psd.channels.assign(4, {10, 20, 30, 40});
  const Bytes good = make_psd(psd);
  for (std::size_t cut = 1; cut <= 16; ++cut) {
    const Bytes less(good.begin(), good.end() - static_cast<std::ptrdiff_t>(cut));
    const std::vector<int> got = samples(decode(less, lenient()));
    for (std::size_t pixel = 0; pixel < 4; ++pixel) {
      const bool missing = pixel + std::min<std::size_t>(cut, 4) >= 4;
      const int expected = missing ? 128 : samples(decode(good))[3 * pixel];
      EXPECT_EQ(got[3 * pixel], expected) << "cut " << cut << " pixel " << pixel;
    }
  }
}

TEST(Psd, PackedRowsHoldExactlyTheirPixels) {
  const auto file = [](std::initializer_list<int> packed) {
    Psd psd{4, 1, kGrey};
    psd.channels = {Values(4)};
    psd.compression = 1;
    Bytes bytes = make_psd(psd);
    bytes.resize(bytes.size() - 4);  // removes the row's length and its only run
    put(bytes, static_cast<std::int64_t>(packed.size()), 2);
    for (const int byte : packed) put(bytes, byte, 1);
    return bytes;
  };
  EXPECT_EQ(samples(decode(file({3, 1, 2, 3, 4}))), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(samples(decode(file({128, 254, 7, 128, 0, 9, 128}))), (std::vector<int>{7, 7, 7, 9}));
  for (const auto& bad : {file({2, 1, 2, 3}), file({4, 1, 2, 3, 4, 5}), file({252, 1}), file({3, 1, 2, 3}),
                          file({253, 1, 0, 5}), file({253}), file({})}) {
    EXPECT_NE(failure(bad).find("packed row"), std::string::npos);
  }
  EXPECT_EQ(samples(decode(file({1, 5, 6}), lenient())), (std::vector<int>{5, 6, 128, 128}));
}

TEST(Psd, StbIsRightOrRejected) {
  const auto check = [](const Psd& psd, const char* why) {
    const std::string reason = failure(make_psd(psd), with_stb());
    if (*why != '\0') {
      EXPECT_NE(reason.find(why), std::string::npos) << why << ": " << reason;
    } else {
      ASSERT_EQ(reason, "");
      EXPECT_EQ(first_difference(decode_psd(psd).view(), decode(make_psd(psd), with_stb()).view()), "");
    }
  };
  for (const int compression : {0, 1}) {
    Psd psd{3, 2};
    psd.compression = compression;
    for (unsigned c = 0; c < 3; ++c) psd.channels.push_back(noise(6, 256, c));
    check(psd, "");
    psd.channels.push_back({0, 255, 0, 255, 255, 0});
    check(psd, "as transparency");
    psd.layers = layer_count(-1);
    check(psd, "");
    psd.channels[3][4] = 254;
    check(psd, "partial transparency");
  }
  Psd deep{256, 256, kRgb, 16};
  for (int c = 0; c < 3; ++c) deep.channels.push_back(noise(65536, 65536, static_cast<unsigned>(c)));
  check(deep, "");
  deep.compression = 1;
  check(deep, "16-bit");
  deep.compression = 0;
  deep.layers = layer_count(-1);
  deep.channels.emplace_back(65536, 65534);
  check(deep, "16-bit");
  Psd big{1, 1, kRgb, 8, 2};
  big.channels.assign(3, {1});
  check(big, "version 1");
  Psd grey{1, 1, kGrey};
  grey.channels = {{1}};
  check(grey, "only RGB");
}

TEST(Psd, RealFiles) {
  IMGPIPE_NEED_CORPUS();
  const auto directory = *corpus() / "found";
  // ImageMagick blends nothing: the colours are the layer's, which are raw in the file.
  const Bytes rgba = load(directory / "im_rgba.psd");
  const Image image = decode(rgba);
  ASSERT_EQ(image.shape(), (Shape{131, 97, 4}));
  constexpr std::size_t kPixels = std::size_t{131} * 97;
  for (std::size_t i = 0; i < 4 * kPixels; ++i) {
    ASSERT_EQ(int{image.view().data[i]},
              std::to_integer<int>(rgba[rgba.size() - 4 * kPixels + i % 4 * kPixels + i / 4]));
  }
  EXPECT_EQ(decode(load(directory / "psd_alpha.psd")).shape().channels, 3)
      << "its fourth channel is a selection";
  EXPECT_EQ(failure(load(directory / "p16.psd")), "");
}

}  // namespace
}  // namespace imgpipe::test::psd_test
