// The device's entropy decoder, thread by thread on the host: coefficients and verdicts of the host's own.
#include <gtest/gtest.h>

#include "tests/support/entropy_cases.h"
#include "tests/support/entropy_group.h"

namespace imgpipe::test {
namespace {

TEST(EntropyDecoding, MadeFilesInGroups) {
  Verdicts verdicts;
  for (std::uint64_t seed = 0; seed < 2000; seed += 20)
    ASSERT_EQ(compare_with_host(made_files(seed, 20), decode_emulated, verdicts), "") << "from " << seed;
  EXPECT_GT(verdicts.in_order, 1000);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(EntropyDecoding, CodedFilesInGroups) {
  Verdicts verdicts;
  for (std::uint64_t seed = 0; seed < 2000; seed += 50)
    ASSERT_EQ(compare_with_host(coded_files(seed, 50), decode_emulated, verdicts), "") << "from " << seed;
  EXPECT_GT(verdicts.in_order, 800);
  EXPECT_GT(verdicts.damaged, 100);
  EXPECT_EQ(verdicts.left, 0);
}

TEST(EntropyDecoding, LargeFiles) {
  Verdicts verdicts;
  const JpegFiles files = large_files();
  ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  EXPECT_EQ(verdicts.in_order, static_cast<int>(files.size()));
}

// It ends, and is the host's.
TEST(EntropyDecoding, WhatIsNeverInStepIsLeft) {
  Verdicts verdicts;
  const JpegFiles files{file_out_of_step(), small_file(0)};
  ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  EXPECT_EQ(verdicts.left, 1);
  EXPECT_EQ(verdicts.in_order, 1);
}

TEST(EntropyDecoding, Damage) {
  Verdicts verdicts;
  for (const int restart : {3, 0}) {
    const JpegFiles files = damaged_files(small_file(restart), 1);
    ASSERT_EQ(compare_with_host(files, decode_emulated, verdicts), "");
  }
  EXPECT_EQ(verdicts.left, 0);
  EXPECT_GT(verdicts.damaged, 1000);
}

TEST(EntropyDecoding, AnEmptyGroup) {
  EXPECT_TRUE(decode_emulated({}).empty());
}

}  // namespace
}  // namespace imgpipe::test
