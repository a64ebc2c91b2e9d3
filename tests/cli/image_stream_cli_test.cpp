// Images one after another on stdin, with --pages: to files, to a stack, to a stream. Errors name the
// position of a broken image.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/codecs/codec.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::image_stream_cli_test {
namespace {

using Json = nlohmann::json;
using namespace std::string_literals;
using Names = std::vector<std::string>;

class ImageStreamCli : public testing::Test {
 protected:
  struct Kind {
    Format format;
    Shape shape;
  };
  static std::string image(const Kind& kind, std::uint64_t seed) {
    const Image pixels = synthesize(parse_pattern("photo"), kind.shape, seed);
    const auto writer = make_writer(kind.format, pixels.shape());
    writer->write_rows(pixels.untyped_view());
    const std::vector<std::byte> bytes = writer->finish().joined();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Five images of different formats, sizes and sample types.
  static std::vector<std::string> five() {
    return {image({Format::ppm, {40, 30, 3}}, 1), image({Format::jpeg, {33, 21, 3}}, 2),
            image({Format::png, {40, 30, 1, Sample::u16}}, 3), image({Format::bmp, {7, 50, 3}}, 4),
            image({Format::webp, {64, 48, 4}}, 5)};
  }
  static std::string all_of(const std::vector<std::string>& images) {
    std::string stream;
    for (const std::string& one : images) stream += one;
    return stream;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] RunResult run(const std::string& input, std::vector<std::string> arguments) const {
    RunOptions options;
    options.input = input;
    arguments.insert(arguments.begin(), "-");
    arguments.emplace_back("-q");
    return run_imgpipe(arguments, options);
  }
  // Returns the output of each image processed alone, as PNG.
  [[nodiscard]] std::vector<std::string> by_themselves(const std::vector<std::string>& images) const {
    std::vector<std::string> made;
    for (const std::string& one : images) {
      const RunResult result = run(one, {"-", "--format", "png"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      made.push_back(result.out);
    }
    return made;
  }

  TemporaryDirectory directory_;
};

TEST_F(ImageStreamCli, EveryImageGetsANumberedFile) {
  const std::vector<std::string> wanted = by_themselves(five());
  const RunResult result = run(all_of(five()), {file("out"), "--pages", "all", "--name",
                                                "frame_{page:05}.png", "--report", file("r.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (int i = 1; i <= 5; ++i)
    EXPECT_EQ(load_text(file("out/frame_0000" + std::to_string(i) + ".png")),
              wanted[static_cast<std::size_t>(i - 1)]);
  const Json report = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(report["pages"]["in_file"], 5);
  EXPECT_EQ(report["pages"]["last"], 5);
  ASSERT_EQ(report["pages"]["each"].size(), 5U);
  EXPECT_EQ(report["pages"]["each"][3]["page"], 4);
  EXPECT_EQ(report["pages"]["each"][3]["width_pixels"], 7);
  EXPECT_EQ(report["pages"]["each"][3]["output"], file("out/frame_00004.png"));
  EXPECT_EQ(report["input"]["file_bytes"], all_of(five()).size());
}

TEST_F(ImageStreamCli, DefaultNamesAndAPageRange) {
  const std::vector<std::string> wanted = by_themselves(five());
  ASSERT_EQ(run(all_of(five()), {file("f.png"), "--pages", "2-4"}).exit_code, 0);
  EXPECT_EQ(directory_.names(), (Names{"f_0002.png", "f_0003.png", "f_0004.png"}));
  EXPECT_EQ(load_text(file("f_0003.png")), wanted[2]);
  ASSERT_EQ(run(all_of(five()), {file("one.png"), "--pages", "5"}).exit_code, 0);
  EXPECT_EQ(load_text(file("one.png")), wanted[4]);
  for (const char* pages : {"7", "6-", "2-6"}) {
    const RunResult result = run(all_of(five()), {file("x.png"), "--pages", pages});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("stdin: has 5 pages, but --pages requests page "), std::string::npos)
        << result.err;
  }
}

TEST_F(ImageStreamCli, SingleImageIsUnchanged) {
  for (const std::string& one : five()) {
    const std::string wanted = by_themselves({one}).front();
    ASSERT_EQ(run(one, {file("f.png"), "--pages", "all"}).exit_code, 0);
    EXPECT_EQ(load_text(file("f_0001.png")), wanted);
  }
  // Without --pages, a second image is just trailing bytes.
  const RunResult two = run(five()[0] + five()[0], {file("g.png")});
  EXPECT_EQ(two.exit_code, 0);
  EXPECT_NE(two.err.find("follow the image (another image?)"), std::string::npos) << two.err;
  const RunResult none = run("", {file("g.png"), "--pages", "all"});
  EXPECT_EQ(none.exit_code, 1) << none.err;
}

TEST_F(ImageStreamCli, BytesBetweenImagesAreReported) {
  std::string exif = "\xFF\xE1\0\x10"s + "Exif\0\0II*\0\x8\0\0\0"s;
  for (const bool has_exif : {false, true}) {
    std::string jpeg = five()[1];
    if (has_exif) jpeg.insert(2, exif);
    const RunResult result =
        run(jpeg + "garbage" + jpeg, {file("o.png"), "--pages", "all", "--stages", "none", "--report",
                                      file("r.json"), "--overwrite", "--metadata", "strip"});
    EXPECT_EQ(result.exit_code, has_exif ? 0 : 1) << result.err;
    if (has_exif) {
      const std::string text = "stdin: skipped 7 bytes of non-image data after Exif JPEGs";
      EXPECT_EQ(result.err, "imgpipe: warning: " + text + "\n");
      EXPECT_EQ(Json::parse(load_text(file("r.json")))["warnings"], Json::array({text}));
    } else {
      const std::string at = std::to_string(jpeg.size());
      EXPECT_EQ(result.err, "imgpipe: stdin, image 2 at byte " + at +
                                ": not an image of a known format; pages written before the error: 1\n");
    }
  }
}

TEST_F(ImageStreamCli, WritesAStack) {
  const std::vector<std::string> images = five();
  ASSERT_EQ(run(all_of(images), {file("s.tif"), "--pages", "all"}).exit_code, 0);
  EXPECT_EQ(pages_by_libtiff(load(file("s.tif"))), 5);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(run(images[static_cast<std::size_t>(i)], {file("one.tif")}).exit_code, 0);
    EXPECT_EQ(samples_by_libtiff(load(file("s.tif")), i), samples_by_libtiff(load(file("one.tif"))));
  }
  // A single image becomes a plain TIFF, as usual.
  ASSERT_EQ(run(images[0], {file("a.tif"), "--pages", "all"}).exit_code, 0);
  EXPECT_EQ(load_text(file("a.tif")).substr(0, 4), "II*\0"s);
  EXPECT_EQ(load_text(file("s.tif")).substr(0, 4), "II+\0"s);
  EXPECT_EQ(run(all_of(images), {file("c.tif"), "--pages", "2-9"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(file("c.tif")));
}

TEST_F(ImageStreamCli, WritesAStream) {
  const std::vector<std::string> wanted = by_themselves(five());
  for (const char* output : {"-", "/dev/stdout"}) {
    const RunResult result = run(all_of(five()), {output, "--format", "png", "--pages", "all"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, all_of(wanted));
  }
  // The output stream is valid input again.
  const RunResult once =
      run(all_of(five()), {"-", "--format", "pgm", "--pages", "all", "--stages", "gray,depth:8"});
  ASSERT_EQ(once.exit_code, 0) << once.err;
  const RunResult twice =
      run(once.out, {"-", "--format", "pgm", "--pages", "all", "--stages", "invert,invert"});
  EXPECT_EQ(twice.out, once.out);
  EXPECT_EQ(run(all_of(five()), {"-", "--format", "tga", "--pages", "all"}).exit_code, 2);
}

TEST_F(ImageStreamCli, BrokenImageIsReportedByNumberAndOffset) {
  const std::vector<std::string> images = five();
  const std::size_t third = images[0].size() + images[1].size();
  const std::string front = images[0] + images[1];
  const std::string place = "stdin, image 3 at byte " + std::to_string(third) + ": ";
  std::string damaged = images[2];
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  const std::vector<std::pair<std::string, std::string>> cases{
      {front + images[2].substr(0, 100), place + "truncated: the stream ends after 100 bytes of the image"},
      {front + damaged + images[3], place},
      {front + "neither PPM nor anything", place + "not an image of a known format"},
      {front + std::string("GIF89a\1\0\1\0\0\0\0;", 14), place + "the end of a gif image in a stream"}};
  for (const auto& [stream, words] : cases) {
    const RunResult result = run(stream, {file("out"), "--pages", "all", "--name", "{page}.png"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("; pages written before the error: 2"), std::string::npos) << result.err;
    // Finished outputs stay, because the stream cannot be read again.
    EXPECT_TRUE(std::filesystem::exists(file("out/1.png")));
    EXPECT_TRUE(std::filesystem::exists(file("out/2.png")));
    EXPECT_FALSE(std::filesystem::exists(file("out/3.png")));
    std::filesystem::remove_all(file("out"));
    EXPECT_EQ(run(stream, {file("s.tif"), "--pages", "all"}).exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(file("s.tif")));
    const RunResult alone = run(stream, {file("s.png"), "--pages", "3"});
    EXPECT_EQ(alone.exit_code, 1);
    EXPECT_EQ(directory_.names(), Names{});
  }
}

TEST_F(ImageStreamCli, LenientAcceptsTruncatedImages) {
  const std::vector<std::string> images = five();
  const std::string cut = images[1].substr(0, images[1].size() - 100);
  const RunResult result =
      run(images[1] + cut + images[1] + cut, {file("f.png"), "--pages", "all", "--lenient"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(directory_.names(), (Names{"f_0001.png", "f_0002.png", "f_0003.png", "f_0004.png"}));
  EXPECT_EQ(load_text(file("f_0001.png")), load_text(file("f_0003.png")));
  EXPECT_NE(result.err.find("stdin, image 2 at byte "), std::string::npos) << result.err;
}

TEST_F(ImageStreamCli, OptionsThatStreamsRejectAreErrors) {
  const std::string two = five()[0] + five()[1];
  const RunResult series = run(two, {file("f.png"), "--pages", "all", "--stages", "contrast:range=series"});
  EXPECT_EQ(series.exit_code, 2);
  EXPECT_NE(series.err.find("a stream can be read only once"), std::string::npos) << series.err;
  EXPECT_EQ(run(two, {file("o"), "--pages", "all", "--name", "{stem}_{page}.png"}).exit_code, 2);
  EXPECT_EQ(run(two, {directory_.path().string(), "--pages", "all"}).exit_code, 2);
  EXPECT_EQ(directory_.names(), Names{});
}

TEST_F(ImageStreamCli, ReplacesOnlyItsOwnFiles) {
  save_text(file("f_0001.png"), "mine");
  EXPECT_EQ(run(all_of(five()), {file("f.png"), "--pages", "all"}).exit_code, 2);
  EXPECT_EQ(directory_.names(), Names{"f_0001.png"});
  std::filesystem::rename(file("f_0001.png"), file("f_0003.png"));
  const RunResult result = run(all_of(five()), {file("f.png"), "--pages", "all"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(load_text(file("f_0003.png")), "mine");
  EXPECT_EQ(directory_.names(), (Names{"f_0001.png", "f_0002.png", "f_0003.png"}));
}

// Each image is compared with the reference; histograms cover all images together.
TEST_F(ImageStreamCli, ComparesAndCounts) {
  std::vector<std::string> images;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) images.push_back(image({Format::pgm, {40, 30, 1}}, seed));
  const RunResult result = run(all_of(images), {file("f.png"), "--pages", "all", "--cpu", "--histogram",
                                                file("h.json"), "--report", file("r.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json histogram = Json::parse(load_text(file("h.json")));
  std::uint64_t counted = 0;
  for (const Json& plane : histogram["before"]["counts"])
    for (const Json& bin : plane) counted += bin.get<std::uint64_t>();
  EXPECT_EQ(counted, 3U * 40 * 30);
  const Json report = Json::parse(load_text(file("r.json")));
  for (const Json& page : report["pages"]["each"]) EXPECT_EQ(page["comparison"], "identical");
}

// 630 MB of images in 500 MB of address space.
TEST_F(ImageStreamCli, MemoryIsBoundedByOneImage) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer maps far more";
  save_text(file("one.ppm"), image({Format::ppm, {1000, 700, 3}}, 1));
  EXPECT_EQ(
      run_bash(
          "(for i in $(seq 300); do cat one.ppm; done) | (ulimit -v 500000; $I - - --format pgm --pages all "
          "-q --device cpu --threads 2 > out.pgms) && [ $(stat -c %s out.pgms) -gt 210000000 ]",
          directory_.path().string()),
      0);
}

}  // namespace
}  // namespace imgpipe::test::image_stream_cli_test
