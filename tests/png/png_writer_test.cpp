// The PNG writer: filters, strips, levels; read back by libpng itself, strictly.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "images/codecs/codec.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/png_filter.h"
#include "images/error.h"
#include "images/image.h"
#include "images/simd.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::png_writer_test {
namespace {

using Bytes = std::vector<std::byte>;

// ---- filters ----------------------------------------------------------------------------------------

int paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int to_a = std::abs(p - a);
  const int to_b = std::abs(p - b);
  const int to_c = std::abs(p - c);
  if (to_a <= to_b && to_a <= to_c) return a;
  return to_b <= to_c ? b : c;
}

// Returns the five filtered rows, according to the specification.
std::array<std::vector<std::uint8_t>, 5> filtered_rows(const std::vector<std::uint8_t>& row,
                                                       const std::vector<std::uint8_t>& above,
                                                       std::size_t pixel_bytes) {
  std::array<std::vector<std::uint8_t>, 5> rows;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int a = i < pixel_bytes ? 0 : row[i - pixel_bytes];
    const int b = above[i];
    const int c = i < pixel_bytes ? 0 : above[i - pixel_bytes];
    const std::array<int, 5> predictions{0, a, b, (a + b) / 2, paeth(a, b, c)};
    for (std::size_t f = 0; f < 5; ++f) rows[f].push_back(static_cast<std::uint8_t>(row[i] - predictions[f]));
  }
  return rows;
}

std::uint64_t cost(const std::vector<std::uint8_t>& row) {
  std::uint64_t sum = 0;
  for (const std::uint8_t v : row) sum += std::min<std::uint64_t>(v, 256U - v);
  return sum;
}

// Rows of every length and alignment, with contents for which each filter is chosen somewhere.
TEST(PngFilter, EveryTargetAgreesWithTheSpecification) {
  std::array<int, 5> chosen{};
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    std::mt19937_64 random(7);
    for (std::size_t size = 1; size < 420; size += size < 140 ? 1 : 37) {
      for (const std::size_t pixel_bytes : {1U, 2U, 3U, 4U, 6U, 8U}) {
        for (int content = 0; content < 6; ++content) {
          std::vector<std::uint8_t> row(size);
          std::vector<std::uint8_t> above(size);
          for (std::size_t i = 0; i < size; ++i) {
            const auto noise = static_cast<std::uint8_t>(random());
            const auto little = static_cast<std::uint8_t>(noise & 3);
            above[i] = content == 0   ? noise
                       : content == 1 ? static_cast<std::uint8_t>(little)
                       : content == 5 ? static_cast<std::uint8_t>(i * 3 + 90)
                                      : static_cast<std::uint8_t>(noise % 90 + i);
            row[i] = content == 0   ? noise
                     : content == 1 ? static_cast<std::uint8_t>(noise & 1)
                     : content == 2 ? static_cast<std::uint8_t>(above[i] + little)
                     : content == 3
                         ? static_cast<std::uint8_t>((i < pixel_bytes ? 0 : row[i - pixel_bytes]) + little)
                     : content == 4
                         ? static_cast<std::uint8_t>(
                               ((i < pixel_bytes ? 0 : row[i - pixel_bytes]) + above[i]) / 2 + little)
                         : static_cast<std::uint8_t>(above[i] + 9 + (i > size / 2 ? 40 : 0));
          }
          for (const bool uses_above : {true, false}) {
            const auto expected =
                filtered_rows(row, uses_above ? above : std::vector<std::uint8_t>(size, 0), pixel_bytes);
            std::size_t best = 0;
            for (std::size_t f = 1; f < (uses_above ? 5U : 2U); ++f) {
              if (cost(expected[f]) < cost(expected[best])) best = f;
            }
            std::vector<std::uint8_t> out(size + 2, 0xEE);
            filter_png_row(row.data(), uses_above ? above.data() : nullptr, size, pixel_bytes, out.data());
            ASSERT_EQ(out[0], best) << target << " size " << size << " content " << content;
            ASSERT_TRUE(std::equal(expected[best].begin(), expected[best].end(), out.begin() + 1))
                << target << " size " << size << " pixel bytes " << pixel_bytes << " filter " << best;
            ASSERT_EQ(out[size + 1], 0xEE) << "wrote past the row";
            ++chosen[best];
          }
        }
      }
    }
  }
  use_simd("");
  for (const int count : chosen) EXPECT_GT(count, 0) << "a filter that was never chosen was never tested";
}

// ---- deflate ----------------------------------------------------------------------------------------

Bytes inflated(const Bytes& stream, std::size_t size) {
  Bytes out(size + 1);
  uLongf length = out.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                                reinterpret_cast<const Bytef*>(stream.data()), stream.size());
  EXPECT_EQ(status, Z_OK);
  out.resize(length);
  return out;
}

Bytes some_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(seed % 3 == 0 ? random() : seed % 3 == 1 ? (i / 50) % 7 : random() & 3);
  return bytes;
}

// Strips of one stream, made out of order by several deflaters, form one zlib stream.
TEST(Deflate, StripsFormOneStreamAtEveryLevel) {
  for (int level = 0; level <= 9; ++level) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{70000}}) {
      std::array<Bytes, 4> strips;
      std::array<Bytes, 4> pieces;
      Bytes whole;
      for (std::size_t i = 0; i < strips.size(); ++i) {
        strips[i] = some_bytes(size + i, size + i);
        whole.insert(whole.end(), strips[i].begin(), strips[i].end());
      }
      StripDeflater one(level);
      for (const std::size_t i : {2U, 0U, 3U, 1U}) {
        StripDeflater other(level);
        const auto made = (i % 2 == 0 ? one : other).compress(strips[i], i + 1 == strips.size());
        pieces[i].assign(made.begin(), made.end());
      }
      Bytes stream = zlib_header(level);
      EXPECT_EQ((std::to_integer<unsigned>(stream[0]) * 256 + std::to_integer<unsigned>(stream[1])) % 31, 0U);
      std::uint32_t adler = 1;
      for (std::size_t i = 0; i < strips.size(); ++i) {
        stream.insert(stream.end(), pieces[i].begin(), pieces[i].end());
        adler = adler32_joined(adler, adler32_of(strips[i]), static_cast<std::int64_t>(strips[i].size()));
      }
      EXPECT_EQ(adler, adler32_of(whole));
      for (int shift = 24; shift >= 0; shift -= 8) stream.push_back(static_cast<std::byte>(adler >> shift));
      EXPECT_TRUE(inflated(stream, whole.size()) == whole) << "level " << level << " size " << size;
    }
  }
}

TEST(Deflate, ChecksumsAreJoinedAsByZlib) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    const auto sum = [&] {
      return static_cast<std::uint32_t>(random() % 65521 << 16 | (i % 3 == 0 ? 65520 : random() % 65521));
    };
    const std::uint32_t first = sum(), second = sum();
    const auto bytes = static_cast<std::int64_t>(random() >> (1 + i % 63));
    EXPECT_EQ(adler32_joined(first, second, bytes), ::adler32_combine(first, second, bytes)) << bytes;
  }
}

// A part that ends with a flush needs no part before it, and can be followed by any other.
TEST(Deflate, PartsAreIndependent) {
  for (int level = 0; level <= 9; ++level) {
    StripDeflater deflater(level);
    for (std::uint64_t seed = 0; seed < 36; ++seed) {
      // The last sizes fill the buffer of the search for a strip's last block.
      const Bytes strip = some_bytes(seed < 30 ? seed * seed * seed * 3 : (seed - 29) << 15, seed);
      const auto made = deflater.compress(strip, false);
      Bytes out(strip.size() + 1);
      z_stream zlib{};
      ASSERT_EQ(inflateInit2(&zlib, -MAX_WBITS), Z_OK);
      zlib.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(made.data()));
      zlib.avail_in = static_cast<uInt>(made.size());
      zlib.next_out = reinterpret_cast<Bytef*>(out.data());
      zlib.avail_out = static_cast<uInt>(out.size());
      while (zlib.avail_in > 0 && inflate(&zlib, Z_SYNC_FLUSH) == Z_OK) {
      }
      EXPECT_EQ(zlib.avail_in, 0U) << "level " << level << " seed " << seed;
      EXPECT_EQ(zlib.data_type & (64 + 7), 0) << "not the last block, and whole bytes";
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(zlib.total_out), out.end());
      EXPECT_TRUE(out == strip) << "level " << level << " seed " << seed;
      inflateEnd(&zlib);
    }
  }
}

// ISA-L's output depends on the end of its buffer, but a reused deflater must act like a new one.
TEST(Deflate, BytesDependOnlyOnStripAndLevel) {
  for (int level = 0; level <= 9; ++level) {
    StripDeflater used(level);
    std::mt19937_64 random(static_cast<std::uint64_t>(level));
    for (std::uint64_t i = 0; i < (kSanitized ? 15 : 60); ++i) {
      const Bytes strip = some_bytes(1000 + random() % (level <= 1 ? 600000 : 60000), i);
      const auto again = used.compress(strip, false);
      StripDeflater fresh(level);
      const auto expected = fresh.compress(strip, false);
      ASSERT_TRUE(std::ranges::equal(again, expected)) << "level " << level << " strip " << i;
    }
  }
}

// Before it has seen a stream's third byte, ISA-L 2.30 takes a hash from a register that holds an address.
// About one strip in ten thousand therefore depended on the deflater's position in memory.
TEST(Deflate, BytesDoNotDependOnAddresses) {
  constexpr int kDeflaters = kSanitized ? 20 : 400;
  for (const int level : {1, 2}) {
    std::vector<Bytes> strips;
    std::vector<Bytes> expected;
    for (std::uint64_t i = 0; i < 200; ++i) {
      strips.push_back(some_bytes(900, 3 * i + 2));
      StripDeflater deflater(level);
      const auto made = deflater.compress(strips.back(), false);
      expected.emplace_back(made.begin(), made.end());
    }
    std::vector<StripDeflater> deflaters;
    for (int i = 0; i < kDeflaters; ++i) {
      deflaters.emplace_back(level);
      for (std::size_t k = 0; k < strips.size(); ++k)
        ASSERT_TRUE(std::ranges::equal(deflaters.back().compress(strips[k], false), expected[k]))
            << level << " " << i << " " << k;
    }
  }
}

TEST(Deflate, ChecksumsEqualZlibs) {
  const Bytes bytes = some_bytes(10007, 3);
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  EXPECT_EQ(adler32_of(bytes), adler32(1, data, static_cast<uInt>(bytes.size())));
  EXPECT_EQ(crc32_of(bytes), crc32(0, data, static_cast<uInt>(bytes.size())));
  const std::span<const std::byte> view(bytes);
  EXPECT_EQ(crc32_of(view.subspan(777), crc32_of(view.first(777))), crc32_of(bytes));
}

// ---- files ------------------------------------------------------------------------------------------

Image make_image(Shape shape, const std::string& content) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < shape.width * shape.channels; ++i)
      image.view().row(y)[i] = content_sample(content, i, y, 0, 11);
  }
  return image;
}

Image decode(const Bytes& bytes) {
  const auto reader = open_reader(bytes);
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  EXPECT_TRUE(reader->warnings().empty());
  return image;
}

// Widths that give one strip, many, and strips of one row.
TEST(PngWriter, LibpngReadsEveryLevelShapeAndContent) {
  for (int level = 0; level <= 9; ++level) {
    if (kSanitized && level > 3 && level < 9) continue;  // libdeflate is not instrumented
    EncodeOptions options;
    options.png_level = level;
    for (const Size& size : {Size{1, 1}, Size{3, 200}, Size{40001, 11}, Size{300007, 3}}) {
      for (int channels = 1; channels <= 4; ++channels) {
        if (size.width > 1000 && (channels + level) % (kSanitized ? 12 : 3) != 0) continue;
        for (const char* content : {"noise", "ramp", "constant"}) {
          const Image image = make_image({size.width, size.height, channels}, content);
          const auto writer = make_writer(Format::png, image.shape(), options);
          writer->write_rows(image.view());
          const Image back = decode(writer->finish().joined());
          ASSERT_EQ(back.shape(), image.shape());
          ASSERT_EQ(first_difference(image.view(), std::as_const(back).view()), "")
              << "level " << level << " " << size.width << "x" << size.height << "x" << channels << " "
              << content;
        }
      }
    }
  }
}

TEST(PngWriter, StripOrderDoesNotAffectBytes) {
  const Image image = make_image({30011, 100, 3}, "ramp");
  const auto by_rows = make_writer(Format::png, image.shape());
  for (std::int64_t y = 0; y < 100; y += 7)
    by_rows->write_rows(image.view().rows(y, std::min<std::int64_t>(7, 100 - y)));
  const Bytes expected = by_rows->finish().joined();
  const auto writer = make_writer(Format::png, image.shape());
  const std::int64_t rows = writer->strip_rows();
  ASSERT_GT(rows, 0);
  ASSERT_LT(rows, 50) << "the image must have several strips";
  for (std::int64_t first = (99 / rows) * rows; first >= 0; first -= rows)
    writer->write_strip(first, image.view().rows(first, std::min(rows, 100 - first)));
  EXPECT_TRUE(writer->finish().joined() == expected);
}

TEST(PngWriter, WrongStripsAndMissingRowsAreErrors) {
  const Image image = make_image({30011, 100, 3}, "ramp");
  const auto writer = make_writer(Format::png, image.shape());
  const std::int64_t rows = writer->strip_rows();
  EXPECT_THROW(writer->write_strip(1, image.view().rows(1, rows)), Error);
  EXPECT_THROW(writer->write_strip(0, image.view().rows(0, rows - 1)), Error);
  writer->write_strip(0, image.view().rows(0, rows));
  EXPECT_THROW((void)writer->finish(), Error);
  const auto bmp = make_writer(Format::bmp, image.shape());
  EXPECT_EQ(bmp->strip_rows(), 0);
  EXPECT_THROW(bmp->write_strip(0, image.view()), Error);
}

std::size_t size_at_level(const Image& image, int level) {
  EncodeOptions options;
  options.png_level = level;
  const auto writer = make_writer(Format::png, image.shape(), options);
  writer->write_rows(image.untyped_view());
  return writer->finish().size_bytes();
}

void expect_falling_sizes(const Image& image, const std::string& what) {
  std::size_t before = size_at_level(image, 0);
  for (int level = 1; level <= 9; ++level) {
    const std::size_t size = size_at_level(image, level);
    // libdeflate's next level may lose some bytes of a pattern that it compresses to almost nothing.
    EXPECT_LE(size, before + 512) << what << ", level " << level;
    before = size;
  }
}

TEST(PngWriter, HigherLevelsAreNotLarger) {
  constexpr std::int64_t kWidth = kSanitized ? 90 : 300;
  for (const char* pattern :
       {"photo", "noise", "colors:5", "threshold:200", "ramp", "checker", "constant:7"}) {
    for (const int channels : {1, 3})
      expect_falling_sizes(synthesize(parse_pattern(pattern), {kWidth, 640, channels}, 5), pattern);
  }
  expect_falling_sizes(synthesize(parse_pattern("photo", Sample::u16), {kWidth, 200, 3, Sample::u16}, 5),
                       "16");
}

TEST(PngWriter, HigherLevelsAreNotLargerForRealFiles) {
  const auto directory = corpus();
  if (!directory) GTEST_SKIP() << "IMGPIPE_CORPUS is not set";
  int files = 0;
  for (const std::filesystem::path& path : files_below(*directory / "photos")) {
    if (path.extension() != ".png") continue;
    const Bytes bytes = load(path);  // outlives the reader
    const auto reader = open_reader(bytes);
    const Shape shape = reader->header().shape;
    if (shape.width * shape.height > 400'000) continue;
    Image image(shape);
    reader->read_rows(image.untyped_view());
    expect_falling_sizes(image, path.filename().string());
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace imgpipe::test::png_writer_test
