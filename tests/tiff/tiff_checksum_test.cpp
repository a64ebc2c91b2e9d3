// Checksums of Deflate after more rows than the image has.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <tiffio.h>

#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_page.h"
#include "tests/support/decoding.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_checksum_test {
namespace {

// Returns an image of `rows` rows with a strip of `packed` rows.
FileBytes with_more_rows(int packed, int rows, int rows_per_strip, bool damaged) {
  constexpr int kWidth = 19;
  Values samples(static_cast<std::size_t>(kWidth * packed));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<int>(i % 251);
  const FileBytes whole = make_tiff(
      {.width = kWidth, .height = packed, .compression = COMPRESSION_ADOBE_DEFLATE, .rows_per_strip = packed},
      samples);
  const TiffPage page = read_tiff_page(whole, *tiff_directory_offset(whole, 0), {});
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(page.offsets[0]);
  MadeTiff made(kWidth, rows);
  made.pixels.assign(begin, begin + static_cast<std::ptrdiff_t>(page.counts[0]));
  if (damaged) made.pixels.back() ^= std::byte{1};
  made.set(259, {COMPRESSION_ADOBE_DEFLATE});
  made.set(278, {static_cast<std::uint64_t>(rows_per_strip)});
  made.set(279, {page.counts[0]}, 4);
  return made.build();
}

// Some writers fill up the last strip. The checksum after extra rows is checked unless they exceed a strip.
TEST(TiffDamage, DeflateChecksumsAfterExtraRowsAreChecked) {
  for (const auto& [packed, rows] : {std::pair{2, 1}, {8, 8}, {8, 5}, {8, 4}, {300, 299}, {300, 150}}) {
    EXPECT_EQ(failure(with_more_rows(packed, rows, rows, false)), "") << packed;
    EXPECT_NE(failure(with_more_rows(packed, rows, rows, true)).find("checksum"), std::string::npos)
        << packed;
  }
  EXPECT_EQ(failure(with_more_rows(9, 4, 4, false)), "");
  EXPECT_EQ(failure(with_more_rows(9, 4, 4, true)), "")
      << "as libtiff, which looks at nothing after the rows";
}

}  // namespace
}  // namespace imgpipe::test::tiff_checksum_test
