// --accept pillow: PNG files that Pillow 13.0.0 accepts or rejects, and its pixels. The expected results are
// those of Pillow; tests/peers/pillow_decoding.py compares many more files with it.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/png_parts.h"

namespace imgpipe::test::pillow_png_test {
namespace {

Bytes header(unsigned width, unsigned height, unsigned depth, unsigned color_type) {
  return chunk("IHDR",
               number(width) + number(height) + number(depth, 1) + number(color_type, 1) + number(0, 3));
}

Bytes png(const std::vector<Bytes>& chunks) {
  Bytes file = bytes_of("\x89PNG\r\n\x1A\n");
  for (const Bytes& one : chunks) file = file + one;
  return file;
}

const Bytes kEnd = chunk("IEND", {});

DecodeOptions as_pillow() {
  DecodeOptions options;
  options.accept = Acceptance::pillow;
  options.max_bits = 16;
  return options;
}

Decoded decoded(const std::vector<Bytes>& chunks) {
  return try_decode(png(chunks), as_pillow());
}

Values pixels_of(const std::vector<Bytes>& chunks) {
  const Decoded image = decoded(chunks);
  EXPECT_EQ(image.reason, "");
  return image.reason.empty() ? samples(image.image) : Values{};
}

// A row of one filter type byte and big-endian samples of 16 bits.
Bytes deep_row(const std::vector<unsigned>& samples_16) {
  Bytes row(1);
  for (const unsigned sample : samples_16) row = row + number(sample, 2);
  return row;
}

TEST(PillowPng, SamplesOfSixteenBits) {
  const auto read = [](unsigned color_type, const std::vector<unsigned>& pixel, const Bytes& before = {}) {
    return pixels_of({header(1, 1, 16, color_type), before, chunk("IDAT", deflated(deep_row(pixel))), kEnd});
  };
  EXPECT_EQ(read(0, {0}), (Values{0}));
  EXPECT_EQ(read(0, {255}), (Values{255}));
  EXPECT_EQ(read(0, {254}), (Values{254}));
  EXPECT_EQ(read(0, {256}), (Values{255}));
  EXPECT_EQ(read(0, {65'535}), (Values{255}));
  EXPECT_EQ(read(2, {0x80FF, 0x00FF, 0xFF00}), (Values{0x80, 0, 0xFF}));
  EXPECT_EQ(read(4, {0x12FF, 0x34FF}), (Values{0x12, 0x34}));
  EXPECT_EQ(read(6, {0x12FF, 0x34FF, 0x56FF, 0x78FF}), (Values{0x12, 0x34, 0x56, 0x78}));
  const Bytes key = chunk("tRNS", number(300, 2));
  EXPECT_EQ(read(0, {300}, key), (Values{255, 0}));
  EXPECT_EQ(read(0, {301}, key), (Values{255, 255}));
  EXPECT_EQ(
      decoded({header(1, 1, 16, 0), chunk("IDAT", deflated(deep_row({7}))), kEnd}).header.bits_per_sample,
      16);
}

// Intact files have the same pixels as in a strict decode, but for 16 bits.
TEST(PillowPng, EqualsStrictDecodingOfIntactFiles) {
  for (const int channels : {1, 2, 3, 4}) {
    const Bytes file = encoded(Format::png, channels);
    const Decoded got = try_decode(file, as_pillow());
    EXPECT_EQ(got.reason, "");
    EXPECT_EQ(got.warnings, Strings());
    EXPECT_EQ(first_difference(try_decode(file).image.view(), got.image.view()), "") << channels;
  }
  // Every depth and interlaced, 13 columns and 9 rows of a repeated byte.
  for (const auto& [color_type, depth, channels] : {std::tuple{0U, 1U, 1U},
                                                    {0U, 2U, 1U},
                                                    {0U, 4U, 1U},
                                                    {0U, 8U, 1U},
                                                    {3U, 1U, 1U},
                                                    {3U, 2U, 1U},
                                                    {3U, 4U, 1U},
                                                    {3U, 8U, 1U},
                                                    {2U, 8U, 3U},
                                                    {4U, 8U, 2U},
                                                    {6U, 8U, 4U}}) {
    for (const unsigned interlaced : {0U, 1U}) {
      Bytes rows;
      unsigned value = 1;
      const auto add_rows = [&](unsigned columns, unsigned count) {
        for (unsigned y = 0; columns > 0 && y < count; ++y) {
          rows.push_back(static_cast<std::byte>(y % 5));  // each filter
          for (unsigned i = 0; i < (columns * channels * depth + 7) / 8; ++i)
            rows.push_back(static_cast<std::byte>(value = value * 75 % 65'537));
        }
      };
      if (interlaced == 0) add_rows(13, 9);
      for (const auto& [left, top, across, down] : {std::tuple{0U, 0U, 8U, 8U},
                                                    {4U, 0U, 8U, 8U},
                                                    {0U, 4U, 4U, 8U},
                                                    {2U, 0U, 4U, 4U},
                                                    {0U, 2U, 2U, 4U},
                                                    {1U, 0U, 2U, 2U},
                                                    {0U, 1U, 1U, 2U}}) {
        if (interlaced != 0) add_rows((13 - left + across - 1) / across, (9 - top + down - 1) / down);
      }
      const Bytes head = chunk("IHDR", number(13) + number(9) + number(depth, 1) + number(color_type, 1) +
                                           number(0, 2) + number(interlaced, 1));
      Bytes palette;
      for (unsigned i = 0; color_type == 3 && i < 3U << depth; ++i)
        palette = palette + number(i * 7 % 256, 1);
      Bytes between = color_type == 3 ? chunk("PLTE", palette) + chunk("tRNS", number(0x10FF, 2)) : Bytes();
      if (color_type == 0) between = chunk("tRNS", number(1, 2));
      const Bytes file = png({head, between, chunk("IDAT", deflated(rows)), kEnd});
      const Decoded strict = try_decode(file), got = try_decode(file, as_pillow());
      ASSERT_EQ(strict.reason, "");
      ASSERT_EQ(got.reason, "");
      EXPECT_EQ(first_difference(strict.image.view(), got.image.view()), "")
          << "colour type " << color_type << ", depth " << depth << ", interlaced " << interlaced;
    }
  }
}

TEST(PillowPng, ChecksumsCountBeforeThePixelsOnly) {
  const Bytes head = header(2, 1, 8, 0),
              pixels = chunk("IDAT", deflated(bytes_of(std::string_view("\0ab", 3))));
  const Values expected{'a', 'b'};
  const auto wrong = [](Bytes one) {
    one.back() ^= std::byte{1};
    return one;
  };
  const Bytes text = chunk("tEXt", bytes_of("Title"));
  EXPECT_EQ(pixels_of({head, wrong(pixels), kEnd}), expected);
  EXPECT_EQ(pixels_of({head, pixels, wrong(text), wrong(kEnd)}), expected);
  EXPECT_EQ(decoded({head, wrong(pixels), kEnd}).warnings,
            Strings{"damaged PNG: IDAT: CRC error (1 chunks)"});
  EXPECT_NE(decoded({head, wrong(text), pixels, kEnd}).reason, "");
  EXPECT_NE(decoded({wrong(head), pixels, kEnd}).reason, "");
}

TEST(PillowPng, EndOfTheFile) {
  const Bytes head = header(2, 2, 8, 0);
  const Bytes rows = bytes_of(std::string_view("\0ab\0cd", 6));
  const Bytes pixels = chunk("IDAT", deflated(rows));
  const Bytes whole = png({head, pixels, kEnd});
  const Values expected{'a', 'b', 'c', 'd'};
  // Without IEND, with part of it, and without the checksum of the pixels' chunk.
  for (const std::size_t missing : {1U, 4U, 5U, 8U, 11U, 12U, 15U, 16U}) {
    const Decoded got = try_decode(cut(whole, whole.size() - missing), as_pillow());
    EXPECT_EQ(got.reason, "") << missing;
    EXPECT_EQ(samples(got.image), expected) << missing;
    EXPECT_EQ(got.warnings.empty(), missing <= 4) << missing;
  }
  // A chunk after the pixels that begins must be complete, but an invalid name ends the file.
  const Bytes text = chunk("tEXt", bytes_of("Title"));
  EXPECT_NE(try_decode(cut(png({head, pixels, text}), whole.size() - 12 + 10), as_pillow()).reason, "");
  EXPECT_EQ(pixels_of({head, pixels, bytes_of("garbage and more garbage")}), expected);
  EXPECT_NE(decoded({head, pixels, chunk("pHYs", number(1)), kEnd}).reason, "");
  EXPECT_NE(decoded({head, kEnd}).reason, "");
}

// The compressed stream may end after any row; the samples of the others are 0. It must not end inside one.
TEST(PillowPng, MissingRows) {
  const Bytes head = header(2, 2, 8, 0);
  const auto of_stream = [&](const Bytes& stream) { return std::vector{head, chunk("IDAT", stream), kEnd}; };
  const Bytes one_row = bytes_of(std::string_view("\0ab", 3)),
              part = bytes_of(std::string_view("\0ab\0c", 5));
  EXPECT_EQ(pixels_of(of_stream(deflated(one_row))), (Values{'a', 'b', 0, 0}));
  EXPECT_EQ(decoded(of_stream(deflated(one_row))).warnings,
            Strings{"damaged PNG: rows are missing; their samples become 0"});
  EXPECT_NE(decoded(of_stream(deflated(part))).reason, "");
  // A palette image has the first colour there.
  const Bytes palette = chunk("PLTE", bytes_of("abcdef"));
  EXPECT_EQ(pixels_of({header(1, 2, 8, 3), palette, chunk("IDAT", deflated(number(1, 2))), kEnd}),
            (Values{'d', 'e', 'f', 'a', 'b', 'c'}));
  // Without a palette, every colour is black; colours beyond a short one are, too.
  EXPECT_EQ(pixels_of({header(1, 1, 8, 3), chunk("IDAT", deflated(number(1, 2))), kEnd}), (Values{0, 0, 0}));
}

// A wrong Adler-32 counts if it is in the block of the last row: blocks end with their chunk.
TEST(PillowPng, ChecksumOfThePixels) {
  Bytes stream = deflated(bytes_of(std::string_view("\0ab", 3)));
  stream.back() ^= std::byte{1};
  const Bytes head = header(2, 1, 8, 0);
  EXPECT_NE(decoded({head, chunk("IDAT", stream), kEnd}).reason, "");
  const auto middle = stream.end() - 4;
  EXPECT_EQ(
      pixels_of({head, chunk("IDAT", {stream.begin(), middle}), chunk("IDAT", {middle, stream.end()}), kEnd}),
      (Values{'a', 'b'}));
}

TEST(PillowPng, TextsAndProfilesOfMoreThanOneMebibyte) {
  const Bytes head = header(1, 1, 8, 0), pixels = chunk("IDAT", deflated(number(0, 2)));
  const auto reason = [&](std::string_view type, std::size_t size) {
    const Bytes text = bytes_of(std::string_view("x\0\0", 3)) + deflated(Bytes(size));
    return decoded({head, chunk(type, text), pixels, kEnd}).reason;
  };
  for (const std::string_view type : {"zTXt", "iCCP"}) {
    EXPECT_EQ(reason(type, 1 << 20), "") << type;
    EXPECT_EQ(reason(type, (1 << 20) + 1), "PNG: a text or profile of more than 1 MiB") << type;
  }
}

// The first frame of an APNG may cover part of the image.
TEST(PillowPng, FirstFrame) {
  const auto frame = [](unsigned number_of, unsigned width, unsigned height, unsigned left, unsigned top) {
    return chunk("fcTL", number(number_of) + number(width) + number(height) + number(left) + number(top) +
                             number(1, 2) + number(1, 2) + number(0, 2));
  };
  const Bytes head = header(2, 2, 8, 0), animation = chunk("acTL", number(1) + number(0));
  const Bytes pixel = chunk("IDAT", deflated(bytes_of(std::string_view("\0a", 2))));
  EXPECT_EQ(pixels_of({head, animation, frame(0, 1, 1, 1, 0), pixel, kEnd}), (Values{0, 'a', 0, 0}));
  EXPECT_NE(decoded({head, animation, frame(0, 2, 1, 1, 0), pixel, kEnd}).reason, "");
  EXPECT_NE(decoded({head, animation, frame(1, 1, 1, 0, 0), pixel, kEnd}).reason, "");
}

// The last IHDR before the pixels counts, also for a palette and a transparent colour that precede it.
TEST(PillowPng, SecondHeader) {
  const Bytes pixel = chunk("IDAT", deflated(bytes_of(std::string_view("\0abcd", 5))));
  for (const std::size_t colors : {1U, 256U, 20'000U}) {
    EXPECT_EQ(decoded({header(1, 1, 8, 3), chunk("PLTE", Bytes(3 * colors)), header(1, 1, 8, 6), pixel, kEnd})
                  .reason,
              "PNG: a palette for an image without indices");
  }
  const Bytes key = chunk("tRNS", number('a', 2));
  EXPECT_EQ(pixels_of({header(1, 1, 8, 0), key, header(1, 1, 8, 6), pixel, kEnd}),
            (Values{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(pixels_of({header(1, 1, 8, 0), key, header(1, 1, 8, 2), pixel, kEnd}), (Values{'a', 'b', 'c'}));
  EXPECT_EQ(pixels_of({header(1, 1, 8, 0), key, header(1, 1, 8, 0), pixel, kEnd}), (Values{'a', 0}));
}

TEST(PillowPng, StableWhenDamaged) {
  const Bytes file = encoded(Format::png, 3);
  const Decoded whole = try_decode(file);
  for (std::size_t at = 0; at < file.size(); ++at) {
    Bytes damaged = file;
    damaged[at] ^= std::byte{0x21};
    const Decoded first = try_decode(damaged, as_pillow()), second = try_decode(damaged, as_pillow());
    ASSERT_EQ(first.reason, second.reason) << at;
    if (first.reason.empty()) {
      ASSERT_EQ(first_difference(first.image.view(), second.image.view()), "") << at;
    }
    const Decoded shorter = try_decode(cut(file, at), as_pillow());
    if (at + 16 >= file.size()) {
      ASSERT_EQ(shorter.reason, "") << at;
    }
    if (shorter.reason.empty()) {
      ASSERT_EQ(first_difference(whole.image.view(), shorter.image.view()), "") << at;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::pillow_png_test
