// The report's row names the JPEG decoder that ran; all decoders produce identical bytes.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/made_jpegs.h"
#include "tests/support/process.h"

namespace imgpipe::test::jpeg_decoder_cli_test {
namespace {

class JpegDecoderCli : public testing::Test {
 protected:
  [[nodiscard]] std::string file(std::string_view name) const { return directory_.file(name); }

  // Returns the name of the row in the table; the result is in out.pgm.
  [[nodiscard]] std::string decode_row(const MadeJpeg& jpeg, const std::vector<std::string>& options) {
    save(file("in.jpg"), make_jpeg(jpeg));
    std::vector<std::string> arguments{file("in.jpg"), file("out.pgm"), "--device", "cpu", "--overwrite"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const RunResult run = run_imgpipe(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err << description(jpeg);
    const std::size_t row = run.out.find("\n decode");
    if (row == std::string::npos) return run.out;
    const std::size_t end = run.out.find("  ", row + 2);
    return run.out.substr(row + 2, end - row - 2);
  }

  TemporaryDirectory directory_;
};

TEST_F(JpegDecoderCli, RowNamesTheDecoder) {
  MadeJpeg plain{.width = 300, .height = 200, .factors = {{{2, 2}}}, .restart_rows = 2};
  for (const char* threads : {"1", "2", "5"}) {
    EXPECT_EQ(decode_row(plain, {"--threads", threads}), "decode (parallel)");
    const std::string ours = load_text(file("out.pgm"));
    EXPECT_EQ(decode_row(plain, {"--threads", threads, "--codec", "turbo"}), "decode");
    EXPECT_EQ(load_text(file("out.pgm")), ours);
    EXPECT_EQ(decode_row(plain, {"--threads", threads, "--codec", "stb"}), "decode");
  }
  MadeJpeg grey = plain;
  grey.stored = JCS_GRAYSCALE;
  grey.factors = {};
  EXPECT_EQ(decode_row(grey, {}), "decode (parallel)");
}

TEST_F(JpegDecoderCli, UnsupportedKindsUseTheLibrary) {
  const MadeJpeg plain{.width = 300, .height = 200};
  MadeJpeg progressive = plain;
  progressive.coding = JpegCoding::progressive;
  EXPECT_EQ(decode_row(progressive, {}), "decode");
  MadeJpeg cmyk = plain;
  cmyk.stored = JCS_CMYK;
  EXPECT_EQ(decode_row(cmyk, {}), "decode");
  MadeJpeg narrow = plain;
  narrow.factors[0] = {4, 1};
  EXPECT_EQ(decode_row(narrow, {}), "decode");
}

// The library handles damaged files from the first byte, so messages and pixels are the library's.
TEST_F(JpegDecoderCli, LibraryHandlesDamage) {
  const MadeJpeg plain{.width = 300, .height = 200, .content = JpegContent::noise};
  std::vector<std::byte> bytes = make_jpeg(plain);
  bytes.resize(bytes.size() / 2);
  save(file("cut.jpg"), bytes);
  std::array<RunResult, 2> strict, lenient;
  std::array<std::string, 2> results;
  for (const std::size_t turbo : {0, 1}) {
    std::vector<std::string> arguments{
        file("cut.jpg"), file("cut.pgm"), "-q",      "--device",
        "cpu",           "--overwrite",   "--codec", turbo == 1 ? "turbo" : "auto"};
    strict[turbo] = run_imgpipe(arguments);
    arguments.emplace_back("--lenient");
    lenient[turbo] = run_imgpipe(arguments);
    results[turbo] = load_text(file("cut.pgm"));
  }
  EXPECT_EQ(strict[0].exit_code, 1);
  EXPECT_EQ(strict[0].err, strict[1].err);
  EXPECT_EQ(lenient[0].exit_code, 0) << lenient[0].err;
  EXPECT_EQ(lenient[0].err, lenient[1].err);
  EXPECT_NE(lenient[0].err.find("damaged JPEG"), std::string::npos) << lenient[0].err;
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace imgpipe::test::jpeg_decoder_cli_test
