// flip, rotate and crop in the program: sizes of files, rows of the report, refusals.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test::geometry_cli_test {
namespace {

class GeometryCli : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_.path() / "in");
    write("in/large.png", {40, 30, 3});
    write("in/small.png", {20, 30, 3});
  }
  void write(const std::string& name, const Shape& shape) const {
    const Image image = synthesize(parse_pattern("photo"), shape, 4);
    const auto writer = make_writer(Format::png, shape);
    writer->write_rows(image.view());
    save(folder_.file(name), writer->finish().joined());
  }
  [[nodiscard]] Shape shape_of_file(const std::string& name) const {
    const std::vector<std::byte> bytes = load(folder_.file(name));
    return open_reader(bytes)->header().shape;
  }

  TemporaryFolder folder_;
};

TEST_F(GeometryCli, AnImageHasItsNewSizeAndTheReportItsSteps) {
  const RunResult run =
      run_imgpipe({folder_.file("in/large.png"), folder_.file("out.png"), "--stages",
                   "crop:30x20+4+3,rotate:90,flip", "--device", "cpu", "--cpu", "--keep-stages",
                   folder_.file("steps"), "--report", folder_.file("report.json")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(shape_of_file("out.png"), (Shape{20, 30, 3}));
  EXPECT_EQ(shape_of_file("steps/01_crop-30x20+4+3.png"), (Shape{30, 20, 3}));
  EXPECT_EQ(shape_of_file("steps/02_rotate-90.png"), (Shape{20, 30, 3}));
  for (const char* row : {"crop:30x20+4+3", "rotate:90", "flip"}) {
    EXPECT_NE(run.out.find(row), std::string::npos) << row << "\n" << run.out;
    EXPECT_NE(load_text(folder_.file("report.json")).find(row), std::string::npos) << row;
  }
}

TEST_F(GeometryCli, ARectangleOutsideIsOneLine) {
  const RunResult run = run_imgpipe(
      {folder_.file("in/small.png"), folder_.file("out.png"), "--stages", "crop:30x20", "--device", "cpu"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err,
            "imgpipe: " + folder_.file("in/small.png") + ": crop:30x20 of 20x30 pixels: outside the image\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out.png")));
}

// Of a batch it is that image's failure, and no other's.
TEST_F(GeometryCli, OfABatchOnlyTheImageThatIsTooSmallFails) {
  const RunResult run = run_imgpipe(
      {folder_.file("in"), folder_.file("out"), "--stages", "crop:30x20,flip:vertical", "--device", "cpu"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(shape_of_file("out/large.png"), (Shape{30, 20, 3}));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out/small.png")));
  EXPECT_NE(run.err.find("small.png: crop:30x20 of 20x30 pixels"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace imgpipe::test::geometry_cli_test
