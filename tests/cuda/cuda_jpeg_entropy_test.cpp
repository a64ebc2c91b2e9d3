// Compares the entropy decoder on the device with the host's: coefficients and verdicts.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/support/cuda_backend.h"
#include "tests/support/entropy_cases.h"
#include "tests/support/entropy_group.h"
#include "tests/support/files.h"

namespace imgpipe::test::cuda_jpeg_entropy_test {
namespace {

GroupResult once(std::span<const GroupImage> images) {
  return decode_on_cuda(images, 1);
}
GroupResult four_at_once(std::span<const GroupImage> images) {
  return decode_on_cuda(images, 4);
}

TEST(CudaJpegEntropy, GeneratedFilesInGroups) {
  IMGPIPE_NEED_CUDA();
  Verdicts verdicts;
  for (std::uint64_t seed = 0; seed < 2000; seed += 200)
    ASSERT_EQ(compare_with_host(made_files(seed, 200), once, verdicts), "") << "from " << seed;
  EXPECT_GT(verdicts.is_intact, 1000);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(CudaJpegEntropy, CodedFilesInGroups) {
  IMGPIPE_NEED_CUDA();
  Verdicts verdicts;
  for (std::uint64_t seed = 0; seed < 2000; seed += 200)
    ASSERT_EQ(compare_with_host(coded_files(seed, 200), once, verdicts), "") << "from " << seed;
  EXPECT_GT(verdicts.is_intact, 800);
  EXPECT_GT(verdicts.damaged, 100);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(CudaJpegEntropy, LargeFilesInSeveralStreams) {
  IMGPIPE_NEED_CUDA();
  Verdicts verdicts;
  const JpegFiles files = large_files();
  ASSERT_EQ(compare_with_host(files, four_at_once, verdicts), "");
  EXPECT_EQ(verdicts.is_intact, static_cast<int>(files.size()));
}

TEST(CudaJpegEntropy, OneFileAtATime) {
  IMGPIPE_NEED_CUDA();
  Verdicts verdicts;
  for (const std::vector<std::byte>& file : made_files(0, 40))
    ASSERT_EQ(compare_with_host(std::span(&file, 1), once, verdicts), "");
  EXPECT_EQ(verdicts.left, 0);
}

// Decoding ends, and does not affect the group's other files.
TEST(CudaJpegEntropy, UnsynchronisableFilesAreLeftToTheHost) {
  IMGPIPE_NEED_CUDA();
  Verdicts verdicts;
  const JpegFiles files{file_out_of_step(), small_file(0)};
  ASSERT_EQ(compare_with_host(files, once, verdicts), "");
  EXPECT_EQ(verdicts.left, 1);
  EXPECT_EQ(verdicts.is_intact, 1);
}

TEST(CudaJpegEntropy, Damage) {
  IMGPIPE_NEED_CUDA();
  Verdicts verdicts;
  for (const int restart : {3, 0}) {
    const JpegFiles files = damaged_files(small_file(restart), 2);
    for (std::size_t i = 0; i < files.size(); i += 1000) {
      const std::size_t count = std::min<std::size_t>(1000, files.size() - i);
      ASSERT_EQ(compare_with_host(std::span(files).subspan(i, count), once, verdicts), "");
    }
  }
  EXPECT_EQ(verdicts.left, 0);
  EXPECT_GT(verdicts.damaged, 1000);
}

TEST(CudaJpegEntropy, DamageInLargeFiles) {
  IMGPIPE_NEED_CUDA();
  Verdicts verdicts;
  const JpegFiles files = large_files();
  for (const std::size_t i : {0U, 3U, 4U, 31U})
    ASSERT_EQ(compare_with_host(changed_files(files[i], 100), once, verdicts), "") << i;
  EXPECT_EQ(verdicts.left, 0);
  EXPECT_GT(verdicts.damaged, 100);
  EXPECT_GT(verdicts.is_intact, 100);
}

TEST(CudaJpegEntropy, OneColour) {
  IMGPIPE_NEED_CUDA();
  Verdicts verdicts;
  const JpegFiles files{constant_file(true), small_file(0), constant_file(false)};
  ASSERT_EQ(compare_with_host(files, four_at_once, verdicts), "");
  EXPECT_EQ(verdicts.is_intact, 3);
}

TEST(CudaJpegEntropy, EmptyGroup) {
  IMGPIPE_NEED_CUDA();
  EXPECT_TRUE(once({}).empty());
}

TEST(CudaJpegEntropy, RealFiles) {
  IMGPIPE_NEED_CUDA();
  const auto directory = corpus();
  if (!directory) GTEST_SKIP() << "IMGPIPE_CORPUS is not set";
  JpegFiles files;
  Verdicts verdicts;
  const auto decode = [&] {
    ASSERT_EQ(compare_with_host(files, once, verdicts), "");
    files.clear();
  };
  for (const std::filesystem::path& path : files_below(*directory)) {
    constexpr std::size_t kMaxBytes = std::size_t{1} << 24;
    if (file_size(path) > kMaxBytes) continue;
    std::vector<std::byte> file = load(path);
    const std::unique_ptr<OpenJpeg> open = open_jpeg_scan(file);
    if (!open || open->scan.width * open->scan.height > 50'000'000) continue;
    files.push_back(std::move(file));
    if (files.size() < 8) continue;
    ASSERT_NO_FATAL_FAILURE(decode());
  }
  decode();
  EXPECT_GT(verdicts.is_intact, 0);
}

}  // namespace
}  // namespace imgpipe::test::cuda_jpeg_entropy_test
