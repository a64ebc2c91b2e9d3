// The mark of files written by imgpipe: written and found in every format, without changing a pixel.
#include "images/codecs/mark.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/files/replaceable.h"
#include "images/codecs/png/png_mark.h"
#include "images/files/input_file.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpipe::test::mark_test {
namespace {

constexpr Mark kMarks[] = {Mark::none, Mark::result, Mark::synthetic};

std::vector<std::byte> encoded(Format format, const Image& image, Mark mark, CodecChoice codec) {
  EncodeOptions options;
  options.mark = mark;
  options.codec = codec;
  const auto writer = make_writer(format, image.shape(), options);
  writer->write_rows(image.view());
  return writer->finish().joined();
}

Image decoded(const std::vector<std::byte>& file, CodecChoice codec = CodecChoice::automatic) {
  DecodeOptions options;
  options.codec = codec;
  const auto reader = open_reader(file, options);
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  return image;
}

struct Case {
  Format format;
  CodecChoice codec;
  int channels;
};

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const FormatInfo& info : format_table()) {
    if (!info.writable || info.written_bits == 0) continue;
    for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::stb}) {
      for (int channels = 1; channels <= 4; ++channels) {
        if (channels < 3 || info.holds_color) cases.push_back({info.format, codec, channels});
      }
    }
  }
  return cases;
}

std::string name_of(const Case& c) {
  return std::string(format_info(c.format).name) + (c.codec == CodecChoice::stb ? " by stb " : " ") +
         std::to_string(c.channels) + " channels";
}

TEST(Mark, IsFoundInEveryFormat) {
  for (const Case& c : cases()) {
    Image image({23, 17, c.channels});
    fill({frame_type_of(image.shape()), {image.view(), {}, {}, {}}}, "noise", 3);
    for (const Mark mark : kMarks) {
      SCOPED_TRACE(name_of(c) + ", " + std::string(mark_text(mark)));
      std::vector<std::byte> file = encoded(c.format, image, mark, c.codec);
      EXPECT_EQ(find_mark(file), mark);
      if (file.size() > kMarkBytes) file.resize(kMarkBytes);
      EXPECT_EQ(find_mark(file), mark);
    }
  }
}

// A mark contains the hashes of a result's source in every format except BMP, which has only a plain mark.
TEST(Mark, ContainsHashes) {
  Mark mark = Mark::result;
  mark.made_of = {.name = 0x0123456789abcdef, .content = 1, .options = ~std::uint64_t{0}};
  EXPECT_EQ(mark_text(mark), "imgpipe 0123456789abcdef 0000000000000001 ffffffffffffffff");
  for (const Case& c : cases()) {
    SCOPED_TRACE(name_of(c));
    Image image({23, 17, c.channels});
    fill({frame_type_of(image.shape()), {image.view(), {}, {}, {}}}, "noise", 3);
    std::vector<std::byte> file = encoded(c.format, image, mark, c.codec);
    const Image plain = decoded(encoded(c.format, image, Mark::none, c.codec));
    EXPECT_EQ(first_difference(plain.view(), decoded(file).view()), "");
    if (file.size() > kMarkBytes) file.resize(kMarkBytes);
    EXPECT_EQ(find_mark(file), c.format == Format::bmp || c.format == Format::npy ? Mark{mark.kind} : mark);
  }
}

TEST(Mark, OtherTextsAreNotMarks) {
  const std::string whole = "imgpipe 0123456789abcdef 0123456789abcdef 0123456789abcdef";
  ASSERT_TRUE(mark_of(std::as_bytes(std::span(whole))).made_of);
  std::vector<std::string> others{whole + " ", whole + "0", "imgpipe ", "imgpipe 0.1.0", "Imgpipe"};
  for (std::size_t size = 8; size < whole.size(); ++size) others.push_back(whole.substr(0, size));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    others.push_back(whole);
    others.back()[at] = 'G';
  }
  for (const std::string& text : others)
    EXPECT_EQ(mark_of(std::as_bytes(std::span(text))), Mark::none) << text;
}

TEST(ContentHash, IsTheSameInMemoryAndInParts) {
  const TemporaryDirectory directory;
  for (const std::size_t size : {0U, 1U, 16384U, 16385U, 1048576U, 1048577U, 3000001U}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; i += 7) bytes[i] = static_cast<char>(i * 31 >> 3);
    const auto hash = [&](const std::string& text) {
      save_text(directory.file("f"), text);
      const std::vector<std::byte> whole = load(directory.file("f"));
      const std::optional<InputFile> in_parts = open_on_disk(directory.file("f"), 9);
      EXPECT_EQ(content_hash(InputFile(whole)), content_hash(*in_parts)) << size;
      return content_hash(*in_parts);
    };
    const std::uint64_t first = hash(bytes);
    EXPECT_NE(first, 0U);
    EXPECT_NE(hash(bytes + "x"), first);
    for (const std::size_t at : {std::size_t{0}, size - 1}) {
      if (size == 0) continue;
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] + 1);
      EXPECT_NE(hash(other), first) << size << ", byte " << at;
    }
  }
}

TEST(Mark, ChangesNoPixel) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(name_of(c));
    Image image({23, 17, c.channels});
    fill({frame_type_of(image.shape()), {image.view(), {}, {}, {}}}, "noise", 3);
    const Image plain = decoded(encoded(c.format, image, Mark::none, c.codec));
    const std::vector<std::byte> marked = encoded(c.format, image, Mark::result, c.codec);
    EXPECT_EQ(first_difference(plain.view(), decoded(marked).view()), "");
    const Image by_stb = decoded(marked, CodecChoice::stb);
    if (c.format == Format::jpeg) continue;  // JPEG decoders differ
    EXPECT_EQ(first_difference(plain.view(), by_stb.view()), "");
  }
}

TEST(Mark, IsNotFoundInDamagedFiles) {
  const Image image = synthesize(parse_pattern("photo"), {40, 30, 3}, 1);
  for (const FormatInfo& info : format_table()) {
    if (!info.writable || info.written_bits == 0 || !info.holds_color) continue;
    SCOPED_TRACE(std::string(info.name));
    const std::vector<std::byte> file = encoded(info.format, image, Mark::result, CodecChoice::automatic);
    const std::vector<std::byte> plain = encoded(info.format, image, Mark::none, CodecChoice::automatic);
    const auto differs = std::ranges::mismatch(file, plain).in1;
    const auto first = static_cast<std::size_t>(differs - file.begin());
    for (std::size_t size = 0; size <= first; ++size)
      EXPECT_EQ(find_mark(std::span(file).first(size)), Mark::none) << size;
  }
}

// Not marks: a text with another keyword ("software"), and a mark's chunk after the pixels.
TEST(Mark, TextsOfOtherProgramsAreNotMarks) {
  const Image image = synthesize(parse_pattern("photo"), {40, 30, 3}, 1);
  std::vector<std::byte> file = encoded(Format::png, image, Mark::result, CodecChoice::automatic);
  const std::string text = "Software";
  const auto at = std::ranges::search(file, std::as_bytes(std::span(text))).begin();
  std::vector<std::byte> other = file;
  other[static_cast<std::size_t>(at - file.begin())] = std::byte{'s'};
  EXPECT_EQ(find_mark(other), Mark::none);
  std::vector<std::byte> late = encoded(Format::png, image, Mark::none, CodecChoice::automatic);
  const std::vector<std::byte> chunk = png_mark(Mark::result);
  late.insert(late.end() - 12, chunk.begin(), chunk.end());
  EXPECT_EQ(find_mark(late), Mark::none);
}

TEST(Mark, RealFilesHaveNone) {
  IMGPIPE_NEED_CORPUS();
  std::size_t files = 0;
  for (const std::filesystem::path& path : files_below(*corpus())) {
    EXPECT_EQ(find_mark(load(path.string())), Mark::none) << path;
    ++files;
  }
  EXPECT_GT(files, 500U);
}

TEST(ImgpipeText, IsRecognisedByItsPrefix) {
  EXPECT_TRUE(is_own_text("{\n  \"imgpipe\": {"));
  EXPECT_TRUE(is_own_text("{\"imgpipe\":\"0.1.0\""));
  EXPECT_TRUE(is_own_text("bin,before_grey,after_grey\n0,1,2\n"));
  EXPECT_TRUE(is_own_text(R"({"imgpipe":"0.1.0","input":"a","output":"b"})"));
  EXPECT_TRUE(is_own_text("[\n{\"name\":\"process_name\",\"ph\":\"M\",\"args\":{\"name\":\"imgpipe\"}}"));
  EXPECT_TRUE(is_own_text("<svg xmlns=\"x\">\n<!-- imgpipe -->\n<style>"));
  for (const char* text :
       {"", "{", "{}", "{\"name\": \"imgpipe\"}", "name,age\n", "{\"input\":\"a\"}\n{\"output\":1}",
        "<svg xmlns=\"x\"></svg>", "[\n{\"name\":\"process_name\"}", "imgpipe"})
    EXPECT_FALSE(is_own_text(text)) << text;
}

}  // namespace
}  // namespace imgpipe::test::mark_test
