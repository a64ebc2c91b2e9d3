// The device's entropy decoder, thread by thread on the host: coefficients and verdicts of the host's own.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/coded_jpegs.h"
#include "tests/support/entropy_group.h"
#include "tests/support/files.h"
#include "tests/support/made_jpegs.h"

namespace imgpipe::test {
namespace {

using Bytes = std::vector<std::byte>;
using Files = std::vector<Bytes>;

TEST(EntropyDecoding, MadeFilesInGroups) {
  Verdicts verdicts;
  for (std::uint64_t seed = 0; seed < 2000; seed += 20) {
    Files files;
    for (std::uint64_t i = 0; i < 20; ++i) files.push_back(make_jpeg(random_jpeg(seed + i)));
    ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "") << "from " << seed;
  }
  EXPECT_GT(verdicts.in_order, 1000);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(EntropyDecoding, CodedFilesInGroups) {
  Verdicts verdicts;
  for (std::uint64_t seed = 0; seed < 2000; seed += 50) {
    Files files;
    for (std::uint64_t i = 0; i < 50; ++i) files.push_back(random_coded_jpeg(seed + i).file);
    ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "") << "from " << seed;
  }
  EXPECT_GT(verdicts.in_order, 800);
  EXPECT_GT(verdicts.damaged, 100);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(EntropyDecoding, LargeFiles) {
  Verdicts verdicts;
  Files files;
  for (const JpegContent content : {JpegContent::photo, JpegContent::noise, JpegContent::constant, JpegContent::tiles,
                                    JpegContent::gradient, JpegContent::sparse, JpegContent::dense}) {
    for (const int restart : {0, 1, 7}) {
      MadeJpeg jpeg{.width = 1001, .height = 777, .quality = 90, .restart_mcus = restart, .content = content};
      jpeg.factors = {{{2, 2}, {1, 1}, {1, 1}}};
      files.push_back(make_jpeg(jpeg));
      jpeg.factors = {{{1, 1}, {1, 1}, {1, 1}}};
      jpeg.optimised = true;
      files.push_back(make_jpeg(jpeg));
    }
  }
  ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  EXPECT_EQ(verdicts.left, 0);
  EXPECT_EQ(verdicts.in_order, static_cast<int>(files.size()));
}

// Every byte cut and every bit changed of small files.
TEST(EntropyDecoding, Damage) {
  Verdicts verdicts;
  MadeJpeg jpeg{.width = 61, .height = 45, .quality = 88, .restart_mcus = 3, .optimised = true};
  jpeg.factors = {{{2, 2}, {1, 1}, {1, 1}}};
  for (const int restart : {3, 0}) {
    jpeg.restart_mcus = restart;
    const Bytes whole = make_jpeg(jpeg);
    Files files;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      files.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at));
      for (int bit = 0; bit < 8; ++bit) {
        files.push_back(whole);
        files.back()[at] ^= std::byte{1} << bit;
      }
    }
    // A changed bit of the header can make a picture large.
    std::erase_if(files, [](const Bytes& file) {
      const auto open = open_jpeg_scan(file);
      return !open || open->scan.mcus() > 1000;
    });
    ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  }
  EXPECT_EQ(verdicts.left, 0);
  EXPECT_GT(verdicts.damaged, 1000);
}

}  // namespace
}  // namespace imgpipe::test
