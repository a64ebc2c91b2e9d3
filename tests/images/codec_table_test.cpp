// The table of codecs: every row is complete, rows do not conflict, and no other code lists formats.
#include "images/formats/codec_table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/mark.h"
#include "images/codecs/stb/stb_claims.h"
#include "images/codecs/stb/stb_codec.h"
#include "images/error.h"
#include "images/synth.h"
#include "tests/support/file_parts.h"
#include "tests/support/gif_file.h"
#include "tests/support/images.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/library_encoders.h"
#include "tests/support/psd_file.h"

namespace imgpipe::test::codec_table_test {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  return text;
}

// The rows before those of tensors (tensor_codec_test.cpp), without codecs or encoders that this build lacks.
std::vector<std::reference_wrapper<const Codec>> image_codecs() {
  static const std::set<Format> made = [] {
    const std::vector<Format> formats = library_formats();
    return std::set<Format>(formats.begin(), formats.end());
  }();
  std::vector<std::reference_wrapper<const Codec>> codecs;
  for (const Codec& codec : codec_table()) {
    const bool is_optional =
        codec.format == Format::avif || codec.format == Format::heic || codec.format == Format::jxl;
    if (codec.holds.any() && (!is_optional || made.contains(codec.format))) codecs.emplace_back(codec);
  }
  return codecs;
}

Bytes written(const Codec& codec, const Image& image, const EncodeOptions& options = {}) {
  const auto writer = make_writer(codec.format, image.shape(), options);
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

// Returns a file of each format that is only read. A new such format needs a file here.
Bytes made_by_hand(Format format) {
  if (format == Format::pbm) return bytes_of("P1\n5 2\n01010\n10101\n");
  if (format == Format::gif) return make_gif({.width = 4, .height = 2}, {0, 1, 2, 3, 3, 2, 1, 0}, {});
  if (format == Format::psd) {
    Psd psd{.width = 2, .height = 1, .mode = kGrey};
    psd.channels = {{7, 200}};
    return make_psd(psd);
  }
  return encode_by_library(format, synthesize(parse_pattern("photo"), {24, 16, 3}, 5).view());
}

Bytes file_of(const Codec& codec) {
  if (codec.make_writer == nullptr) return made_by_hand(codec.format);
  for (int channels = 4; channels >= 1; --channels) {
    if (!codec.holds.has(channels)) continue;
    if (codec.written_bits == 0) return written(codec, Image({23, 17, channels, Sample::f32}));
    return written(codec, synthesize(parse_pattern("photo"), {23, 17, channels}, 5));
  }
  return {};
}

// Rows that are aliases of others have no content of their own.
bool is_another_name(const Codec& codec) {
  return codec.recognises == nullptr;
}

bool colors_are(const ConstHostPlane& pixels, int value) {
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    for (std::int64_t x = 0; x < pixels.width; ++x) {
      for (int c = 0; c < pixels.shape().color_channels(); ++c)
        if (pixels.row(y)[x * pixels.channels + c] != value) return false;
    }
  }
  return true;
}

TEST(CodecTable, EveryRowIsComplete) {
  for (const Codec& codec : image_codecs()) {
    SCOPED_TRACE(std::string(codec.name));
    EXPECT_FALSE(codec.name.empty());
    EXPECT_FALSE(codec.endings.empty());
    EXPECT_TRUE(codec.claim != nullptr);
    EXPECT_TRUE(codec.open != nullptr);
    EXPECT_EQ(codec.is_streamable == nullptr, codec.open_streamed == nullptr);
    EXPECT_EQ(codec.make_writer == nullptr, codec.find_mark == nullptr);
    EXPECT_TRUE(codec.holds.has(1) || codec.holds.has(2) || codec.holds.has(3) || codec.holds.has(4));
    EXPECT_FALSE(codec.holds.has(0) || codec.holds.has(5));
    EXPECT_FALSE(file_of(codec).empty()) << "no file to test with";
    EXPECT_EQ(&codec_of(codec.format), &codec);
  }
}

TEST(CodecTable, NamesAndExtensionsAreUnique) {
  std::set<std::string> names;
  std::set<std::string> endings;
  for (const Codec& codec : codec_table()) {
    EXPECT_TRUE(names.insert(std::string(codec.name)).second) << codec.name;
    EXPECT_EQ(format_by_name(upper(std::string(codec.name))), codec.format);
    for (const std::string_view ending : codec.endings) {
      EXPECT_TRUE(endings.insert(std::string(ending)).second) << ending;
      EXPECT_EQ(format_by_ending("a.b/image." + std::string(ending)), codec.format) << ending;
      EXPECT_EQ(format_by_ending("IMAGE." + upper(std::string(ending))), codec.format) << ending;
      EXPECT_EQ(format_by_name(ending), codec.format) << ending;
    }
  }
  // A name that is another row's extension would be ambiguous.
  for (const Codec& codec : codec_table()) {
    if (endings.contains(std::string(codec.name))) {
      EXPECT_NE(std::ranges::find(codec.endings, codec.name), codec.endings.end()) << codec.name;
    }
  }
}

TEST(CodecTable, FormatDescriptionsMatchTheirRows) {
  ASSERT_EQ(format_table().size(), codec_table().size());
  for (const Codec& codec : codec_table()) {
    const FormatInfo& info = format_info(codec.format);
    EXPECT_EQ(info.format, codec.format);
    EXPECT_EQ(info.name, codec.name);
    EXPECT_EQ(info.endings.data(), codec.endings.data());
    EXPECT_EQ(info.readable, codec.open != nullptr);
    EXPECT_EQ(info.can_be_written(), codec.make_writer != nullptr);
    EXPECT_EQ(info.writable, codec.make_writer != nullptr && codec.holds.any());
    EXPECT_EQ(info.holds_floats, codec.holds_floats);
    EXPECT_EQ(info.holds_alpha, codec.holds.has(2) || codec.holds.has(4));
    EXPECT_EQ(info.holds_color, codec.holds.has(3) || codec.holds.has(4));
  }
}

TEST(CodecTable, EveryRowRecognisesOnlyItsOwnFiles) {
  for (const Codec& codec : image_codecs()) {
    const Bytes file = file_of(codec);
    for (const Codec& other : image_codecs()) {
      if (is_another_name(other) || is_another_name(codec)) continue;
      EXPECT_EQ(other.recognises(file), &other == &codec) << other.name << " sees a file of " << codec.name;
    }
    const Codec* detected = codec_by_content(file);
    ASSERT_NE(detected, nullptr) << codec.name;
    if (is_another_name(codec)) {
      EXPECT_EQ(detected->open, codec.open) << codec.name;
    } else {
      EXPECT_EQ(detected, &codec);
      EXPECT_EQ(open_reader(file, {.max_bits = 32})->header().format, codec.format) << codec.name;
    }
  }
}

// No row recognises the empty file, or reads beyond a truncated one.
TEST(CodecTable, TruncatedBeginningsAreNotOverread) {
  for (const Codec& codec : image_codecs()) {
    const Bytes file = file_of(codec);
    for (std::size_t size = 0; size <= std::min<std::size_t>(file.size(), 80); ++size) {
      const Bytes beginning(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      for (const Codec& row : image_codecs()) {
        if (is_another_name(row)) continue;
        EXPECT_FALSE(size == 0 && row.recognises(beginning)) << row.name;
        if (!row.recognises(beginning)) continue;
        try {
          (void)row.claim(beginning);
        } catch (const Error&) {
        }
        if (row.find_mark != nullptr) {
          EXPECT_EQ(row.find_mark(beginning), Mark::none) << row.name;
        }
        if (row.is_streamable != nullptr) (void)row.is_streamable(beginning, {});
      }
    }
  }
}

TEST(CodecTable, ClaimedSizesMatchDecodedPixels) {
  DecodeOptions as_stored;
  as_stored.orient = false;
  as_stored.max_bits = 32;
  for (const Codec& codec : image_codecs()) {
    const Bytes file = file_of(codec);
    const FileClaim claim = codec.claim(file);
    const Shape shape = open_reader(file, as_stored)->header().shape;
    EXPECT_EQ(claim.width, shape.width) << codec.name;
    EXPECT_EQ(claim.height, shape.height) << codec.name;
    EXPECT_GE(claim.max_pixel_bytes, shape.channels) << codec.name;
    EXPECT_GE(longest_file(file, {}), static_cast<std::int64_t>(file.size())) << codec.name;
  }
}

// For all channels and libraries, the reader returns storable_shape(), which the row supports.
TEST(CodecTable, WrittenFilesReadBack) {
  for (const Codec& codec : image_codecs()) {
    if (codec.make_writer == nullptr || codec.written_bits == 0) {
      EXPECT_THROW((void)make_writer(codec.format, {4, 3, 1}), Error) << codec.name;
      continue;
    }
    for (int channels = 1; channels <= 4; ++channels) {
      for (const CodecChoice choice : {CodecChoice::automatic, CodecChoice::stb}) {
        const Image image = synthesize(parse_pattern("constant:128"), {9, 5, channels}, 1);
        SCOPED_TRACE(std::string(codec.name) + ", channels " + std::to_string(channels));
        if (channels >= 3 && !codec.holds.has(3) && !codec.holds.has(4)) {
          EXPECT_THROW((void)storable_shape(codec.format, image.shape()), Error);
          continue;
        }
        const Shape stored = storable_shape(codec.format, image.shape());
        EXPECT_TRUE(codec.holds.has(stored.channels));
        const Decoded back = try_decode(written(codec, image, {.codec = choice, .mark = Mark::result}));
        ASSERT_EQ(back.reason, "");
        EXPECT_EQ(back.header.shape.width, 9);
        EXPECT_EQ(back.header.shape.height, 5);
        EXPECT_EQ(back.header.shape.has_alpha(), stored.has_alpha());
        EXPECT_TRUE(colors_are(std::as_const(back.image).view(), 128));
      }
    }
  }
}

TEST(CodecTable, EveryRowThatWritesMarksItsFiles) {
  for (const Codec& codec : image_codecs()) {
    if (codec.make_writer == nullptr) continue;
    const Image grey = synthesize(parse_pattern("ramp"), {9, 5, 1}, 1);
    for (const Mark mark : {Mark::none, Mark::result, Mark::synthetic}) {
      if (codec.written_bits > 0) {
        EXPECT_EQ(find_mark(written(codec, grey, {.mark = mark})), mark) << codec.name;
      } else if (mark != Mark::synthetic) {  // test images are integers
        EXPECT_EQ(find_mark(written(codec, Image({9, 5, 1, Sample::f32}), {.mark = mark})), mark)
            << codec.name;
      }
    }
  }
}

// Every format in stb's lists has a row, and every format that stb writes can be marked.
TEST(CodecTable, StbFormatsHaveRows) {
  int read = 0;
  int written = 0;
  for (const Codec& codec : image_codecs()) {
    read += stb_reads(codec.format) ? 1 : 0;
    written += stb_writes(codec.format) ? 1 : 0;
    EXPECT_EQ(codec.add_mark != nullptr, stb_writes(codec.format)) << codec.name;
    if (stb_writes(codec.format)) {
      EXPECT_TRUE(codec.make_writer != nullptr) << codec.name;
    }
  }
  EXPECT_EQ(read, 8);
  EXPECT_EQ(written, 4);
}

// The block pool does not count coefficients of multi-scan files, nor any memory of stb.
TEST(CodecTable, LibrariesReportMemoryOutsideThePool) {
  const Image image = synthesize(parse_pattern("photo"), {64, 48, 3}, 1);
  DecodeOptions stb;
  stb.codec = CodecChoice::stb;
  for (const Codec& codec : image_codecs()) {
    if (codec.make_writer == nullptr || codec.written_bits == 0) continue;
    const Bytes file = file_of(codec);
    const bool whole_in_library = codec.format == Format::webp;
    const auto reader = open_reader(file);
    const auto own = make_writer(codec.format, storable_shape(codec.format, {9, 5, 1}));
    if (whole_in_library) {
      EXPECT_GE(reader->library_bytes(true), 4 * reader->header().shape.pixels());
      EXPECT_EQ(reader->library_bytes(true), reader->working_bytes(true));
      EXPECT_GT(own->library_bytes(), 0);
      EXPECT_LE(own->library_bytes(), own->working_bytes());
    } else {
      EXPECT_EQ(reader->library_bytes(true), 0) << codec.name;
      EXPECT_EQ(own->library_bytes(), 0) << codec.name;
    }
    const auto by_stb = open_reader(file, stb);
    if (stb_reads(codec.format)) {
      EXPECT_EQ(by_stb->library_bytes(true), by_stb->working_bytes(true)) << codec.name;
    }
    const auto writer = make_writer(codec.format, {9, 5, 1}, {.codec = CodecChoice::stb});
    EXPECT_EQ(writer->library_bytes() > 0, whole_in_library || stb_writes(codec.format)) << codec.name;
  }
  for (const int orientation : {1, 2, 6}) {
    for (const bool progressive : {false, true}) {
      const Bytes file = make_jpeg({.progressive = progressive, .orientation = orientation}, image.view());
      const std::int64_t coefficients = 2 * image.shape().samples();
      EXPECT_EQ(open_reader(file)->library_bytes(true) >= coefficients, progressive) << orientation;
      EXPECT_EQ(open_reader(file)->library_bytes(true) == 0, !progressive) << orientation;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::codec_table_test
