// The checks before stb_image when --codec stb selects it: JPEG and PNG.
#include <cmath>
#include <random>
#include <string_view>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/stb/stb_claims.h"
#include "images/image.h"
#include "images/synth.h"
#include "tests/support/decoding.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::stb_fence_test {
namespace {

using Bytes = std::vector<std::byte>;
using namespace std::string_view_literals;

Bytes text(std::string_view characters) {
  const auto bytes = std::as_bytes(std::span(characters));
  return {bytes.begin(), bytes.end()};
}

Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Bytes spliced(const Bytes& file, std::size_t at, const Bytes& more) {
  Bytes out = file;
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
  return out;
}

Bytes encode(const Image& image, Format format) {
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(image.view());
  return writer->finish().joined();
}

// Returns the first offset of the marker FF `code`.
std::size_t find_marker(const Bytes& file, int code) {
  for (std::size_t at = 0; at + 1 < file.size(); ++at) {
    if (file[at] == std::byte{0xFF} && file[at + 1] == static_cast<std::byte>(code)) return at;
  }
  ADD_FAILURE() << "no marker " << code;
  return 0;
}

std::size_t after_segment(const Bytes& file, std::size_t marker) {
  return marker + 2 + std::to_integer<std::size_t>(file[marker + 2]) * 256 +
         std::to_integer<std::size_t>(file[marker + 3]);
}

Bytes segment(int marker, const Bytes& payload) {
  const std::size_t length = payload.size() + 2;
  return Bytes{std::byte{0xFF}, static_cast<std::byte>(marker), static_cast<std::byte>(length >> 8),
               static_cast<std::byte>(length & 255)} +
         payload;
}

// A Huffman table of 16 * 255 codes, with which stb_image would write far past its own. stb_image refuses its
// name before building the table, so tests may pass it on.
Bytes evil_table() {
  return segment(0xC4, Bytes(17, std::byte{0xFF}) + Bytes(4080, std::byte{1}));
}

Bytes jpeg() {
  return encode(synthesize(parse_pattern("photo"), {40, 24, 3}, 3), Format::jpeg);
}

// The reason that stb_image gives if it sees the table of evil_table().
constexpr auto kSeenByStb = "bad DHT header"sv;
constexpr auto kSeenByUs = "more than 256 codes"sv;

bool says(const std::string& reason, std::string_view what) {
  return reason.find(what) != std::string::npos;
}

TEST(StbFence, TablesInsideSkippedSegmentsAreIgnored) {
  const Bytes good = jpeg();
  const Image plain = decode(good, with_stb());
  const Bytes thumbnail = good + text("\xFF\xC0\x00\x11\x08\xFF\xFF\xFF\xFF\x03"sv) + evil_table();
  for (const int marker : {0xE0, 0xE1, 0xE2, 0xED, 0xEE, 0xEF, 0xFE}) {
    const Bytes hidden = segment(marker, thumbnail);
    EXPECT_EQ(failure(good), "");
    EXPECT_EQ(first_difference(plain.view(), decode(spliced(good, 2, hidden), with_stb()).view()), "")
        << marker;
    const std::size_t scan = find_marker(good, 0xDA);
    EXPECT_EQ(first_difference(plain.view(), decode(spliced(good, scan, hidden), with_stb()).view()), "")
        << marker;
  }
  EXPECT_EQ(first_difference(plain.view(), decode(good + evil_table(), with_stb()).view()), "")
      << "after the end";
  const Bytes other = encode(synthesize(parse_pattern("photo"), {80, 60, 3}, 3), Format::jpeg);
  EXPECT_EQ(decode(spliced(good, 2, segment(0xE1, text("Exif\0\0"sv) + other)), with_stb()).shape(),
            plain.shape());
}

TEST(StbFence, EveryTableIsDetected) {
  const Bytes good = jpeg();
  const Bytes evil = evil_table();
  const std::size_t frame = find_marker(good, 0xC0);
  const std::size_t scan = find_marker(good, 0xDA);
  const std::size_t data = after_segment(good, scan);
  const std::size_t end = good.size() - 2;
  const auto refused = [&](const Bytes& file, const char* what) {
    EXPECT_TRUE(says(failure(file, with_stb()), kSeenByUs)) << what << ": " << failure(file, with_stb());
  };
  refused(spliced(good, 2, evil), "first");
  refused(spliced(good, 2, text("\xFF\xFF\xFF"sv) + evil), "after fill bytes");
  const std::size_t second = after_segment(good, 2);
  refused(spliced(good, second, text("any \0 padding"sv) + evil), "after padding");
  refused(spliced(good, 2, text("\xFF\xE1\x00\x02"sv) + evil), "after an empty segment");
  refused(spliced(good, 2, text("\xFF\xE1\x00\x04\xFF\xE1"sv) + evil), "after what looks like a segment");
  refused(spliced(good, 2, text("\xFF\xE0\x00\x07JFIF\0"sv) + evil), "after a short JFIF");
  refused(spliced(good, 2,
                  text("\xFF\xEE\x00\x0E"
                       "Adobe\0\0\0\0\0\0\0"sv) +
                      evil),
          "after a short Adobe");
  refused(spliced(good, 2, text("\xFF\xDD\x00\x04\x00\x01"sv) + evil), "after DRI");
  refused(spliced(good, frame, evil), "before the frame");
  refused(spliced(good, after_segment(good, frame), evil), "after the frame");
  refused(spliced(good, after_segment(good, frame), text("\xFF\xDC\x00\x04\x00\x18"sv) + evil), "after DNL");
  refused(spliced(good, scan, evil), "before the scan");
  refused(spliced(good, data, evil), "at the start of the scan");
  refused(spliced(good, data, text("\x12\xFF\x00\xFF\xFF\x00\x34"sv) + evil), "after stuffed bytes");
  refused(spliced(good, data, text("\xFF\xD0\x11\xFF\xFF\xD7\x22"sv) + evil), "after restarts");
  refused(spliced(good, data, text("\xFF\xFF\xFF"sv) + evil), "after fill bytes in the scan");
  refused(spliced(good, end, evil), "after the scan");
  refused(spliced(good, end, text("\0\0\0\0"sv) + evil), "after zeros after the scan");
  refused(Bytes(good.begin(), good.end() - 2) + evil, "without an end");
}

// Wherever a table, and bytes that change how it is found, are inserted: stb_image never gets a file whose
// table it would see, which its message would reveal.
TEST(StbFence, StbNeverReceivesAnUncheckedTable) {
  std::mt19937 random(7);
  const Bytes good = jpeg();
  const std::vector<Bytes> parts = {text("\xFF"sv),
                                    text("\0"sv),
                                    text("\xFF\x00"sv),
                                    text("\xFF\xFF"sv),
                                    text("\xFF\xD0"sv),
                                    text("\xFF\xD8"sv),
                                    text("\xFF\xE1\x00\x04"sv),
                                    text("\xFF\xFE\x00\x00"sv),
                                    text("\xFF\xDA"sv),
                                    text("\xFF\xDC\x00\x04\x00\x18"sv),
                                    text("\xFF\xDD\x00\x04\x00\x01"sv),
                                    text("\xFF\xDD\x00\x06\x00\x01"sv),
                                    text("\xFF\xDB\x00\x43"sv),
                                    text("\xFF\xC4\x00\x02"sv),
                                    text("\xFF\xC4\x00\x14\x00"sv),
                                    text("\xFF\xE0\x00\x07JFIF\0"sv),
                                    text("\xFF\xD9"sv)};
  int seen = 0;
  int decoded = 0;
  int other = 0;
  constexpr int kRounds = kSanitized ? 5000 : 20'000;
  for (int i = 0; i < kRounds; ++i) {
    Bytes more;
    for (auto count = random() % 3; count > 0; --count) more = more + parts[random() % parts.size()];
    more = more + evil_table();
    Bytes file = spliced(good, 2 + random() % (good.size() - 2), more);
    if (random() % 2 == 0) file[2 + random() % 600] = static_cast<std::byte>(random());
    const std::string reason = failure(file, with_stb());
    ASSERT_FALSE(says(reason, kSeenByStb)) << "round " << i;
    ++(says(reason, kSeenByUs) ? seen : reason.empty() ? decoded : other);
  }
  EXPECT_GT(seen, kRounds / 20);
  EXPECT_GT(decoded, kRounds / 200);
  EXPECT_GT(other, kRounds / 20);
}

TEST(StbFence, ImagesWithoutScansAreRejected) {
  const Bytes good = jpeg();
  const std::size_t scan = find_marker(good, 0xDA);
  const Bytes none =
      Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(scan)) + text("\xFF\xD9"sv);
  EXPECT_TRUE(says(failure(none, with_stb()), "has no scan"));
  Bytes scans = Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(scan));
  for (int i = 0; i <= 500; ++i)
    scans = scans + Bytes(good.begin() + static_cast<std::ptrdiff_t>(scan), good.end() - 2);
  EXPECT_TRUE(says(failure(scans + text("\xFF\xD9"sv), with_stb()), "more than 500 scans"));
}

// A row of 100,000 bits deflates to almost nothing. (The height was once rounded up to eight rows.)
TEST(StbFence, WideBitmapsAreAccepted) {
  const Image wide = synthesize(parse_pattern("constant:0"), {100'000, 1, 1}, 1);
  const Bytes png = encode(wide, Format::png);
  const StbClaims claims = read_stb_claims(png, Format::png, with_stb());
  EXPECT_EQ(claims.raw_bytes, 12'500);
  EXPECT_EQ(failure(png, with_stb()), "");
}

TEST(StbFence, ApplePngIsRejected) {
  const Bytes png = encode(synthesize(parse_pattern("noise"), {4, 4, 3}, 1), Format::png);
  const Bytes apple = spliced(png, 8,
                              text("\0\0\0\x04"
                                   "CgBI\x50\x00\x20\x02\x2B\xD5\xB3\x7F"sv));
  EXPECT_TRUE(says(failure(apple, with_stb()), "IHDR"));
}

TEST(StbFence, CorpusJpegsAreAccepted) {
  IMGPIPE_NEED_CORPUS();
  int compared = 0;
  for (const char* directory : {"photos", "jpeg/exif_recurser", "jpeg/reftest", "found"}) {
    for (const auto& path : files_below(*corpus() / directory)) {
      if (path.extension() != ".jpg") continue;
      const Bytes file = load(path);
      DecodeOptions options;
      options.orient = false;
      if (!failure(file, options).empty()) continue;
      const Image expected = decode(file, options);
      options.codec = CodecChoice::stb;
      ASSERT_EQ(failure(file, options), "") << path;
      const Image got = decode(file, options);
      ASSERT_EQ(expected.shape(), got.shape()) << path;
      double sum = 0;
      for (std::int64_t i = 0; i < got.shape().samples(); ++i)
        sum += std::abs(expected.view().data[i] - got.view().data[i]);
      EXPECT_LT(sum / static_cast<double>(got.shape().samples()), 0.5) << path;
      ++compared;
    }
  }
  EXPECT_GE(compared, 20);
}

// stb_image is exact for PNG, even for 16 bits: samples that it would truncate are rounded as usual.
TEST(StbFence, CorpusPngsEqualLibpngs) {
  IMGPIPE_NEED_CORPUS();
  for (const auto& path : files_below(*corpus() / "pngsuite/valid")) {
    const Bytes file = load(path);
    const Image expected = decode(file);
    ASSERT_EQ(failure(file, with_stb()), "") << path;
    EXPECT_EQ(first_difference(expected.view(), decode(file, with_stb()).view()), "") << path;
  }
}

}  // namespace
}  // namespace imgpipe::test::stb_fence_test
