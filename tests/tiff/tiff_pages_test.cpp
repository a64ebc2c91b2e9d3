// Pages cut out of a TIFF equal the pages in place: the same pixels, the same errors for damage.
#include "images/codecs/tiff/tiff_pages.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/tiff/tiff_codec.h"
#include "images/error.h"
#include "images/files/input_file.h"
#include "images/formats/preserved_metadata.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_pages_test {
namespace {

Values some_samples(const TiffKind& kind, int seed) {
  Values values(static_cast<std::size_t>(kind.width * kind.height * kind.samples));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>((i * 7 + static_cast<std::size_t>(seed) * 13 + i * i / 5) %
                                 (std::size_t{1} << kind.bits));
  return values;
}

TiffPageSource page_of(const TiffKind& kind, int seed) {
  return {kind, some_samples(kind, seed)};
}

// Returns the pixels of an open reader, or why there are none.
std::string pixels_or_reason(const auto& open) {
  try {
    const std::unique_ptr<Reader> reader = open();
    Image image(reader->header().shape);
    reader->read_rows(image.untyped_view());
    std::string text = std::to_string(image.shape().width) + "x" + std::to_string(image.shape().height) + ":";
    for (const int value : samples(image)) text += std::to_string(value) + " ";
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

// Whether the result of pixels_or_reason() is pixels.
bool is_pixels(const std::string& text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

std::string page_in_place(const FileBytes& file, std::int64_t page,
                          const DecodeOptions& options = sixteen_bits()) {
  return pixels_or_reason([&] { return open_tiff_page(file, options, page); });
}

std::string page_cut_out(const FileBytes& file, std::int64_t page,
                         const DecodeOptions& options = sixteen_bits()) {
  FileBytes one;
  return pixels_or_reason([&] {
    const InputFile input{FileBytes(file)};
    one = page_bytes(*open_tiff_pages(input, options), page);
    return open_reader(one, options);
  });
}

std::int64_t pages_of(const FileBytes& file, const DecodeOptions& options = {}) {
  const InputFile input{FileBytes(file)};
  return open_tiff_pages(input, options)->size();
}

std::string reason_of(const FileBytes& file) {
  try {
    (void)pages_of(file);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
}

std::vector<std::pair<std::string, TiffKind>> kinds() {
  const TiffKind grey{.width = 37, .height = 29};
  std::vector<std::pair<std::string, TiffKind>> all{{"grey", grey}};
  const auto add = [&](const char* name, auto change) {
    TiffKind kind = grey;
    change(kind);
    all.emplace_back(name, kind);
  };
  add("strips", [](TiffKind& k) { k.rows_per_strip = 4; });
  add("deep", [](TiffKind& k) { k.bits = 16, k.compression = 8, k.predictor = 2, k.rows_per_strip = 5; });
  add("rgb_tiles", [](TiffKind& k) {
    k.samples = 3, k.photometric = 2, k.tile_width = k.tile_height = 16, k.compression = 5;
  });
  add("separate",
      [](TiffKind& k) { k.samples = 3, k.photometric = 2, k.separate = true, k.rows_per_strip = 8; });
  add("fax", [](TiffKind& k) { k.bits = 1, k.compression = 4, k.photometric = 0, k.rows_per_strip = 10; });
  add("jpeg",
      [](TiffKind& k) { k.samples = 3, k.photometric = 6, k.compression = 7, k.rows_per_strip = 16; });
  add("palette", [](TiffKind& k) {
    k.bits = 4, k.photometric = 3;
    for (int i = 0; i < 48; ++i) k.palette.push_back(i * 1300);
  });
  add("turned", [](TiffKind& k) { k.orientation = 6; });
  add("described", [](TiffKind& k) { k.description = "some text that is long enough"; });
  return all;
}

TEST(TiffPages, ExtractedPagesEqualTheFilesPages) {
  for (const bool big : {false, true}) {
    for (const bool big_endian : {false, true}) {
      std::vector<TiffPageSource> pages;
      int seed = 0;
      for (auto [name, kind] : kinds()) {
        kind.big = big;
        kind.big_endian = big_endian;
        pages.push_back(page_of(kind, ++seed));
      }
      const FileBytes file = make_tiff_stack(pages);
      const auto count = static_cast<std::int64_t>(pages.size());
      EXPECT_EQ(pages_of(file), count);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::string name = kinds()[static_cast<std::size_t>(i)].first;
        // Pages keep their stored orientation by default; a reader of a file turns it upright.
        DecodeOptions options = sixteen_bits();
        options.orient = false;
        EXPECT_EQ(page_cut_out(file, i, options), page_in_place(file, i, options))
            << name << big << big_endian;
      }
    }
  }
}

TEST(TiffPages, FrontHasTheHeaderWithoutPixels) {
  TiffKind kind{.width = 300, .height = 200, .description = "text that is not inline"};
  const FileBytes file = make_tiff_stack({page_of(kind, 1), page_of(kind, 2)});
  const InputFile input{FileBytes(file)};
  const auto pages = open_tiff_pages(input, {});
  const FileBytes front = page_bytes(*pages, 1, Pages::Part::front), all = page_bytes(*pages, 1);
  EXPECT_EQ(front.size(), all.size());
  EXPECT_EQ(open_reader(front)->header().shape, (Shape{300, 200, 1}));
  EXPECT_EQ(samples(decode(front)), Values(60000));
  EXPECT_NE(samples(decode(all)), Values(60000));
}

TEST(TiffPages, KeepTheirOwnMetadata) {
  TiffKind kind{.width = 5, .height = 4, .description = "the first page's words"};
  TiffKind other = kind;
  other.description = "the second page's words";
  const FileBytes file = make_tiff_stack({page_of(kind, 1), page_of(other, 2)});
  for (const int page : {0, 1}) {
    const InputFile input{FileBytes(file)};
    const FileBytes one = page_bytes(*open_tiff_pages(input, {}), page);
    EXPECT_EQ(description_by_libtiff(one, 0), description_by_libtiff(file, page));
    EXPECT_EQ(pages_by_libtiff(one), 1);
    EXPECT_FALSE(open_reader(one)->header().more_images);
  }
}

// Offsets in fields point to EXIF's directories: they must lead to the same values.
TEST(TiffPages, KeepExif) {
  FileBytes exif_of;
  {
    MadeTiff made(3, 2);
    made.set(34665, {0}, 4);
    // An EXIF directory after the pixels: ExposureProgram 2, and UserComment with 12 bytes elsewhere.
    FileBytes& pixels = made.pixels;
    if (pixels.size() % 2 != 0) pixels.emplace_back();
    const std::size_t at = 8 + pixels.size();
    made.set(34665, {at}, 4);
    const auto put = [&](std::uint64_t value, int bytes) {
      for (int i = 0; i < bytes; ++i) pixels.push_back(static_cast<std::byte>(value >> (8 * i)));
    };
    put(2, 2);
    put(34850, 2), put(3, 2), put(1, 4), put(2, 4);
    put(37510, 2), put(7, 2), put(12, 4), put(at + 2 + 24 + 4, 4);
    put(0, 4);
    for (const char c : std::string("ASCII\0\0\0word", 12)) pixels.push_back(static_cast<std::byte>(c));
    exif_of = made.build();
  }
  const ImageChanges use{.output = Format::png, .shape = {3, 2, 1}};
  const PreservedMetadata in_place = keep_metadata(exif_of, use);
  ASSERT_TRUE(in_place.metadata && !in_place.metadata->exif.empty());
  const InputFile input{FileBytes(exif_of)};
  const FileBytes one = page_bytes(*open_tiff_pages(input, {}), 0);
  const PreservedMetadata cut_out = keep_metadata(one, use);
  ASSERT_TRUE(cut_out.metadata);
  EXPECT_EQ(cut_out.metadata->exif, in_place.metadata->exif);
}

// Wherever a file is truncated, a page cut out gives the same result as in place, or the list is refused.
TEST(TiffPages, TruncationHasTheSameResult) {
  TiffKind kind{.width = 7, .height = 6, .compression = 8, .rows_per_strip = 2};
  const FileBytes file = make_tiff_stack({page_of(kind, 1), page_of(kind, 2)});
  for (std::size_t size = 8; size < file.size(); ++size) {
    const FileBytes shorter = cut(file, size);
    const std::string reason = reason_of(shorter);
    if (!reason.empty()) continue;
    for (const std::int64_t page : {0, 1})
      EXPECT_EQ(page_cut_out(shorter, page), page_in_place(shorter, page)) << size;
  }
}

TEST(TiffPages, ChangedBytesHaveTheSameVerdict) {
  TiffKind kind{.width = 5, .height = 4, .rows_per_strip = 2, .description = "text after it"};
  const FileBytes file = make_tiff_stack({page_of(kind, 1), page_of(kind, 2)});
  std::size_t differ = 0;
  for (std::size_t at = 8; at < file.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      FileBytes damaged = file;
      damaged[at] ^= static_cast<std::byte>(flip);
      for (const bool lenient : {false, true}) {
        const DecodeOptions options = sixteen_bits(lenient);
        std::int64_t count = 0;
        try {
          count = pages_of(damaged, options);
        } catch (const Error&) {
          continue;  // the chain is damaged
        }
        for (std::int64_t page = 0; page < count; ++page) {
          const std::string in_place = page_in_place(damaged, page, options);
          // A page cut out ignores the next directory, and copies a byte that is both an offset and a pixel.
          if (in_place.find("directory") != in_place.npos) continue;
          const std::string alone = page_cut_out(damaged, page, options);
          const bool both_fail = !is_pixels(in_place) && !is_pixels(alone);
          if (!both_fail && alone != in_place) ++differ;
        }
      }
    }
  }
  EXPECT_EQ(differ, 0U);
}

TEST(TiffPages, DamagedChainErrorNamesThePage) {
  const TiffKind kind{.width = 3, .height = 3};
  MadeTiff made(3, 3);
  made.next = 1'000'000;
  EXPECT_EQ(reason_of(made.build()), "page 2: TIFF: a directory lies outside the file");
  made.next = 8 + 9;
  EXPECT_EQ(reason_of(made.build()), "page 2: TIFF: its directories form a loop");
  const FileBytes file = make_tiff_stack({page_of(kind, 1), page_of(kind, 2), page_of(kind, 3)});
  EXPECT_EQ(pages_of(file), 3);
  DecodeOptions forgiving = lenient();
  const InputFile input{made.build()};
  const auto pages = open_tiff_pages(input, forgiving);
  EXPECT_EQ(pages->size(), 1);
  EXPECT_EQ(pages->warning(), "damaged from page 2: TIFF: its directories form a loop");
}

// All 3000 strips are the same bytes of the file, which also has 400 extra fields.
TEST(TiffPages, PageIsNotLargerThanItsFile) {
  MadeTiff made(4, 4);
  std::vector<std::uint64_t> offsets(3000, 8), counts(3000, 16);
  made.set(273, offsets, 4);
  made.set(279, counts, 4);
  for (int tag = 50000; tag < 50400; ++tag) made.set(tag, std::vector<std::uint64_t>(64, 7), 1);
  const FileBytes file = made.build();
  const InputFile input{FileBytes(file)};
  EXPECT_LE(page_bytes(*open_tiff_pages(input, {}), 0).size(), file.size() + 16);
}

// The field lists more chunk offsets than the page can have, one byte each. Copying them as 32-bit offsets
// would take four times the space.
TEST(TiffPages, ExcessChunksAreNotCopied) {
  for (const bool tiled : {false, true}) {
    MadeTiff made(32, 32);
    const std::vector<std::uint64_t> many(200'000, 8);
    if (tiled) {
      made.fields.erase(273);
      made.fields.erase(279);
      made.set(322, {16});
      made.set(323, {16});
    }
    made.set(tiled ? 324 : 273, many, 1);
    made.set(tiled ? 325 : 279, std::vector<std::uint64_t>(200'000, tiled ? 0 : 4), 4);
    if (tiled) std::fill_n(made.fields[325].values.begin(), 4, 256U);
    if (!tiled) made.set(278, {1});
    if (!tiled) std::fill_n(made.fields[279].values.begin(), 32, 32U);
    const FileBytes file = made.build();
    const InputFile input{FileBytes(file)};
    EXPECT_LE(page_bytes(*open_tiff_pages(input, {}), 0).size(), file.size() + 16) << tiled;
    EXPECT_EQ(page_cut_out(file, 0), page_in_place(file, 0)) << tiled;
    EXPECT_TRUE(is_pixels(page_cut_out(file, 0))) << page_cut_out(file, 0);
  }
}

TEST(TiffPages, ImageJStacksOfOneDirectoryHaveAllImages) {
  for (const int bits : {8, 16}) {
    const TiffKind kind{.width = 11, .height = 7, .bits = bits};
    std::vector<TiffPageSource> images;
    for (int i = 0; i < 5; ++i) images.push_back(page_of(kind, i));
    const FileBytes file = make_imagej_stack(images);
    EXPECT_EQ(pages_of(file), 5);
    EXPECT_TRUE(open_reader(file)->header().more_images);
    const InputFile input{FileBytes(file)};
    const auto pages = open_tiff_pages(input, sixteen_bits());
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(samples(decode(page_bytes(*pages, i), sixteen_bits())),
                images[static_cast<std::size_t>(i)].samples);
  }
}

TEST(TiffPages, ImageJsCountIsCheckedAgainstTheFile) {
  const auto stack = [](const std::string& text, int compression = 1) {
    MadeTiff made(16, 16);
    made.fields[270].type = 2;
    for (const char c : text + '\0') made.fields[270].values.push_back(static_cast<unsigned char>(c));
    made.set(259, {static_cast<std::uint64_t>(compression)});
    return made.build();
  };
  EXPECT_EQ(reason_of(stack("ImageJ=1.54\nimages=9\n")),
            "TIFF: truncated: ImageJ's description declares 9 images, but the file ends in page 2");
  EXPECT_EQ(pages_of(stack("ImageJ=1.54\nimages=9\n"), lenient()), 1);
  EXPECT_NE(reason_of(stack("ImageJ=1.54\nimages=9223372036854775807\n")), "");
  for (const char* text :
       {"ImageJ=1.54\nimages=1\n", "ImageJ=1.54\nimages=-3\n", "ImageJ=1.54\nimages=3x\n",
        "ImageJ=1.54\nimages=99999999999999999999\n", "images=3\n", "ImageJ=\n", "x\nImageJ=1\nimages=3\n"})
    EXPECT_EQ(pages_of(stack(text)), 1) << text;
  EXPECT_EQ(pages_of(stack("ImageJ=1.54\nimages=9\n", 8)), 1);  // compressed, so no other image can follow
}

TEST(TiffPages, ImageJStacksHaveThePageLimit) {
  const auto stack = [](std::int64_t said, std::int64_t there) {
    MadeTiff made(1, 1);
    made.pixels.resize(static_cast<std::size_t>(there));
    made.fields[270].type = 2;
    for (const char c : "ImageJ=1.54\nimages=" + std::to_string(said) + "\n" + '\0')
      made.fields[270].values.push_back(static_cast<unsigned char>(c));
    return made.build();
  };
  constexpr std::int64_t kMost = kMaxTiffPages;
  EXPECT_EQ(pages_of(stack(kMost, kMost)), kMost);
  for (const std::int64_t said : {kMost + 1, 3 * kMost}) {  // whether all declared images exist or not
    const FileBytes file = stack(said, kMost + 5);
    EXPECT_EQ(reason_of(file), "TIFF: more than 1048576 pages");
    const InputFile input{FileBytes(file)};
    const auto pages = open_tiff_pages(input, lenient());
    EXPECT_EQ(pages->size(), kMost);
    EXPECT_EQ(pages->warning(), "more than 1048576 pages");
  }
}

TEST(TiffPages, ManyPagesTakeLinearTime) {
  // libtiff walks the chain for every directory that it writes, and would take minutes.
  constexpr std::uint32_t kPages = 70'000;
  FileBytes file;
  const auto put = [&](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) file.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  put(0x002A4949, 4);
  put(8, 4);
  for (std::uint32_t page = 0; page < kPages; ++page) {
    const std::size_t begin = file.size();
    const std::vector<std::array<std::uint32_t, 3>> fields{{256, 3, 1}, {257, 3, 1}, {258, 3, 8},
                                                           {262, 3, 1}, {273, 4, 0}, {279, 4, 1}};
    const std::size_t pixel = begin + 2 + 12 * fields.size() + 4;
    put(fields.size(), 2);
    for (const auto& [tag, type, value] : fields) {
      put(tag, 2), put(type, 2), put(1, 4);
      put(tag == 273 ? pixel : value, 4);
    }
    put(page + 1 < kPages ? pixel + 2 : 0, 4);
    put(page % 251, 2);
  }
  const InputFile input{std::move(file)};
  const auto pages = open_tiff_pages(input, {});
  EXPECT_EQ(pages->size(), kPages);
  for (const std::int64_t page : {0, 1, 65'535, 65'536, 69'999})
    EXPECT_EQ(samples(decode(page_bytes(*pages, page))), Values{static_cast<int>(page % 251)});
}

}  // namespace
}  // namespace imgpipe::test::tiff_pages_test
