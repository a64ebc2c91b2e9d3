// The mark of imgpipe's own files: there in every format, found again, and no part of the picture.
#include "images/codecs/mark.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/files/replaceable.h"
#include "images/codecs/png/png_mark.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpipe::test {
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
    if (!info.writable) continue;
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

TEST(Mark, ChangesNoPixel) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(name_of(c));
    Image image({23, 17, c.channels});
    fill({frame_type_of(image.shape()), {image.view(), {}, {}, {}}}, "noise", 3);
    const Image plain = decoded(encoded(c.format, image, Mark::none, c.codec));
    const std::vector<std::byte> marked = encoded(c.format, image, Mark::result, c.codec);
    EXPECT_EQ(first_difference(plain.view(), decoded(marked).view()), "");
    const Image by_stb = decoded(marked, CodecChoice::stb);
    if (c.format == Format::jpeg) continue;  // its decoders differ
    EXPECT_EQ(first_difference(plain.view(), by_stb.view()), "");
  }
}

// Whatever stands in a file, and however short it is: no mark is found that is not there whole.
TEST(Mark, IsNotFoundInDamagedFiles) {
  const Image image = synthesize(parse_pattern("photo"), {40, 30, 3}, 1);
  for (const FormatInfo& info : format_table()) {
    if (!info.writable || !info.holds_color) continue;
    SCOPED_TRACE(std::string(info.name));
    const std::vector<std::byte> file = encoded(info.format, image, Mark::result, CodecChoice::automatic);
    const std::vector<std::byte> plain = encoded(info.format, image, Mark::none, CodecChoice::automatic);
    const auto differs = std::ranges::mismatch(file, plain).in1;
    const auto first = static_cast<std::size_t>(differs - file.begin());
    for (std::size_t size = 0; size <= first; ++size)
      EXPECT_EQ(find_mark(std::span(file).first(size)), Mark::none) << size;
  }
}

// "Software: imgpipe" in the words of others: a longer text, a chunk behind the pixels.
TEST(Mark, OthersTextsAreNoMark) {
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

TEST(Mark, RealFilesCarryNone) {
  IMGPIPE_NEED_CORPUS();
  std::size_t files = 0;
  for (const std::filesystem::path& path : files_below(*corpus())) {
    EXPECT_EQ(find_mark(load(path.string())), Mark::none) << path;
    ++files;
  }
  EXPECT_GT(files, 500U);
}

TEST(OwnText, IsToldByItsBeginning) {
  EXPECT_TRUE(own_text("{\n  \"imgpipe\": {"));
  EXPECT_TRUE(own_text("{\"imgpipe\":\"0.1.0\""));
  EXPECT_TRUE(own_text("bin,before_grey,after_grey\n0,1,2\n"));
  EXPECT_TRUE(own_text(R"({"imgpipe":"0.1.0","input":"a","output":"b"})"));
  EXPECT_TRUE(own_text("[\n{\"name\":\"process_name\",\"ph\":\"M\",\"args\":{\"name\":\"imgpipe\"}}"));
  EXPECT_TRUE(own_text("<svg xmlns=\"x\">\n<!-- imgpipe -->\n<style>"));
  for (const char* text :
       {"", "{", "{}", "{\"name\": \"imgpipe\"}", "name,age\n", "{\"input\":\"a\"}\n{\"output\":1}",
        "<svg xmlns=\"x\"></svg>", "[\n{\"name\":\"process_name\"}", "imgpipe"})
    EXPECT_FALSE(own_text(text)) << text;
}

}  // namespace
}  // namespace imgpipe::test
