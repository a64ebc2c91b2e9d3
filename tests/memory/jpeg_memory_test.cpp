// The memory of our own JPEG decoder, counted byte for byte: never above its estimate, with any number of
// threads, for valid files and for those that the library takes over. Nothing remains allocated.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "tests/support/allocations.h"
#include "tests/support/made_jpegs.h"

namespace imgpipe::test::jpeg_memory_test {
namespace {

using Bytes = std::vector<std::byte>;

struct Case {
  const char* name;
  MadeJpeg jpeg;
};
void PrintTo(const Case& each, std::ostream* out) {
  *out << each.name;
}

std::vector<Case> cases() {
  using Content = JpegContent;
  constexpr std::array<JpegFactors, 4> k444{}, k422{{{2, 1}}}, k420{{{2, 2}}}, k440{{{1, 2}}};
  return {
      {"noise_420",
       {.width = 1500, .height = 1100, .factors = k420, .quality = 95, .content = Content::noise}},
      {"restarts_420",
       {.width = 1500,
        .height = 1100,
        .factors = k420,
        .quality = 95,
        .restart_rows = 1,
        .content = Content::noise}},
      {"rare_restarts_422",
       {.width = 1500,
        .height = 1100,
        .factors = k422,
        .quality = 95,
        .restart_rows = 60,
        .content = Content::noise}},
      {"photo_444", {.width = 1700, .height = 1300, .factors = k444, .quality = 97}},
      {"photo_440", {.width = 1700, .height = 1300, .factors = k440, .quality = 97}},
      {"grey", {.width = 1700, .height = 1500, .stored = JCS_GRAYSCALE, .quality = 97}},
      {"constant",
       {.width = 4400,
        .height = 2900,
        .factors = k444,
        .optimised = true,
        .one_table = true,
        .content = Content::constant}},
      {"sparse", {.width = 4000, .height = 3000, .factors = k420, .content = Content::sparse}},
      {"dense", {.width = 300, .height = 260, .factors = k444, .content = Content::dense}},
  };
}

class JpegMemory : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces malloc";
  }
};

// Reads bands, with one thread per element of `bands`. Each begins `held` bands and reads the last one first.
void read_in_bands(Reader& reader, std::vector<Image>& bands, std::int64_t rows, std::size_t held) {
  const std::int64_t height = reader.header().shape.height;
  std::mutex mutex;
  std::int64_t next = 0;
  const auto work = [&](std::size_t thread) {
    try {
      for (;;) {
        std::vector<std::pair<std::int64_t, std::int64_t>> begun;
        {
          const std::lock_guard lock(mutex);
          for (; begun.size() < held && next < height; next += begun.back().second) {
            begun.emplace_back(next, std::min(rows, height - next));
            reader.begin_band(begun.back().first, begun.back().second);
          }
        }
        if (begun.empty()) return;
        for (auto band = begun.rbegin(); band != begun.rend(); ++band)
          reader.read_band(band->first, bands[thread].untyped_view().rows(0, band->second));
      }
    } catch (const Error&) {
      return;  // the file is damaged
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < bands.size(); ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
}

void expect_within_estimate(const Bytes& file, bool lenient, std::size_t threads, std::size_t held) {
  constexpr std::int64_t kRows = 64;
  constexpr std::int64_t kSlack = std::int64_t{64} << 10;  // rounding by malloc, lists, threads
  DecodeOptions options;
  options.accept = lenient ? Acceptance::lenient : Acceptance::strict;
  const std::int64_t before_all = held_bytes();
  {
    const auto reader = open_reader(file, options);
    ASSERT_TRUE(reader->has_bands());
    Shape shape = reader->header().shape;
    shape.height = std::min(kRows, shape.height);
    std::vector<Image> bands;
    for (std::size_t i = 0; i < threads; ++i) bands.emplace_back(shape);
    const std::int64_t said =
        reader->working_bytes(false) + static_cast<std::int64_t>(threads * held) * reader->band_bytes(kRows);
    const std::int64_t peak = peak_of([&] { read_in_bands(*reader, bands, kRows, held); });
    EXPECT_LE(peak, said + kSlack) << threads << " threads, " << held << " bands each"
                                   << (lenient ? ", lenient" : "");
    testing::Test::RecordProperty("share_" + std::to_string(threads) + "_" + std::to_string(held),
                                  std::to_string(static_cast<double>(peak) / static_cast<double>(said)));
  }
  EXPECT_LE(held_bytes() - before_all, 16 << 10) << "remains after the reader";
}

// If memory is short, the library decodes, which needs less.
TEST_P(JpegMemory, LibraryNeedsLessMemory) {
  const Bytes file = make_jpeg(GetParam().jpeg);
  const auto reader = open_reader(file);
  const auto library = open_reader(file, {.codec = CodecChoice::turbo});
  ASSERT_TRUE(reader->has_bands());
  EXPECT_GT(reader->working_bytes(true), library->working_bytes(true));
  EXPECT_TRUE(reader->use_less_memory());
  EXPECT_FALSE(reader->use_less_memory());
  EXPECT_FALSE(reader->has_bands());
  EXPECT_EQ(reader->decoder(), "");
  EXPECT_EQ(reader->working_bytes(true), library->working_bytes(true));
  Image ours(reader->header().shape);
  Image theirs(ours.shape());
  reader->read_rows(ours.untyped_view());
  library->read_rows(theirs.untyped_view());
  EXPECT_EQ(std::memcmp(ours.view().data, theirs.view().data, ours.size_bytes()), 0);
}

TEST_P(JpegMemory, StaysWithinTheEstimate) {
  const Bytes file = make_jpeg(GetParam().jpeg);
  for (const std::size_t threads : {1, 2, 3, 8}) expect_within_estimate(file, false, threads, 1);
  expect_within_estimate(file, false, 1, 5);
}

TEST_P(JpegMemory, StaysWithinTheEstimateForDamagedFiles) {
  const Bytes whole = make_jpeg(GetParam().jpeg);
  for (const std::size_t part : {3, 11}) {
    Bytes file = whole;
    file.resize(whole.size() * part / 12);
    for (const bool lenient : {false, true}) {
      for (const std::size_t threads : {1, 3, 8}) expect_within_estimate(file, lenient, threads, 1);
      expect_within_estimate(file, lenient, 1, 5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, JpegMemory, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace imgpipe::test::jpeg_memory_test
