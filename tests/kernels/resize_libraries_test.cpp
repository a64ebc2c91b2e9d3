// Sizes by the rules of Pillow, torchvision and transformers, against sizes that these libraries computed
// (tests/peers/resize_sizes.py).
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "kernels/resize/resize.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test::resize_libraries_test {
namespace {

// The sides and edges of a case: `small` < `large`.
struct Given {
  std::int64_t small = 0, large = 0;
};

Parameters parameters_of(std::int64_t shortest, std::int64_t longest, ResizeSizes sizes) {
  Parameters parameters;
  parameters.values[4] = shortest;
  parameters.values[5] = longest;
  parameters.values[8] = static_cast<std::int64_t>(sizes);
  return parameters;
}

Parameters parameters_of(const Given& given, ResizeFit fit) {
  return {{given.small, given.large, static_cast<std::int64_t>(ResizeMethod::bicubic),
           static_cast<std::int64_t>(fit)}};
}

// Returns the parameters of the ten sizes of a line, in its order.
std::array<Parameters, 10> sizes_in_line(const Given& given) {
  std::array<Parameters, 10> all;
  std::size_t i = 0;
  for (const auto sizes : {ResizeSizes::transformers, ResizeSizes::torchvision, ResizeSizes::pillow}) {
    all[i++] = parameters_of(given.small, 0, sizes);
    all[i++] = parameters_of(0, given.large, sizes);
    all[i++] = parameters_of(given.small, given.large, sizes);
  }
  all[i] = parameters_of(given, ResizeFit::contain);
  return all;
}

// Reads hexadecimal floats, too.
float next_float(std::istream& line) {
  std::string text;
  line >> text;
  return std::strtof(text.c_str(), nullptr);
}

TEST(ResizeLibraries, SizesAndBoxesAreEqual) {
  std::ifstream file(std::filesystem::path(kSourceDirectory) / "tests/kernels/resize_sizes.txt");
  std::string text;
  int cases = 0;
  for (; std::getline(file, text); ++cases) {
    SCOPED_TRACE("in resize_sizes.txt: " + text);
    std::istringstream line(text);
    FrameType in;
    Given given;
    line >> in.width >> in.height >> given.small >> given.large;
    for (const Parameters& parameters : sizes_in_line(given)) {
      ASSERT_EQ(resize_problem(parameters), "");
      const FrameType out = resize_output(in, parameters);
      std::int64_t width = 0;
      std::int64_t height = 0;
      line >> width >> height;
      ASSERT_TRUE(out.width == width && out.height == height)
          << "shortest=" << parameters[4] << ":longest=" << parameters[5] << ":sizes=" << parameters[8]
          << ": " << out.width << "x" << out.height << ", not " << width << "x" << height;
    }
    const Resampling cover = resampling_of(in, parameters_of(given, ResizeFit::cover));
    ASSERT_EQ(cover.across.out, given.small);
    ASSERT_EQ(cover.down.out, given.large);
    ASSERT_EQ(cover.across.from, next_float(line));
    ASSERT_EQ(cover.down.from, next_float(line));
    ASSERT_EQ(cover.across.to, next_float(line));
    ASSERT_EQ(cover.down.to, next_float(line));
    ASSERT_TRUE(line);
  }
  EXPECT_EQ(cases, 300);
}

}  // namespace
}  // namespace imgpipe::test::resize_libraries_test
