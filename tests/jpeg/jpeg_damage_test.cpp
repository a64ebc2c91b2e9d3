// Small JPEGs cut at every byte and with every single bit changed: our own decoder and libjpeg-turbo agree.
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "tests/support/jpeg_pair.h"
#include "tests/support/made_jpegs.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::jpeg_damage_test {
namespace {

using Bytes = std::vector<std::byte>;

// A changed bit can make an image large.
constexpr std::int64_t kMaxPixels = 1 << 16;

struct Small {
  const char* name;
  MadeJpeg jpeg;
};

const std::array<Small, 3>& small_files() {
  static const std::array<Small, 3> files{
      {{"restarts_420",
        {.width = 61,
         .height = 45,
         .factors = {{{2, 2}}},
         .quality = 88,
         .restart_mcus = 3,
         .optimised = true}},
       {"grey", {.width = 53, .height = 50, .stored = JCS_GRAYSCALE, .quality = 85}},
       {"colour_444", {.width = 38, .height = 33, .quality = 90, .optimised = true}}}};
  return files;
}

void expect_equal(const Bytes& file, std::size_t number, const std::string& what) {
  static const std::array<Reading, 6> readings{
      {{},
       {.rows = 5, .scan_chunk_bytes = 100},
       {8, 1, 2},
       {.rows = 6, .threads = 1, .common = 1, .backwards = true},
       {.rows = 8, .threads = 1, .scan_chunk_bytes = 17},
       {.rows = 9, .threads = 1, .common = 3, .backwards = true, .scan_chunk_bytes = 60}}};
  const Reading from_threads{.rows = 8, .threads = 3, .common = 2, .scan_chunk_bytes = 80};
  for (const Acceptance accept : kEveryAcceptance) {
    const JpegOutcome expected = read_jpeg(file, jpeg_options(CodecChoice::turbo, accept, kMaxPixels));
    const Reading& reading = number % 32 == 0 ? from_threads : readings[number % readings.size()];
    const JpegOutcome got =
        read_jpeg(file, jpeg_options(CodecChoice::automatic, accept, kMaxPixels), reading);
    ASSERT_EQ(difference(expected, got), "") << what << ", " << text_of(accept) << ", " << text_of(reading);
  }
}

constexpr int kShards = 4;

// Parameters: the index of the file, and the shard of its bytes.
class Damage : public testing::TestWithParam<std::tuple<std::size_t, int>> {
 protected:
  static Bytes whole() { return make_jpeg(small_files()[std::get<0>(GetParam())].jpeg); }
  static void for_each_byte(std::size_t count, const auto& action) {
    const std::size_t step = kSanitized ? 10 * kShards + 1 : kShards;
    for (auto at = static_cast<std::size_t>(std::get<1>(GetParam())); at < count; at += step) {
      action(at);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};

TEST_P(Damage, TruncationOfEveryFormat) {
  const Bytes file = whole();
  ASSERT_GT(file.size(), 1000U);
  ASSERT_LT(file.size(), 3000U);
  for_each_byte(file.size(), [&](std::size_t at) {
    expect_equal(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(at)), at / kShards,
                 "cut at " + std::to_string(at));
  });
}

TEST_P(Damage, EveryBitChanged) {
  const Bytes file = whole();
  for_each_byte(file.size(), [&](std::size_t at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = file;
      changed[at] ^= std::byte{1} << bit;
      ASSERT_NO_FATAL_FAILURE(expect_equal(changed, at / kShards * 8 + static_cast<std::size_t>(bit),
                                           "byte " + std::to_string(at) + " bit " + std::to_string(bit)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Files, Damage,
                         testing::Combine(testing::Range<std::size_t>(0, 3), testing::Range(0, kShards)),
                         [](const auto& each) {
                           return std::string(small_files()[std::get<0>(each.param)].name) + "_" +
                                  std::to_string(std::get<1>(each.param));
                         });

}  // namespace
}  // namespace imgpipe::test::jpeg_damage_test
