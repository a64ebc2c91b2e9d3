// The memory of writers, counted byte for byte: no more than the estimate before the first row. imgpipe's own
// BMP and TGA writers produce stb_image_write's bytes with a third of its memory.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/png/deflate.h"
#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"
#include "tests/support/allocations.h"
#include "tests/support/images.h"

namespace imgpipe::test::writer_memory_test {
namespace {

using Bytes = std::vector<std::byte>;

Image picture(const std::string& content, Shape shape) {
  Image image(shape);
  const auto fill = [&](const auto& plane) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      auto* out = plane.row(y);
      for (std::int64_t x = 0; x < shape.width; ++x) {
        for (int c = 0; c < shape.channels; ++c) {
          // With 16 bits and noise, the low byte is as random as the high one.
          const int high = content_sample(content, x, y, c, 5);
          const int low = content_sample(content, x, y, c, 6);
          *out++ = static_cast<std::remove_reference_t<decltype(*out)>>(sizeof(*out) == 1 ? high
                                                                                          : high * 256 + low);
        }
      }
    }
  };
  if (shape.sample == Sample::u16) {
    fill(image.untyped_view().as<std::uint16_t>());
  } else {
    fill(image.view());
  }
  return image;
}

// The choices share their images, because making an image takes longer than writing it.
const Image& made_once(const std::string& content, Shape shape) {
  static std::map<std::tuple<std::string, int, Sample>, Image> made;
  const auto [entry, fresh] = made.try_emplace({content, shape.channels, shape.sample});
  if (fresh) entry->second = picture(content, shape);
  return entry->second;
}

// Writes all rows in bands of `band` rows, or in strips. If `taken`, takes the finished bytes each time.
Bytes write(Writer& writer, ConstHostView image, bool taken, std::int64_t band = 16) {
  const std::int64_t strip = writer.strip_rows();
  const std::int64_t at_once = strip > 0 ? strip : band;
  EncodedFile file;
  Bytes bytes;
  for (std::int64_t y = 0; y < image.height; y += at_once) {
    const ConstHostView rows = image.rows(y, std::min(at_once, image.height - y));
    if (strip > 0) {
      writer.write_strip(y, rows);
    } else {
      writer.write_rows(rows);
    }
    if (!taken) continue;
    const Bytes more = writer.take_finished().joined();
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  const EncodedFile last = writer.finish();
  const Bytes more = last.joined();
  bytes.insert(bytes.end(), more.begin(), more.end());
  for (const EncodedFile::Patch& patch : last.patches)
    std::ranges::copy(patch.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(patch.at));
  return bytes;
}

// Like write(), but keeps no bytes.
void write_and_drop(Writer& writer, ConstHostView image, bool taken) {
  const std::int64_t at_once = writer.strip_rows() > 0 ? writer.strip_rows() : 16;
  for (std::int64_t y = 0; y < image.height; y += at_once) {
    const ConstHostView rows = image.rows(y, std::min(at_once, image.height - y));
    if (writer.strip_rows() > 0) {
      writer.write_strip(y, rows);
    } else {
      writer.write_rows(rows);
    }
    if (taken) (void)writer.take_finished();
  }
  (void)writer.finish();
}

struct Choice {
  Format format;
  int channels;
  EncodeOptions options = {};
  double looseness = 1.05;  // greatest ratio of the estimate to the actual peak
  Sample sample = Sample::u8;
};

std::vector<Choice> choices() {
  std::vector<Choice> all{{Format::pgm, 1}, {Format::ppm, 3}, {Format::ppm, 1}, {Format::bmp, 1},
                          {Format::bmp, 3}, {Format::bmp, 4}, {Format::tga, 1}, {Format::tga, 4}};
  for (const int quality : {50, 90, 95, 100}) {
    // The estimate is twice the coded bytes, because a zero follows each 0xFF; noise has few of those.
    for (const int channels : {1, 3}) all.push_back({Format::jpeg, channels, {.quality = quality}, 2.25});
  }
  // Level 9 takes as much memory as level 6, and ten times as long.
  for (const int level : {0, 1, 2, 3, 6}) all.push_back({Format::png, 3, {.png_level = level}, 1.3});
  // libwebp's memory depends on the image: it is greatest if nothing repeats.
  for (const int level : {0, 1, 3}) all.push_back({Format::webp, 3, {.webp_level = level}, 3});
  all.push_back({Format::webp, 1, {}, 2});
  all.push_back({Format::webp, 4, {}, 2});
  for (const int level : {1, 5}) {
    for (const int channels : {3, 4}) {
      all.push_back(
          {Format::webp, channels, {.quality = 100, .webp = WebpCoding::lossy, .webp_level = level}, 4});
    }
  }
  for (const TiffPacking packing : {TiffPacking::none, TiffPacking::deflate, TiffPacking::packbits,
                                    TiffPacking::zstd, TiffPacking::lzw}) {
    for (const int tile : {0, 256})
      all.push_back({Format::tiff, 3, {.tiff_packing = packing, .tiff_tile = tile}, 1.3});
  }
  for (const Format format : {Format::bmp, Format::tga, Format::jpeg, Format::png})
    all.push_back({format, 3, {.codec = CodecChoice::stb}, 6});
  for (const Format format : {Format::pgm, Format::ppm, Format::pnm})
    all.push_back({format, 1, {}, 1.05, Sample::u16});
  for (const int level : {0, 1, 2, 6})
    for (const int channels : {1, 4})
      all.push_back({Format::png, channels, {.png_level = level}, 1.3, Sample::u16});
  return all;
}

TEST(WriterMemory, NeverExceedsTheEstimate) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces malloc";
  for (const Choice& choice : choices()) {
    const Shape shape{801, 700, choice.channels, choice.sample};
    const std::string name =
        std::string(format_info(choice.format).name) + " of " + std::to_string(choice.channels) +
        " channels, quality " + std::to_string(choice.options.quality) + ", level " +
        std::to_string(choice.options.png_level) + ", WebP level " +
        std::to_string(choice.options.webp_level) + (choice.sample == Sample::u16 ? ", 16 bits" : "");
    std::int64_t most = 0, said = 0;
    for (const std::string content : {"noise", "two_valued", "checker", "zeros"}) {
      const Image& image = made_once(content, shape);
      for (const bool taken : {false, true}) {
        const auto writer = make_writer(choice.format, shape, choice.options);
        const std::int64_t bound = taken ? writer->working_bytes_when_taken(16) : writer->working_bytes();
        const std::int64_t held = peak_of([&] { write_and_drop(*writer, image.untyped_view(), taken); });
        EXPECT_LE(held, bound + 4096) << name << ", " << content << (taken ? ", taken" : "");
        if (taken) continue;
        most = std::max(most, held);
        said = bound;
      }
    }
    EXPECT_LE(static_cast<double>(said), static_cast<double>(most) * choice.looseness + (2 << 20)) << name;
  }
}

TEST(WriterMemory, LongestRow) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces malloc";
  for (const auto& [format, sample] : {std::pair{Format::png, Sample::u8},
                                       {Format::ppm, Sample::u8},
                                       {Format::bmp, Sample::u8},
                                       {Format::png, Sample::u16},
                                       {Format::ppm, Sample::u16},
                                       {Format::tiff, Sample::u8},
                                       {Format::tiff, Sample::u16}}) {
    const Shape shape{1'500'001, 2, 3, sample};
    const Image image = picture("noise", shape);
    for (const bool taken : {false, true}) {
      const auto writer = make_writer(format, shape);
      const std::int64_t bound = taken ? writer->working_bytes_when_taken(1) : writer->working_bytes();
      EXPECT_LE(peak_of([&] {
                  for (std::int64_t y = 0; y < 2; ++y) {
                    writer->write_rows(image.untyped_view().rows(y, 1));
                    if (taken) (void)writer->take_finished();
                  }
                  (void)writer->finish();
                }),
                bound + 4096)
          << format_info(format).name;
    }
  }
}

// Nothing as large as the image is allocated before its first row.
TEST(WriterMemory, IsAllocatedWithTheFirstRow) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces malloc";
  const auto make = [](const Choice& choice) {
    (void)make_writer(choice.format, {5000, 4000, choice.channels, choice.sample}, choice.options);
  };
  // The first JPEG writers of a process compare encoders on small images.
  for (const Choice& choice : choices()) make(choice);
  for (const Choice& choice : choices()) {
    EXPECT_LE(peak_of([&] { make(choice); }), 64 << 10) << format_info(choice.format).name;
  }
}

// A TIFF that is taken in parts is never held as a whole, whatever its compression.
TEST(WriterMemory, TiffTakenInPartsHoldsOnlyItsStrips) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces malloc";
  const Shape shape{1500, 4000, 3, Sample::u16};
  const Image image = picture("noise", shape);
  for (const TiffPacking packing : {TiffPacking::none, TiffPacking::deflate, TiffPacking::packbits,
                                    TiffPacking::zstd, TiffPacking::lzw}) {
    for (const int tile : {0, 64}) {
      const auto writer = make_writer(Format::tiff, shape, {.tiff_packing = packing, .tiff_tile = tile});
      const std::int64_t held = peak_of([&] { write_and_drop(*writer, image.untyped_view(), true); });
      EXPECT_LE(held, writer->working_bytes_when_taken(16) + 4096);
      EXPECT_LT(held, 8 << 20) << static_cast<int>(packing) << ", tiles of " << tile;  // the image has 36 MB
    }
  }
}

TEST(Deflate, NoiseAndLongestCodesStayWithinTheBound) {
  for (int level = 0; level <= 9; ++level) {
    StripDeflater deflater(level);
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 19}) {
      Bytes strip(size);
      // Noise of all bytes, or of few, in an order that does not repeat.
      for (const unsigned few : {0U, 48U}) {
        std::uint64_t state = 7;
        for (std::byte& byte : strip) {
          state = state * 6364136223846793005ULL + 1442695040888963407ULL;
          const auto random = static_cast<unsigned>(state >> 56);
          byte = static_cast<std::byte>(few == 0 ? random : 0x80 + random % few);
        }
        EXPECT_LE(static_cast<std::int64_t>(deflater.compress(strip, true).size()),
                  max_compressed_bytes(static_cast<std::int64_t>(size)))
            << level << ", " << size << ", " << few;
      }
    }
  }
}

// ---- bytes --------------------------------------------------------------------------------------------

TEST(Writers, BmpAndTgaEqualTheLibrarysBytes) {
  for (const Size& size : few_sizes()) {
    for (const std::string& content : contents()) {
      for (const int channels : {1, 2, 3, 4}) {
        const Image image = picture(content, {size.width, size.height, channels});
        for (const Format format : {Format::bmp, Format::tga}) {
          for (const Mark mark : {Mark::none, Mark::result}) {
            const auto own = make_writer(format, image.shape(), {.mark = mark});
            const auto library =
                make_writer(format, image.shape(), {.codec = CodecChoice::stb, .mark = mark});
            library->write_rows(image.view());
            ASSERT_TRUE(write(*own, image.view(), false, 3) == library->finish().joined())
                << format_info(format).name << " " << size.width << "x" << size.height << "x" << channels
                << " " << content;
          }
        }
      }
    }
  }
}

// Few colours: packets of both kinds in every order, some longer than 128.
TEST(Writers, TgaPacketsEqualTheLibrarys) {
  std::uint64_t state = 3;
  for (const int spread : {2, 3, 8, 40}) {
    Image image({1000, 9, 3});
    Sample8 value = 0;
    for (std::int64_t i = 0; i < image.shape().pixels(); ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      if (static_cast<int>(state >> 58) < 128 / spread) value = static_cast<Sample8>(state >> 62);
      std::fill_n(image.view().data + 3 * i, 3, value);
    }
    const auto own = make_writer(Format::tga, image.shape());
    const auto library = make_writer(Format::tga, image.shape(), {.codec = CodecChoice::stb});
    library->write_rows(image.view());
    ASSERT_TRUE(write(*own, image.view(), false, 2) == library->finish().joined()) << spread;
  }
}

TEST(Writers, TakenPartsFormTheSameFile) {
  for (const Format format :
       {Format::jpeg, Format::png, Format::ppm, Format::bmp, Format::tga, Format::tiff}) {
    for (Shape shape : {Shape{1, 1, 3}, Shape{1203, 801, 3}, Shape{1203, 801, 3, Sample::u16}}) {
      if (format_info(format).written_bits == 8) shape.sample = Sample::u8;
      const Image image = picture("noise", shape);
      const auto whole = make_writer(format, shape, {.quality = 100});
      const auto taken = make_writer(format, shape, {.quality = 100});
      EXPECT_TRUE(write(*taken, image.untyped_view(), true) == write(*whole, image.untyped_view(), false))
          << format_info(format).name;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::writer_memory_test
