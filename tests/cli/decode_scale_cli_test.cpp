// --decode-scale on the command line: every device writes the same bytes, and the reports name the scale.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pipeline/device.h"
#include "tests/support/files.h"
#include "tests/support/made_jpegs.h"
#include "tests/support/process.h"

namespace imgpipe::test::decode_scale_cli_test {
namespace {

class DecodeScaleCli : public testing::Test {
 protected:
  DecodeScaleCli() {
    std::filesystem::create_directory(file("in"));
    std::uint64_t seed = 1;
    for (const JpegFactors factors : {JpegFactors{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}}) {
      save(file("in/" + std::to_string(seed) + ".jpg"),
           make_jpeg({.width = 400, .height = 301, .factors = {{factors}}, .seed = seed}));
      ++seed;
    }
    save(file("in/progressive.jpg"),
         make_jpeg({.width = 400, .height = 301, .coding = JpegCoding::progressive}));
  }

  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] static RunResult run(std::vector<std::string> arguments,
                                     const std::vector<std::string>& more = {}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_imgpipe(arguments);
  }
  [[nodiscard]] static std::vector<std::string> devices() {
    std::vector<std::string> names{"reference", "cpu"};
    if (!list_cuda_devices().devices.empty()) names.emplace_back("cuda");
    return names;
  }

  TemporaryDirectory directory_;
};

TEST_F(DecodeScaleCli, DevicesWriteTheSameBytes) {
  for (const std::string name : {"1", "2", "3", "4", "5", "progressive"}) {
    for (const std::string scale : {"1", "2", "4", "8", "auto"}) {
      std::string expected;
      for (const std::string& device : devices()) {
        const RunResult ran =
            run({file("in/" + name + ".jpg"), file("o.ppm"), "--stages", "resize:90x70:area", "--device",
                 device, "--decode-scale", scale, "--overwrite"});
        ASSERT_EQ(ran.exit_code, 0) << ran.err;
        const std::string text = load_text(file("o.ppm"));
        if (expected.empty()) expected = text;
        EXPECT_EQ(text, expected) << name << " " << scale << " " << device;
      }
    }
  }
}

TEST_F(DecodeScaleCli, BatchesEqualSingleImages) {
  for (const std::string& device : devices()) {
    const std::vector<std::string> options{
        "--stages", "gray,resize:90x70", "--decode-scale", "auto", "--device", device, "--format", "pgm"};
    const RunResult batch =
        run({file("in"), file("out-" + device), "--report", file("b.ndjson"), "--overwrite"}, options);
    ASSERT_EQ(batch.exit_code, 0) << batch.err;
    EXPECT_NE(batch.out.find("6 images decoded at a smaller scale, for example"), std::string::npos)
        << batch.out;
    for (const std::string name : {"1", "2", "3", "4", "5", "progressive"}) {
      ASSERT_EQ(run({file("in/" + name + ".jpg"), file("o.pgm"), "--overwrite"}, options).exit_code, 0);
      EXPECT_EQ(load_text(file("o.pgm")), load_text(file("out-" + device + "/" + name + ".pgm"))) << name;
    }
    const auto line =
        nlohmann::json::parse(load_text(file("b.ndjson")).substr(0, load_text(file("b.ndjson")).find('\n')));
    EXPECT_EQ(line["decode_scale"], 4);
    EXPECT_EQ(line["width_pixels"], 100);
    EXPECT_EQ(line["stored_width_pixels"], 400);
    EXPECT_EQ(line["height_pixels"], 76);
    EXPECT_EQ(line["stored_height_pixels"], 301);
  }
}

TEST_F(DecodeScaleCli, ReportsNameTheScale) {
  const RunResult ran = run({file("in/3.jpg"), file("o.png"), "--stages", "none", "--decode-scale", "2",
                             "--report", file("r.json")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("200x151 RGB jpeg (1/2 of 400x301) -> "), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("in/3.jpg: decoded at 200x151 (1/2 of 400x301)\n"), std::string::npos) << ran.err;
  const auto report = nlohmann::json::parse(load_text(file("r.json")));
  EXPECT_EQ(report["input"]["width_pixels"], 200);
  EXPECT_EQ(report["input"]["decode_scale"], 2);
  EXPECT_EQ(report["input"]["stored_width_pixels"], 400);
  EXPECT_EQ(report["options"]["decode_scale"], "2");
  EXPECT_EQ(report["warnings"].size(), 1U);
}

TEST_F(DecodeScaleCli, DigestHasTheScale) {
  std::vector<std::string> digests;
  for (const std::string scale : {"", "1", "2", "auto"}) {
    std::vector<std::string> options{file("in/1.jpg"), file("o.png"), "--report", file("r.json"),
                                     "--overwrite"};
    if (!scale.empty()) options.insert(options.end(), {"--decode-scale", scale});
    ASSERT_EQ(run(options).exit_code, 0);
    digests.push_back(nlohmann::json::parse(load_text(file("r.json")))["options_digest"]);
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(digests[0], digests[2]);
  EXPECT_NE(digests[0], digests[3]);
  EXPECT_NE(digests[2], digests[3]);
}

TEST_F(DecodeScaleCli, CropCountsScaledPixels) {
  ASSERT_EQ(
      run({file("in/1.jpg"), file("o.png"), "--stages", "crop:100x76+0+0", "--decode-scale", "4"}).exit_code,
      0);
  EXPECT_EQ(
      run({file("in/1.jpg"), file("p.png"), "--stages", "crop:101x76+0+0", "--decode-scale", "4"}).exit_code,
      2);
}

TEST_F(DecodeScaleCli, OtherFormatsAndCodecs) {
  ASSERT_EQ(run({file("in/1.jpg"), file("a.png")}).exit_code, 0);
  const RunResult refused = run({file("a.png"), file("o.png"), "--decode-scale", "2"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("a.png: --decode-scale 2: needs a JPEG, got a png file; use auto"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(run({file("a.png"), file("o.png"), "--decode-scale", "auto", "--stages", "resize:9x9"}).exit_code,
            0);
  EXPECT_EQ(run({file("in/1.jpg"), file("p.png"), "--decode-scale", "auto", "--codec", "stb"}).exit_code, 2);
  EXPECT_EQ(run({file("in/1.jpg"), file("p.png"), "--decode-scale", "3"}).exit_code, 2);
}

// A second image is read whole.
TEST_F(DecodeScaleCli, SecondImages) {
  ASSERT_EQ(run({file("in/1.jpg"), file("half.png"), "--decode-scale", "2", "--stages", "none"}).exit_code,
            0);
  const RunResult ran = run(
      {file("in/1.jpg"), file("o.png"), "--decode-scale", "2", "--stages", "subtract:" + file("half.png")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

}  // namespace
}  // namespace imgpipe::test::decode_scale_cli_test
