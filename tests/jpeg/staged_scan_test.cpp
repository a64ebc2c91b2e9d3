// Scans without stuffing and markers: their bytes, and that the host's decoder accepts the same scans.
#include "images/codecs/jpeg/staged_scan.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "images/simd.h"
#include "tests/support/entropy_cases.h"
#include "tests/support/entropy_group.h"

namespace imgpipe::test::staged_scan_test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// A grey scan of `mcus` blocks.
BaselineScan scan_of(const Bytes& data, std::int64_t mcus, std::int64_t interval) {
  BaselineScan scan;
  scan.width = mcus * 8;
  scan.height = 8;
  scan.mcus_across = mcus;
  scan.mcu_rows = 1;
  scan.restart_interval = interval;
  scan.data = data;
  return scan;
}

struct Staged {
  std::optional<StagedScan> scan;
  Bytes bytes;
};
Staged stage(const Bytes& data, std::int64_t mcus, std::int64_t interval) {
  const BaselineScan scan = scan_of(data, mcus, interval);
  Staged staged;
  const std::size_t capacity = staged_capacity(scan);
  staged.bytes.assign(capacity + 32, std::byte{0xA5});
  staged.scan = stage_scan(scan, std::span(staged.bytes).first(capacity));
  EXPECT_TRUE(std::ranges::all_of(std::span(staged.bytes).last(32),
                                  [](std::byte b) { return b == std::byte{0xA5}; }));
  return staged;
}

TEST(StagedScan, RemovesStuffing) {
  const Staged staged = stage(bytes_of({1, 2, 0xFF, 0, 3, 0xFF, 0, 0xFF, 0, 0xFF, 0xD9, 7, 8}), 5, 0);
  ASSERT_TRUE(staged.scan);
  EXPECT_EQ(staged.scan->after_end, 11U);
  ASSERT_EQ(staged.scan->segments.size(), 1U);
  EXPECT_EQ(staged.scan->segments[0].first_byte, 0U);
  EXPECT_EQ(staged.scan->segments[0].bytes, 6U);
  ASSERT_EQ(staged.scan->bytes, 16U);
  Bytes expected = bytes_of({1, 2, 0xFF, 3, 0xFF, 0xFF});
  expected.resize(16);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), staged.bytes.begin()));
}

TEST(StagedScan, BeginsSegmentsOnBoundaries) {
  const Staged staged = stage(bytes_of({1, 0xFF, 0xD0, 2, 0xFF, 0, 0xFF, 0xD1, 3, 0xFF, 0xD9}), 5, 2);
  ASSERT_TRUE(staged.scan);
  ASSERT_EQ(staged.scan->segments.size(), 3U);
  EXPECT_EQ(staged.scan->segments[1].first_byte, 16U);
  EXPECT_EQ(staged.scan->segments[1].bytes, 2U);
  EXPECT_EQ(staged.scan->segments[2].first_byte, 32U);
  EXPECT_EQ(staged.scan->bytes, 48U);
  EXPECT_EQ(staged.scan->after_end, 11U);
  for (std::size_t i = 0; i < 48; ++i) {
    const bool code = i == 0 || i == 16 || i == 17 || i == 32;
    EXPECT_EQ(staged.bytes[i] != std::byte{0}, code) << i;
  }
}

TEST(StagedScan, RequiresMarkersInOrder) {
  const auto taken = [](std::initializer_list<int> data, std::int64_t mcus, std::int64_t interval) {
    return stage(bytes_of(data), mcus, interval).scan.has_value();
  };
  EXPECT_TRUE(taken({1, 2, 3, 0xFF, 0xD9}, 5, 0));
  EXPECT_TRUE(taken({1, 2, 3, 0xFF, 0xD9}, 5, 5));
  EXPECT_FALSE(taken({}, 5, 0));
  EXPECT_FALSE(taken({1, 2, 3}, 5, 0));
  EXPECT_FALSE(taken({1, 2, 3, 0xFF}, 5, 0));
  EXPECT_FALSE(taken({1, 2, 3, 0xFF, 0xFF, 0xD9}, 5, 0));     // a fill byte
  EXPECT_FALSE(taken({1, 2, 3, 0xFF, 0xDA}, 5, 0));           // another marker
  EXPECT_FALSE(taken({1, 0xFF, 0xD0, 3, 0xFF, 0xD9}, 5, 0));  // a restart marker without restarts
  EXPECT_TRUE(taken({1, 0xFF, 0xD0, 3, 0xFF, 0xD9}, 5, 3));
  EXPECT_FALSE(taken({1, 0xFF, 0xD1, 3, 0xFF, 0xD9}, 5, 3));              // a wrong number
  EXPECT_FALSE(taken({1, 0xFF, 0xD0, 3, 0xFF, 0xD9}, 5, 2));              // too few
  EXPECT_FALSE(taken({1, 0xFF, 0xD0, 3, 0xFF, 0xD1, 0xFF, 0xD9}, 5, 3));  // too many
  EXPECT_FALSE(taken({1, 0xFF, 0xD9, 3, 0xFF, 0xD9}, 5, 3));              // an early end
  EXPECT_FALSE(taken({1, 2, 0xFF, 0xD9}, std::int64_t{1} << 40, 1));
}

TEST(StagedScan, RestartNumbersWrapAround) {
  Bytes data;
  for (int i = 0; i < 21; ++i) {
    for (const int value : {i, 0xFF, 0xD0 + i % 8}) data.push_back(static_cast<std::byte>(value));
  }
  data.back() = std::byte{0xD9};
  const Staged staged = stage(data, 21, 1);
  ASSERT_TRUE(staged.scan);
  EXPECT_EQ(staged.scan->segments.size(), 21U);
}

// Any bytes, compared with unstuffing byte by byte.
TEST(StagedScan, RandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Bytes data(random() % 3000);

    const std::uint64_t one_in = 1 + random() % 300;
    for (std::byte& byte : data)
      byte = static_cast<std::byte>(random() % one_in == 0 ? 0xFF : random() % 255);
    Bytes stuffed;
    for (const std::byte byte : data) {
      stuffed.push_back(byte);
      if (byte == std::byte{0xFF}) stuffed.push_back(std::byte{0});
    }
    stuffed.push_back(std::byte{0xFF});
    stuffed.push_back(std::byte{0xD9});
    for (const std::string& target : simd_targets()) {
      use_simd(target);
      const Staged staged = stage(stuffed, 16, 0);
      ASSERT_TRUE(staged.scan) << target;
      ASSERT_EQ(staged.scan->segments[0].bytes, data.size()) << target;
      ASSERT_TRUE(std::equal(data.begin(), data.end(), staged.bytes.begin())) << target;
    }
    use_simd("");
  }
}

TEST(StagedScan, TooLargeScansAreRejected) {
  BaselineScan scan = scan_of({}, 1 << 23, 0);
  scan.data = {static_cast<const std::byte*>(nullptr), std::size_t{1} << 31};
  EXPECT_EQ(staged_capacity(scan), 0U);
  EXPECT_FALSE(stage_scan(scan, {}));
}

// The blocks cannot use that many bytes, so the scan is damaged, and no memory may be reserved for them.
TEST(StagedScan, MoreDataThanTheBlocksCanHaveIsRejected) {
  BaselineScan scan = scan_of({}, 5, 0);
  scan.data = {static_cast<const std::byte*>(nullptr), std::size_t{1} << 30};
  EXPECT_LT(staged_capacity(scan), 5000U);
  Bytes long_scan(3000, std::byte{1});
  long_scan.push_back(std::byte{0xFF});
  long_scan.push_back(std::byte{0xD9});
  EXPECT_FALSE(stage(long_scan, 5, 0).scan);
  EXPECT_TRUE(stage(long_scan, 16, 0).scan);
}

// A marker anywhere among stuffed and other bytes ends the scan there.
TEST(StagedScan, EndsAtTheFirstMarker) {
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (std::size_t before = 1; before < 200; ++before) {
      for (const bool stuffed : {false, true}) {
        Bytes data;
        while (data.size() < before) {
          data.push_back(stuffed ? std::byte{0xFF} : std::byte{7});
          if (stuffed) data.push_back(std::byte{0});
        }
        const std::size_t end = data.size();
        for (const int value : {0xFF, 0xD9, 0, 0xFF, 0, 0xFF, 0xD8})
          data.push_back(static_cast<std::byte>(value));
        data.resize(data.size() + before, std::byte{0xFF});
        const Staged staged = stage(data, 1, 0);
        ASSERT_TRUE(staged.scan) << target;
        ASSERT_EQ(staged.scan->after_end, end + 2) << target;
        ASSERT_EQ(staged.scan->segments[0].bytes, stuffed ? end / 2 : end) << target;
      }
    }
  }
  use_simd("");
}

// Every scan that the host's decoder accepts is staged and ends at the same position.
TEST(StagedScan, AcceptsTheHostDecodersScans) {
  int is_intact = 0, damaged = 0;
  const auto check = [&](const JpegFiles& files) {
    for (const Bytes& file : files) {
      const std::unique_ptr<OpenJpeg> jpeg = open_jpeg_scan(file);
      if (!jpeg) continue;
      const std::optional<StagedJpeg> stream = staged(*jpeg);
      const std::optional<HostCoefficients> host = host_coefficients(*jpeg);
      ASSERT_TRUE(stream || !host);
      if (host) {
        ASSERT_EQ(host->after_end, stream->scan.after_end);
      }
      ++(stream ? is_intact : damaged);
    }
  };
  ASSERT_NO_FATAL_FAILURE(check(made_files(0, 500)));
  ASSERT_NO_FATAL_FAILURE(check(coded_files(0, 500)));
  ASSERT_NO_FATAL_FAILURE(check(damaged_files(small_file(2), 1)));
  EXPECT_GT(is_intact, 1000);
  EXPECT_GT(damaged, 100);
}

}  // namespace
}  // namespace imgpipe::test::staged_scan_test
