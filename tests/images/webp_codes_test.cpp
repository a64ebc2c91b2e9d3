// Reads the prefix codes of a lossless WebP, which are most of libwebp's memory for some files.
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/sniff.h"
#include "images/codecs/webp/lossless_codes.h"
#include "images/synth.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test::webp_codes_test {
namespace {

std::optional<LosslessCodes> codes_of(const GroupedStream& form) {
  return read_lossless_codes(grouped_stream(form), form.width, form.height);
}

TEST(WebpCodes, GroupsAreCounted) {
  struct Case {
    GroupedStream form;
    std::int64_t groups, named;
  };
  const std::vector<Case> cases{
      {{}, 4096, 4096},
      {{.groups = 1}, 1, 1},
      {{.first = 3, .step = 7, .groups = 100}, 697, 697},         // few: unreferenced codes are counted, too
      {{.first = 999, .groups = 1}, 1000, 1000},                  // the largest number that is treated as few
      {{.first = 1000, .groups = 1}, 1, 1001},                    // many: only referenced codes are counted
      {{.first = 65535, .groups = 1}, 1, 65536},                  //
      {{.step = 30, .groups = 2000}, 2000, 59971},                //
      {{.width = 1, .height = 1, .groups = 1}, 1, 1},             //
      {{.width = 1, .height = 3, .first = 3, .groups = 1}, 1, 4}  // more codes than pixels: many
  };
  for (const Case& each : cases) {
    const std::optional<LosslessCodes> codes = codes_of(each.form);
    ASSERT_TRUE(codes.has_value()) << each.groups;
    EXPECT_EQ(codes->groups, each.groups);
    EXPECT_EQ(codes->named, each.named);
    EXPECT_EQ(codes->block_count, (each.form.width + 3) / 4 * ((each.form.height + 3) / 4));
    EXPECT_EQ(codes->cache_bits, 11);
  }
}

// The files are valid, since libwebp reads them.
TEST(WebpCodes, StreamsWithManyGroupsAreValid) {
  for (const int cache_bits : {0, 1, 8, 11}) {
    const GroupedStream form{.width = 67, .height = 41, .groups = 170, .cache_bits = cache_bits};
    const Image image =
        library_rgba(riff_file(lossless_chunk(form.width, form.height, grouped_stream(form))));
    ASSERT_EQ(image.shape(), (Shape{67, 41, 4})) << cache_bits;
    for (std::int64_t i = 0; i < image.shape().samples(); ++i)
      ASSERT_EQ(image.view().data[i], i % 4 == 3 ? 255 : 0) << i;
    EXPECT_EQ(codes_of(form)->cache_bits, cache_bits);
    EXPECT_EQ(codes_of(form)->groups, 170);
  }
}

// The alphabet of distances has 40 symbols. libwebp ignores other symbols of a code, and rejects a code that
// has only those.
TEST(WebpCodes, SymbolsBeyondTheAlphabetAreIgnored) {
  for (const std::vector<unsigned>& distances :
       std::vector<std::vector<unsigned>>{{0, 200}, {200, 39}, {40, 39}, {255, 0}, {39, 39}, {3, 39}}) {
    const GroupedStream form{.width = 67, .height = 41, .step = 5, .groups = 170, .distances = distances};
    EXPECT_FALSE(library_rgba(riff_file(lossless_chunk(67, 41, grouped_stream(form)))).empty())
        << distances[0];
    const std::optional<LosslessCodes> codes = codes_of(form);
    ASSERT_TRUE(codes.has_value()) << distances[0] << ", " << distances[1];
    EXPECT_EQ(codes->groups, 846);
    EXPECT_EQ(codes->named, 846);
  }
  for (const std::vector<unsigned>& distances : std::vector<std::vector<unsigned>>{{40}, {200}, {40, 255}}) {
    const GroupedStream form{.width = 67, .height = 41, .groups = 170, .distances = distances};
    EXPECT_TRUE(library_rgba(riff_file(lossless_chunk(67, 41, grouped_stream(form)))).empty())
        << distances[0];
    EXPECT_FALSE(codes_of(form).has_value()) << distances[0];
  }
}

TEST(WebpCodes, TruncatedStreamHasNoCount) {
  const GroupedStream form{.width = 32, .height = 32, .groups = 64, .cache_bits = 5};
  const Bytes whole = grouped_stream(form);
  const std::size_t needed = (129 + 64 * 16 + 7) / 8;  // the beginning, and 16 bits for each block
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes some(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(read_lossless_codes(some, 32, 32).has_value(), size >= needed) << size;
  }
}

// Changes every bit in turn: reading ends, and reads no byte past the end.
TEST(WebpCodes, DamageIsHandledSafely) {
  const Image photo = synthesize(parse_pattern("photo"), {61, 53, 4}, 3);
  const Bytes file = picture_chunks(make_webp({true, 6}, photo.view()));
  std::int64_t read = 0;
  for (std::size_t bit = 8 * 13; bit < 8 * file.size(); ++bit) {
    Bytes damaged(file.begin() + 13, file.end());
    damaged[bit / 8 - 13] ^= std::byte{1} << bit % 8;
    const std::optional<LosslessCodes> codes = read_lossless_codes(damaged, 61, 53);
    if (!codes) continue;
    ++read;
    EXPECT_LE(codes->groups, codes->named > 1000 ? 16 * 14 : codes->named);
    EXPECT_LE(codes->named, 65536);
    EXPECT_LE(codes->block_count, std::int64_t{3} * 16 * 14 + 256);
  }
  EXPECT_GT(read, 0);
}

// Reads libwebp's own files at every level: transforms of every kind, palettes, caches.
TEST(WebpCodes, ReadsLibwebpsFiles) {
  for (const char* pattern : {"photo", "noise", "checker", "ramp"}) {
    for (const int channels : {3, 4}) {
      const Image image = synthesize(parse_pattern(pattern), {131, 87, channels}, 5);
      for (int effort = 0; effort <= 6; effort += 2) {
        const Bytes file = picture_chunks(make_webp({true, effort}, image.view()));
        const std::optional<LosslessCodes> codes =
            read_lossless_codes(Bytes(file.begin() + 13, file.end()), 131, 87);
        ASSERT_TRUE(codes.has_value()) << pattern << " " << effort;
        EXPECT_LE(codes->groups, 2600);
        EXPECT_LE(codes->block_count, std::int64_t{3} * 33 * 22 + 256);
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::webp_codes_test
