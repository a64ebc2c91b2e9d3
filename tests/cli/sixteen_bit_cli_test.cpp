// 16-bit samples from file to file: conversions, warnings, directories, streams, reports, histograms, every
// step.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "images/synth.h"
#include "pipeline/device.h"
#include "pipeline/plan.h"
#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test::wide_cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Bytes = std::vector<std::byte>;

Bytes file_of(const Image& image, Format format) {
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

Image noise(Shape shape, std::uint64_t seed = 5) {
  shape.sample = Sample::u16;
  return synthesize(parse_pattern("noise"), shape, seed);
}

// Returns 12-bit data as from a microscope: 1,525 levels from `first` in steps of `unit`, one pixel per
// level.
Image levels_of(int first, int unit) {
  Image image({61, 25, 1, Sample::u16});
  auto* out = image.untyped_view().as<std::uint16_t>().data;
  for (int i = 0; i < 1525; ++i) out[i * 7 % 1525] = static_cast<std::uint16_t>(first + i * unit);
  return image;
}

class SixteenBitCli : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  void save_image(const std::string& name, const Image& image, Format format) const {
    save(file(name), file_of(image, format));
  }
  [[nodiscard]] RunResult run(std::vector<std::string> arguments) const {
    RunOptions here;
    here.directory = directory_.path().string();
    return run_imgpipe(std::move(arguments), here);
  }
  // Decodes a file without reducing its samples.
  [[nodiscard]] Image image_in(const std::string& name) const {
    return decode(load(file(name)), sixteen_bits());
  }
  [[nodiscard]] std::size_t levels_in(const std::string& name) const {
    const Values values = samples(image_in(name));
    return std::set<int>(values.begin(), values.end()).size();
  }
  [[nodiscard]] Json json_in(const std::string& name) const { return Json::parse(load_text(file(name))); }

  TemporaryDirectory directory_;
};

constexpr const char* kHosts[] = {"cpu", "reference"};

// ---- twelve bits in sixteen --------------------------------------------------------------------------

TEST_F(SixteenBitCli, TwelveBitLevelsArePreserved) {
  // The 12 bits right-aligned, then left-aligned.
  for (const auto& [first, unit] : {std::pair{300, 1}, {4800, 16}}) {
    save_image("in.png", levels_of(first, unit), Format::png);
    for (const std::string device : kHosts) {
      const auto stretch = [&](const char* stages, const char* output) {
        const RunResult result =
            run({"in.png", output, "--stages", stages, "--device", device, "-q", "--overwrite"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(result.err, "");
      };
      stretch("contrast", "deep.png");
      EXPECT_EQ(image_in("deep.png").shape().sample, Sample::u16);
      EXPECT_EQ(levels_in("deep.png"), 1525U) << device;
      const Values values = samples(image_in("deep.png"));
      EXPECT_EQ(*std::ranges::min_element(values), 0);
      EXPECT_EQ(*std::ranges::max_element(values), 65535);
      stretch("contrast:to=8", "flat.png");
      EXPECT_EQ(image_in("flat.png").shape().sample, Sample::u8);
      EXPECT_EQ(levels_in("flat.png"), 256U) << device;
      // If it is first reduced to 8 bits, the image has only 7 levels, or 96 if left-aligned.
      stretch("depth:8,contrast", "cut.png");
      EXPECT_EQ(levels_in("cut.png"), unit == 1 ? 7U : 96U) << device;
    }
  }
}

// ---- what stays -----------------------------------------------------------------------------------------

// Inverting twice restores the image: every sample keeps all 16 bits everywhere.
TEST_F(SixteenBitCli, SamplesArePreserved) {
  for (const Shape shape : {Shape{1, 1, 1}, Shape{61, 1, 3}, Shape{1, 53, 4}, Shape{131, 97, 1},
                            Shape{131, 97, 2}, Shape{131, 97, 3}, Shape{131, 97, 4}, Shape{997, 613, 3}}) {
    const Image image = noise(shape);
    std::vector<std::pair<std::string, Format>> formats{{"png", Format::png}};
    if (shape.channels == 1) formats.emplace_back("pgm", Format::pgm);
    if (shape.channels == 3) formats.emplace_back("ppm", Format::ppm);
    for (const auto& [ending, format] : formats) {
      save_image("in." + ending, image, format);
      for (const std::string device : kHosts) {
        for (const auto& [output, unused] : formats) {
          const RunResult result = run({"in." + ending, "out." + output, "--stages", "invert,invert",
                                        "--device", device, "-q", "--overwrite", "--threads", "3"});
          ASSERT_EQ(result.exit_code, 0) << result.err;
          ASSERT_TRUE(samples(image_in("out." + output)) == samples(image))
              << ending << " to " << output << ", " << shape.width << "x" << shape.height << "x"
              << shape.channels << " on " << device;
        }
      }
    }
  }
}

// The sequential reference and the CPU agree in every step of the default pipeline and others.
TEST_F(SixteenBitCli, EqualsTheReference) {
  save_image("in.png", noise({233, 151, 4}), Format::png);
  for (const char* stages : {"gray,hist,contrast,smooth", "contrast:1:stretch=each,smooth:gauss,gamma:2",
                             "resize:100:60,contrast:to=8,smooth", "depth:8,contrast:to=16"}) {
    const RunResult result = run({"in.png", "out.png", "--stages", stages, "--device", "cpu", "--cpu",
                                  "--repeat", "2", "--overwrite", "--report", "r.json"});
    EXPECT_EQ(result.exit_code, 0) << stages << ": " << result.err;
    EXPECT_EQ(json_in("r.json")["comparison"], "identical") << stages;
  }
}

TEST_F(SixteenBitCli, EightBitsArePreserved) {
  save(file("in.png"), encoded(Format::png, 3));
  ASSERT_EQ(run({"in.png", "a.png", "--stages", "gray,contrast", "-q", "--device", "cpu"}).exit_code, 0);
  EXPECT_EQ(image_in("a.png").shape().sample, Sample::u8);
  ASSERT_EQ(run({"in.png", "b.png", "--stages", "depth:16,smooth", "-q", "--device", "cpu"}).exit_code, 0);
  EXPECT_EQ(image_in("b.png").shape().sample, Sample::u16);
}

TEST_F(SixteenBitCli, StreamsEqualFiles) {
  const Image image = noise({1499, 701, 3});  // 6 MB: read directly from disk
  save_image("in.ppm", image, Format::ppm);
  ASSERT_EQ(run({"in.ppm", "a.ppm", "--stages", "smooth", "--device", "cpu", "-q"}).exit_code, 0);
  ASSERT_EQ(run({"in.ppm", "r.ppm", "--stages", "smooth", "--device", "reference", "-q"}).exit_code, 0);
  RunOptions here;
  here.directory = directory_.path().string();
  ASSERT_EQ(run_bash("$I - - --format ppm --stages smooth --device cpu -q <in.ppm >b.ppm", here.directory),
            0);
  const Bytes expected = load(file("a.ppm"));
  EXPECT_TRUE(samples(decode(load(file("b.ppm")), sixteen_bits())) ==
              samples(decode(expected, sixteen_bits())))
      << "but for the mark";
  EXPECT_TRUE(load(file("r.ppm")) == expected);
  EXPECT_EQ(image_in("a.ppm").shape().sample, Sample::u16);
}

TEST_F(SixteenBitCli, KeptStepFiles) {
  save_image("in.png", noise({40, 30, 3}), Format::png);
  ASSERT_EQ(run({"in.png", "out.jpg", "--stages", "gray,contrast", "--device", "cpu", "-q", "--keep-stages",
                 "steps"})
                .exit_code,
            0);
  EXPECT_EQ(image_in("steps/01_gray.png").shape(), (Shape{40, 30, 1, Sample::u16}));
  EXPECT_EQ(image_in("steps/03_contrast.png").shape(), (Shape{40, 30, 1, Sample::u16}));
  const Image last = image_in("steps/04_depth-8*.png");
  EXPECT_EQ(last.shape(), (Shape{40, 30, 1}));
  const Values deep = samples(image_in("steps/03_contrast.png")), flat = samples(last);
  for (std::size_t i = 0; i < deep.size(); ++i) ASSERT_EQ(flat[i], (deep[i] * 255 + 32767) / 65535);
}

// ---- outputs of 8 bits ---------------------------------------------------------------------------------

TEST_F(SixteenBitCli, EightBitFormatsWarn) {
  save_image("in.png", noise({64, 48, 3}), Format::png);
  ASSERT_EQ(run({"in.png", "want.png", "--stages", "smooth,depth:8", "--device", "cpu", "-q"}).exit_code, 0);
  for (const char* name : {"bmp", "tga", "jpg"}) {
    const std::string output = std::string("out.") + name;
    const std::string format = std::string(name) == "jpg" ? "jpeg" : name;
    const std::string warning =
        "16-bit samples reduced to 8 bits after the last stage; " + format + " stores only 8 bits per sample";
    const RunResult result =
        run({"in.png", output, "--stages", "smooth", "--device", "cpu", "--report", "r.json", "--overwrite"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "imgpipe: warning: in.png: " + warning + "\n");
    EXPECT_NE(result.out.find("in.png: 64x48 RGB 16-bit png -> " + output + ": 64x48 RGB " + format),
              std::string::npos)
        << result.out;
    EXPECT_NE(result.out.find("depth:  " + warning), std::string::npos) << result.out;
    EXPECT_NE(result.out.find(" depth:8* "), std::string::npos) << result.out;
    const Json report = json_in("r.json");
    EXPECT_EQ(report["input"]["bits_per_sample"], 16);
    EXPECT_EQ(report["input"]["sample_bits"], 16);
    EXPECT_EQ(report["output"]["bits_per_sample"], 8);
    EXPECT_EQ(report["reduced_to_8_bits"], warning);
    if (format == "jpeg") continue;
    EXPECT_TRUE(samples(image_in(output)) == samples(image_in("want.png"))) << name;
  }
  // A requested reduction causes no warning.
  for (const char* stages : {"smooth,depth:8", "contrast:to=8"}) {
    const RunResult result = run(
        {"in.png", "out.bmp", "--stages", stages, "--device", "cpu", "--report", "r.json", "--overwrite"});
    EXPECT_EQ(result.err, "") << stages;
    EXPECT_TRUE(json_in("r.json")["reduced_to_8_bits"].is_null()) << stages;
  }
  const RunResult kept =
      run({"in.png", "out.png", "--stages", "smooth", "--device", "cpu", "--report", "r.json"});
  EXPECT_EQ(kept.err, "");
  EXPECT_NE(kept.out.find("out.png: 64x48 RGB 16-bit png\n"), std::string::npos) << kept.out;
  EXPECT_EQ(json_in("r.json")["output"]["bits_per_sample"], 16);
}

TEST_F(SixteenBitCli, StbReducesWhileReading) {
  save_image("in.png", noise({20, 10, 1}), Format::png);
  const RunResult result = run(
      {"in.png", "out.png", "--stages", "smooth", "--device", "cpu", "--codec", "stb", "--report", "r.json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "imgpipe: warning: in.png: 16-bit samples reduced to 8 bits before any stage\n");
  EXPECT_EQ(image_in("out.png").shape().sample, Sample::u8);
  EXPECT_EQ(json_in("r.json")["input"]["sample_bits"], 8);
}

// ---- directories --------------------------------------------------------------------------------------

TEST_F(SixteenBitCli, DirectoryOfBothDepths) {
  fs::create_directories(directory_.path() / "in");
  save_image("in/a.png", noise({30, 20, 3}, 1), Format::png);
  save_image("in/b.pgm", noise({30, 20, 1}, 2), Format::pgm);
  save(file("in/c.png"), encoded(Format::png, 3));
  RunResult result = run({"in", "out", "--format", "png", "--stages", "invert", "--device", "cpu", "--report",
                          "r.ndjson", "--report", "r.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(json_in("r.json")["reduced_to_8_bits"], 0);
  for (const char* name : {"a", "b"}) {
    const Values in = samples(image_in(std::string("in/") + name + (*name == 'a' ? ".png" : ".pgm")));
    const Values out = samples(image_in(std::string("out/") + name + ".png"));
    ASSERT_EQ(in.size(), out.size());
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], 65535 - in[i]);
  }
  EXPECT_EQ(image_in("out/c.png").shape().sample, Sample::u8);
  const std::string lines = load_text(file("r.ndjson"));
  EXPECT_NE(lines.find("\"output_bits_per_sample\":16"), std::string::npos) << lines;
  EXPECT_NE(lines.find("\"output_bits_per_sample\":8"), std::string::npos) << lines;

  result = run({"in", "jpegs", "--format", "jpg", "--stages", "invert", "--device", "cpu", "--jobs", "1",
                "--report", "j.json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err,
            "imgpipe: warning: in/a.png: 16-bit samples reduced to 8 bits after the last stage; jpeg stores "
            "only 8 bits per sample; further such images are only counted\n");
  EXPECT_NE(
      result.out.find("2 images had more than 8 bits per sample, reduced to 8, for example a.png (16 bits)"),
      std::string::npos)
      << result.out;
  EXPECT_EQ(json_in("j.json")["reduced_to_8_bits"], 2);
}

// ---- devices ------------------------------------------------------------------------------------------

// Skipped once CUDA devices have a function for every step, because then nothing is rejected.
TEST_F(SixteenBitCli, ExplicitDeviceRejectsUnsupportedStages) {
  if (!built_with_cuda()) GTEST_SKIP() << "a build without CUDA";
  const Plan plan = make_plan(parse_stages("gray,contrast"), {40, 30, 3, Sample::u16});
  const std::string lacking = why_not_on_cuda(plan);
  if (lacking.empty()) GTEST_SKIP() << "CUDA devices have every function that this test looks for";
  fs::create_directories(directory_.path() / "in");
  save_image("in/a.png", noise({40, 30, 3}), Format::png);
  const RunResult one = run({"in/a.png", "out.png", "--stages", "gray,contrast", "--device", "cuda"});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_EQ(one.err, "imgpipe: in/a.png: " + lacking + "; use --device cpu\n");
  EXPECT_FALSE(fs::exists(file("out.png")));
  const RunResult any = run({"in/a.png", "out.png", "--stages", "gray,contrast", "--device", "auto", "-q"});
  EXPECT_EQ(any.exit_code, 0) << any.err;
  EXPECT_EQ(image_in("out.png").shape(), (Shape{40, 30, 1, Sample::u16}));
}

// ---- test images --------------------------------------------------------------------------------------

TEST_F(SixteenBitCli, SynthWritesSixteenBits) {
  for (const auto& [name, channels] : {std::pair{"n.png", 3}, {"n.pgm", 1}, {"n.ppm", 3}}) {
    ASSERT_EQ(run({"synth", name, "--pattern", "photo", "--size", "70x50", "--depth", "16"}).exit_code, 0);
    const Image image = image_in(name);
    EXPECT_EQ(image.shape(), (Shape{70, 50, channels, Sample::u16}));
    EXPECT_TRUE(samples(image) ==
                samples(synthesize(parse_pattern("photo"), {70, 50, channels, Sample::u16}, 1)));
  }
  ASSERT_EQ(run({"synth", "c.png", "--pattern", "colors:1525", "--size", "200x200", "--depth", "16",
                 "--channels", "1"})
                .exit_code,
            0);
  EXPECT_EQ(levels_in("c.png"), 1525U);
  const auto refused = [&](std::vector<std::string> arguments, const std::string& why) {
    arguments.insert(arguments.begin(), "synth");
    const RunResult result = run(std::move(arguments));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
  };
  refused({"x.jpg", "--pattern", "noise", "--size", "4x4", "--depth", "16"},
          "jpeg stores only 8 bits per sample");
  refused({"x.png", "--pattern", "noise", "--size", "4x4", "--depth", "12"},
          "--depth: must be one of 8, 16; got '12'");
  refused({"x.png", "--pattern", "colors:257", "--size", "4x4"}, "colors: N values");
  refused({"x.png", "--pattern", "constant:65536", "--size", "4x4", "--depth", "16"}, "up to 65535");
}

}  // namespace
}  // namespace imgpipe::test::wide_cli_test
