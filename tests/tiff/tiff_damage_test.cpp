// Tests that damaged and hostile TIFFs fail with one line, quickly, in little memory.
#include <algorithm>
#include <exception>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tiffio.h>

#include "images/codecs/codec.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_page.h"
#include "images/codecs/tiff/tiff_pages.h"
#include "images/error.h"
#include "images/files/input_file.h"
#include "images/image.h"
#include "images/text.h"
#include "tests/support/allocations.h"
#include "tests/support/file_parts.h"
#include "tests/support/sanitizers.h"
#include "tests/support/tiff_file.h"
#include "tests/support/tiff_seeds.h"

namespace imgpipe::test::tiff_damage_test {
namespace {

constexpr int kCompressions[] = {COMPRESSION_NONE,      COMPRESSION_PACKBITS,      COMPRESSION_LZW,
                                 COMPRESSION_ZSTD,      COMPRESSION_ADOBE_DEFLATE, COMPRESSION_JPEG,
                                 COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,     COMPRESSION_CCITTRLE};

TiffKind kind_of(int compression) {
  const bool bilevel = compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4 ||
                       compression == COMPRESSION_CCITTRLE;
  TiffKind kind{.width = 19,
                .height = 16,
                .bits = bilevel ? 1 : 8,
                .samples = bilevel ? 1 : 3,
                .photometric = bilevel ? 0 : 2,
                .compression = compression,
                .rows_per_strip = 8};
  if (compression == COMPRESSION_JPEG) kind.photometric = 6;
  return kind;
}

FileBytes file_of(const TiffKind& kind) {
  Values samples(static_cast<std::size_t>(kind.width * kind.height * kind.samples));
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<int>(i / 7 * 37 % (std::size_t{1} << kind.bits));
  return make_tiff(kind, samples);
}

// Reads every page, strict and lenient. Errors must be one printable line; returns their number.
int try_all(const FileBytes& file) {
  int failures = 0;
  for (const bool lenient_way : {false, true}) {
    DecodeOptions options;
    options.accept = lenient_way ? Acceptance::lenient : Acceptance::strict;
    options.max_pixels = 1 << 20;
    options.max_bits = 16;
    try {
      const auto reader = open_reader(file, options);
      Image image(reader->header().shape);
      reader->read_rows(image.untyped_view());
    } catch (const Error& error) {
      EXPECT_EQ(printable(error.what()), error.what());
      ++failures;
    }
  }
  return failures;
}

// Reads bands of up to 6 rows with several threads; each begins with the previous band's last row. Rethrows
// one of the errors.
void read_in_bands(const FileBytes& file, int threads) {
  const auto reader = open_reader(file);
  const Shape shape = reader->header().shape;
  std::mutex mutex;
  std::int64_t next = 0;
  std::exception_ptr error;
  const auto work = [&] {
    Image band({shape.width, 6, shape.channels, shape.sample});
    for (;;) {
      std::int64_t first = 0, count = 0;
      {
        const std::lock_guard lock(mutex);
        if (next == shape.height || error) return;
        first = std::max<std::int64_t>(next - 1, 0);
        count = std::min<std::int64_t>(6, shape.height - first);
        reader->begin_band(first, count);
        next = first + count;
      }
      try {
        reader->read_band(first, band.untyped_view().rows(0, count));
      } catch (const Error&) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  if (error) std::rethrow_exception(error);
}

TEST(TiffDamage, TruncationAtEveryByte) {
  for (const int compression : kCompressions) {
    const FileBytes file = file_of(kind_of(compression));
    ASSERT_EQ(failure(file), "") << compression;
    for (std::size_t size = 1; size < file.size(); ++size) {
      const FileBytes part = cut(file, size);
      EXPECT_NE(failure(part), "") << compression << " cut to " << size << " of " << file.size();
      try_all(part);
    }
  }
}

// Truncated files give the same error in bands, read by several threads, as when read as a whole.
TEST(TiffDamage, TruncationAtEveryByteInBands) {
  for (const int compression : kCompressions) {
    for (const bool tiled : {false, true}) {
      TiffKind kind = kind_of(compression);
      kind.height = 40;
      if (tiled) kind.tile_width = kind.tile_height = 16;
      const FileBytes file = file_of(kind);
      for (std::size_t size = 1; size < file.size(); size += kSanitized ? 7 : 1) {
        const FileBytes part = cut(file, size);
        std::string said;
        try {
          read_in_bands(part, 3);
        } catch (const Error& error) {
          said = error.what();
        }
        EXPECT_EQ(said, failure(part)) << compression << " cut to " << size;
      }
      // Damages only the last strip or tile; the directory and all other chunks stay intact.
      FileBytes short_of = file;
      const TiffPage page = read_tiff_page(file, *tiff_directory_offset(file, 0), {});
      const std::size_t last = page.chunk_number(page.down - 1, page.across - 1, 0);
      for (std::uint64_t i = 0; i < page.counts[last]; ++i)
        short_of[page.offsets[last] + i] = std::byte{0x37};
      const std::string whole = failure(short_of);
      std::string in_bands;
      try {
        read_in_bands(short_of, 3);
      } catch (const Error& error) {
        in_bands = error.what();
      }
      EXPECT_EQ(in_bands, whole) << compression;
    }
  }
}

TEST(TiffDamage, ChangedBytesOfSmallFiles) {
  std::mt19937 random(1);
  for (const int compression : kCompressions) {
    for (const bool tiled : {false, true}) {
      TiffKind kind = kind_of(compression);
      if (tiled) kind.tile_width = kind.tile_height = 16;
      const FileBytes file = file_of(kind);
      for (std::size_t i = 0; i < file.size(); i += kSanitized ? 5 : 1) {
        for (const unsigned change : {0xFFU, 1U, 0x80U, static_cast<unsigned>(random() % 255 + 1)}) {
          FileBytes bent = file;
          bent[i] ^= static_cast<std::byte>(change);
          try_all(bent);
        }
      }
    }
  }
}

// Returns why some page cannot be read, or "". Floats and integers of all kinds can be.
std::string failure_of_any_page(const FileBytes& file) {
  DecodeOptions options;
  options.max_bits = 32;
  options.integers = IntegerRule::value;
  try {
    const InputFile input{FileBytes(file)};
    const std::unique_ptr<Pages> pages = open_tiff_pages(input, options);
    for (std::int64_t i = 0; i < pages->size(); ++i) {
      const std::string said = failure(page_bytes(*pages, i), options);
      if (!said.empty()) return said;
    }
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// Both byte orders, BigTIFF, planes, predictors, palettes, bit orders, every depth, several pages.
TEST(TiffDamage, DamageInEveryLayout) {
  std::mt19937 random(2);
  for (const FileBytes& file : tiff_seeds()) {
    ASSERT_EQ(failure_of_any_page(file), "");
    for (std::size_t i = 1; i < file.size(); i += kSanitized ? 11 : 1) {
      const FileBytes part = cut(file, i);
      EXPECT_NE(failure_of_any_page(part), "") << "cut to " << i << " of " << file.size();
      try_all(part);
      FileBytes bent = file;
      bent[i] ^= std::byte{1} << random() % 8;
      try_all(bent);
    }
  }
}

TEST(TiffDamage, ResultsAreDeterministic) {
  for (const int compression : {COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZW})
    expect_stable_when_damaged(file_of(kind_of(compression)));
}

// A wrong checksum is detected even if all pixels are present.
TEST(TiffDamage, DeflateChecksumsAreChecked) {
  TiffKind kind = kind_of(COMPRESSION_ADOBE_DEFLATE);
  FileBytes file = file_of(kind);
  const TiffPage page = read_tiff_page(file, *tiff_directory_offset(file, 0), {});
  file[page.offsets[0] + page.counts[0] - 1] ^= std::byte{1};
  EXPECT_NE(failure(file).find("checksum"), std::string::npos);
}

// ---- bombs --------------------------------------------------------------------------------------------

void expect_cheap_refusal(const FileBytes& file, const std::string& reason, DecodeOptions options = {}) {
  std::int64_t most = 0;
  std::string said;
  const double seconds = seconds_of([&] {
    most = peak_of([&] {
      try {
        const auto reader = open_reader(file, options);
        Image image(reader->header().shape);
        reader->read_rows(image.untyped_view());
      } catch (const Error& error) {
        said = error.what();
      }
    });
  });
  EXPECT_NE(said.find(reason), std::string::npos) << "'" << said << "' is not '" << reason << "'";
  EXPECT_LT(seconds, kSanitized ? 2.0 : 0.5);
  if (allocations_are_counted()) {
    EXPECT_LT(most, 1 << 20) << reason;
  }
}

TEST(TiffDamage, DecompressionBombsAreRejectedCheaply) {
  MadeTiff huge(4, 3);
  huge.set(256, {50'000}, 4);
  huge.set(257, {50'000}, 4);
  huge.set(278, {50'000}, 4);
  expect_cheap_refusal(huge.build(), "too large");
  MadeTiff sides(4, 3);
  sides.set(256, {0xFFFFFFFF}, 4);
  sides.set(257, {0xFFFFFFFF}, 4);
  expect_cheap_refusal(sides.build(), "too large");
  DecodeOptions anything;
  anything.max_pixels = std::numeric_limits<std::int64_t>::max() / 64;
  expect_cheap_refusal(sides.build(), "too large", anything);
  MadeTiff wide(4, 3);  // 10^8 pixels, few of them present
  wide.set(256, {10'000}, 4);
  wide.set(257, {10'000}, 4);
  expect_cheap_refusal(wide.build(), "truncated");
  MadeTiff packed(4, 3);
  packed.set(256, {10'000}, 4);
  packed.set(257, {10'000}, 4);
  packed.set(259, {8});
  expect_cheap_refusal(packed.build(), "truncated");
}

TEST(TiffDamage, ExcessiveTileSizesAndCounts) {
  for (const auto& [width, height] : {std::pair<std::uint64_t, std::uint64_t>{0xFFFFFFFF, 16},
                                      {16, 0xFFFFFFFF},
                                      {0xFFFFFFF0, 0xFFFFFFF0},
                                      {1 << 16, 1 << 16}}) {
    MadeTiff made(4, 3);
    made.fields.erase(273), made.fields.erase(279), made.fields.erase(278);
    made.set(322, {width}, 4);
    made.set(323, {height}, 4);
    made.set(324, {8}, 4);
    made.set(325, {12}, 4);
    made.set(259, {8});
    expect_cheap_refusal(made.build(), "tiles are far larger than the image");
  }
  MadeTiff many(4, 3);
  many.set(256, {10'000}, 4);
  many.set(257, {10'000}, 4);
  many.set(259, {50000});
  many.fields.erase(273), many.fields.erase(279), many.fields.erase(278);
  many.set(322, {1});
  many.set(323, {1});
  many.set(324, {8}, 4);
  many.set(325, {12}, 4);
  many.pixels.resize(4096);
  expect_cheap_refusal(many.build(), "too few tiles");
}

// One row per strip, all in one band: the cost of each strip must not depend on their number.
TEST(TiffDamage, ManyStripsOfOneBandTakeLinearTime) {
  constexpr int kRows = 65'000;
  MadeTiff made(1, kRows);
  made.set(259, {COMPRESSION_PACKBITS});
  made.set(273, std::vector<std::uint64_t>(kRows, 8), 4);
  made.set(278, {1});
  made.set(279, std::vector<std::uint64_t>(kRows, 2), 4);
  made.pixels = {std::byte{0}, std::byte{7}};
  const FileBytes file = made.build();
  Image image;
  EXPECT_LT(seconds_of([&] { image = decode_in_bands(file, kRows); }),
            5.0);  // quadratic time took 20 s
  EXPECT_EQ(samples(image), Values(kRows, 7));
}

TEST(TiffDamage, DirectoryLoops) {
  MadeTiff made(4, 3);
  made.next = 8 + made.pixels.size();  // its own offset
  const FileBytes file = made.build();
  EXPECT_EQ(failure(file), "");  // its first page is whole
  EXPECT_TRUE(open_reader(file)->header().more_images);
  try {
    (void)open_tiff_page(file, {}, 1'000'000);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("form a loop"), std::string::npos);
  }
}

TEST(TiffDamage, DirectoriesOutsideTheFile) {
  MadeTiff made(4, 3);
  made.next = 0x7FFFFFFF;
  expect_cheap_refusal(made.build(), "outside the file");
  FileBytes file = MadeTiff(4, 3).build();
  for (const unsigned value : {0U, 1U, 7U, 0xFFFFFFFFU, static_cast<unsigned>(file.size())}) {
    for (std::size_t i = 0; i < 4; ++i) file[4 + i] = static_cast<std::byte>(value >> (8 * i));
    EXPECT_NE(failure(file), "") << value;
  }
}

TEST(TiffDamage, FieldsWithTooManyValues) {
  for (const int tag : {256, 258, 262, 273, 279, 320}) {
    MadeTiff made(4, 3);
    FileBytes file = made.build();
    const std::size_t directory = 8 + made.pixels.size();
    std::size_t position = directory + 2;
    for (const auto& [number, field] : made.fields) {
      if (number == tag)
        std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(position + 4), 4, std::byte{0xFF});
      position += 12;
    }
    if (tag != 320) expect_cheap_refusal(file, "lie outside the file");
  }
  MadeTiff many(4, 3);
  for (int i = 0; i < 5000; ++i) many.more_fields.emplace_back(40'000, MadeTiff::Field{3, {1}});
  expect_cheap_refusal(many.build(), "more than 4096 fields");
  MadeTiff none(4, 3);
  none.fields.clear();
  expect_cheap_refusal(none.build(), "empty directory");
}

// Streams that claim to need far more memory than the strip.
TEST(TiffDamage, StreamsThatClaimLargeWindows) {
  MadeTiff made(4, 3);
  made.set(259, {50000});
  // A zstd frame of unknown size with a window of 2 GiB, and a final raw block of 12 bytes.
  made.pixels = {std::byte{0x28}, std::byte{0xB5}, std::byte{0x2F}, std::byte{0xFD}, std::byte{0x00},
                 std::byte{0xA8}, std::byte{0x61}, std::byte{0x00}, std::byte{0x00}};
  for (int i = 0; i < 12; ++i) made.pixels.push_back(static_cast<std::byte>(i));
  made.set(279, {made.pixels.size()}, 4);
  const FileBytes file = made.build();
  std::string said;
  const std::int64_t held = peak_of([&] { said = failure(file); });
  if (allocations_are_counted()) {
    EXPECT_LT(held, 1 << 20) << said;
  }
}

}  // namespace
}  // namespace imgpipe::test::tiff_damage_test
