// The memory of the TIFF reader while several threads read bands: no more than its estimate.
#include <algorithm>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/allocations.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_memory_test {
namespace {

struct Case {
  std::string name;
  TiffKind kind;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

std::vector<Case> cases() {
  TiffKind kind{.width = 1200, .height = 1500, .bits = 16, .samples = 3, .photometric = 2, .compression = 8};
  std::vector<Case> all;
  all.push_back({"whole", kind});
  for (const int rows : {1, 10, 64, 65, 700}) {
    kind.rows_per_strip = rows;
    all.push_back({"strips_of_" + std::to_string(rows), kind});
  }
  kind.tile_width = 512;
  kind.tile_height = 256;
  all.push_back({"tiles", kind});
  kind.separate = true;
  all.push_back({"separate_tiles", kind});
  kind.separate = false;
  kind.compression = 5;
  all.push_back({"lzw_tiles", kind});
  kind.compression = 1;
  all.push_back({"plain_tiles", kind});
  kind.bits = 8;
  kind.photometric = 6;
  kind.compression = 7;
  all.push_back({"jpeg_tiles", kind});
  return all;
}

class TiffMemory : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces malloc";
  }
};

// Reads overlapping bands of `rows` rows. Each thread begins `held` bands and reads the last one first.
void read_in_bands(Reader& reader, std::vector<Image>& bands, std::int64_t rows, std::size_t held) {
  constexpr std::int64_t kOverlap = 3;
  const std::int64_t height = reader.header().shape.height;
  std::mutex mutex;
  std::int64_t next = 0;
  const auto work = [&](std::size_t thread) {
    for (;;) {
      std::vector<std::pair<std::int64_t, std::int64_t>> begun;
      {
        const std::lock_guard lock(mutex);
        while (begun.size() < held && next < height) {
          const std::int64_t first = std::max<std::int64_t>(next - kOverlap, 0);
          begun.emplace_back(first, std::min(rows, height - first));
          reader.begin_band(first, begun.back().second);
          next = first + begun.back().second;
        }
      }
      if (begun.empty()) return;
      for (auto band = begun.rbegin(); band != begun.rend(); ++band)
        reader.read_band(band->first, bands[thread].untyped_view().rows(0, band->second));
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < bands.size(); ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
}

TEST_P(TiffMemory, BandsStayWithinTheEstimate) {
  constexpr std::int64_t kRows = 64;
  constexpr std::int64_t kSlack = std::int64_t{64} << 10;  // rounding by malloc, lists, threads
  const TiffKind& kind = GetParam().kind;
  Values values(static_cast<std::size_t>(kind.width * kind.height * kind.samples));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>(i / 5 % (std::size_t{1} << kind.bits));
  const FileBytes file = make_tiff(kind, values);
  DecodeOptions options;
  options.max_bits = 16;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
    for (const std::size_t held : {std::size_t{1}, std::size_t{3}}) {
      const auto reader = open_reader(file, options);
      Shape shape = reader->header().shape;
      shape.height = kRows;
      std::vector<Image> bands;
      for (std::size_t i = 0; i < threads; ++i) bands.emplace_back(shape);
      const std::int64_t said = reader->working_bytes(false) +
                                static_cast<std::int64_t>(threads * held) * reader->band_bytes(kRows);
      const std::int64_t before = held_bytes();
      const std::int64_t most = peak_of([&] { read_in_bands(*reader, bands, kRows, held); });
      EXPECT_LE(most, said + kSlack) << threads << " threads, " << held << " bands each";
      EXPECT_LE(held_bytes() - before, 64 << 10) << "after the last band";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, TiffMemory, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace imgpipe::test::tiff_memory_test
