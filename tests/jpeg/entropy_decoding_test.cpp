// The device's entropy decoder, emulated on the host: coefficients and verdicts equal the host decoder's.
#include <array>

#include <gtest/gtest.h>

#include "tests/support/entropy_cases.h"
#include "tests/support/entropy_group.h"
#include "tests/support/files.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::entropy_decoding_test {
namespace {

TEST(EntropyDecoding, GeneratedFilesInGroups) {
  Verdicts verdicts;
  for (std::uint64_t seed = 0; seed < 2000; seed += 20)
    ASSERT_EQ(compare_with_host(made_files(seed, 20), decode_emulated, verdicts), "") << "from " << seed;
  EXPECT_GT(verdicts.is_intact, 1000);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(EntropyDecoding, CodedFilesInGroups) {
  Verdicts verdicts;
  for (std::uint64_t seed = 0; seed < 2000; seed += 50)
    ASSERT_EQ(compare_with_host(coded_files(seed, 50), decode_emulated, verdicts), "") << "from " << seed;
  EXPECT_GT(verdicts.is_intact, 800);
  EXPECT_GT(verdicts.damaged, 100);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(EntropyDecoding, LargeFiles) {
  Verdicts verdicts;
  const JpegFiles files = large_files();
  ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  EXPECT_EQ(verdicts.is_intact, static_cast<int>(files.size()));
}

// Decoding ends, and leaves the file to the host.
TEST(EntropyDecoding, FilesThatNeverSynchroniseAreLeftToTheHost) {
  Verdicts verdicts;
  const JpegFiles files{file_out_of_step(), small_file(0)};
  ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  EXPECT_EQ(verdicts.left, 1);
  EXPECT_EQ(verdicts.is_intact, 1);
}

TEST(EntropyDecoding, Damage) {
  Verdicts verdicts;
  for (const int restart : kSanitized ? std::vector<int>{3} : std::vector<int>{3, 0}) {
    const JpegFiles files = damaged_files(small_file(restart), 1);
    ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  }
  EXPECT_EQ(verdicts.left, 0);
  EXPECT_GT(verdicts.damaged, 1000);
}

// Files of several tiles, with and without restarts.
TEST(EntropyDecoding, DamageInLargeFiles) {
  Verdicts verdicts;
  const JpegFiles files = large_files();
  const auto changed = kSanitized ? std::vector<std::size_t>{3} : std::vector<std::size_t>{0, 3, 4};
  for (const std::size_t i : changed)
    ASSERT_EQ(compare_with_host(changed_files(files[i], 60), decode_emulated, verdicts), "") << i;
  EXPECT_EQ(verdicts.left, 0);
  EXPECT_GT(verdicts.damaged, 17 * static_cast<int>(changed.size()));
  EXPECT_GT(verdicts.is_intact, 17 * static_cast<int>(changed.size()));
}

TEST(EntropyDecoding, OneColour) {
  Verdicts verdicts;
  const JpegFiles files{constant_file(true), constant_file(false)};
  ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  EXPECT_EQ(verdicts.is_intact, 2);
}

TEST(EntropyDecoding, SegmentsMustMatchTheHeader) {
  const std::unique_ptr<OpenJpeg> jpeg = open_jpeg_scan(small_file(3));
  const std::optional<StagedJpeg> whole = staged(*jpeg);
  ASSERT_TRUE(whole);
  StagedJpeg fewer = *whole, empty = *whole, moved = *whole;
  fewer.scan.segments.pop_back();
  empty.scan.segments[1].bytes = 0;
  moved.scan.segments[2].first_byte += 16;
  const std::array<GroupImage, 4> images{
      {{jpeg.get(), &fewer}, {jpeg.get(), &*whole}, {jpeg.get(), &empty}, {jpeg.get(), &moved}}};
  const GroupResult result = decode_emulated(images);
  EXPECT_TRUE(result[0].empty() && result[2].empty() && result[3].empty());
  EXPECT_FALSE(result[1].empty());
}

TEST(EntropyDecoding, RealFiles) {
  const auto directory = corpus();
  if (!directory) GTEST_SKIP() << "IMGPIPE_CORPUS is not set";
  Verdicts verdicts;
  for (const std::filesystem::path& path : files_below(*directory)) {
    constexpr std::size_t kMaxBytes = std::size_t{1} << 23;
    if (file_size(path) > kMaxBytes) continue;
    const JpegFiles files{load(path)};
    const std::unique_ptr<OpenJpeg> open = open_jpeg_scan(files[0]);
    if (!open || open->scan.width * open->scan.height > 20'000'000) continue;
    ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "") << path;
  }
  EXPECT_GT(verdicts.is_intact, 0);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(EntropyDecoding, EmptyGroup) {
  EXPECT_TRUE(decode_emulated({}).empty());
}

}  // namespace
}  // namespace imgpipe::test::entropy_decoding_test
