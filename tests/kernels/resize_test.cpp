// The stage resize beyond the tests of every stage: sizes, OpenCV's values, bands without a spare row.
#include "kernels/resize/resize.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/simd.h"
#include "kernels/stage.h"
#include "kernels/table/stage_parameters.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::resize_test {
namespace {

using Grid = std::vector<std::vector<std::int64_t>>;  // samples by row and column

struct Geometry {
  std::int64_t in_width, in_height, width, height;
};

std::string text_of(const Geometry& g) {
  return std::to_string(g.in_width) + "x" + std::to_string(g.in_height) + " to " + std::to_string(g.width) +
         "x" + std::to_string(g.height);
}

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> all{
      {1, 1, 1, 2},     {1, 1, 9, 7},     {9, 7, 1, 1},       {1, 17, 1, 5},      {1, 5, 3, 17},
      {17, 1, 5, 1},    {5, 1, 17, 3},    {2, 2, 1, 1},       {2, 2, 3, 3},       {3, 3, 2, 2},
      {4, 4, 2, 2},     {37, 23, 29, 31}, {29, 31, 37, 23},   {64, 32, 32, 16},   {32, 16, 64, 32},
      {130, 6, 65, 3},  {65, 33, 64, 32}, {64, 32, 65, 33},   {63, 64, 7, 8},     {63, 64, 9, 16},
      {7, 8, 63, 64},   {60, 40, 40, 60}, {9, 36, 9, 4},      {36, 9, 4, 9},      {36, 9, 36, 10},
      {9, 36, 10, 36},  {7, 5, 256, 512}, {49, 3, 256, 1},    {98, 49, 2, 1},     {128, 147, 160, 160},
      {9001, 3, 1, 2},  {9001, 2, 4, 3},  {2, 2, 9001, 3},    {5003, 1, 4999, 1}, {8192, 4, 4096, 2},
      {1, 9001, 2, 4},  {3, 700, 2, 1},   {5000, 33, 50, 11}, {12, 600, 5, 2},    {4099, 2, 3, 2},
      {16384, 2, 2, 1}, {10, 3, 5000, 2}, {255, 257, 85, 1},  {66, 66, 33, 22},   {100, 100, 99, 101},
  };
  return all;
}

const std::vector<std::string> kMethods(kResizeMethodNames.begin(), kResizeMethodNames.end());
const std::vector<std::string> kContents{"zeros", "full", "two_valued", "ramp", "noise"};

Sample8 sample_of(const std::string& content, std::int64_t x, std::int64_t y, std::uint32_t& state) {
  state = state * 1664525U + 1013904223U;
  if (content == "zeros") return 0;
  if (content == "full") return kMaxSample;
  if (content == "two_valued") return state >> 31 == 0 ? 0 : kMaxSample;
  if (content == "ramp") return static_cast<Sample8>(3 * x + 5 * y);
  return static_cast<Sample8>(state >> 24);
}

Grid picture(const Geometry& g, const std::string& content, std::uint32_t seed) {
  Grid grid(static_cast<std::size_t>(g.in_height));
  std::uint32_t state = seed;
  for (std::int64_t y = 0; y < g.in_height; ++y) {
    for (std::int64_t x = 0; x < g.in_width; ++x)
      grid[static_cast<std::size_t>(y)].push_back(sample_of(content, x, y, state));
  }
  return grid;
}

// Makes the source image of the OpenCV results below.
Grid opencv_picture(std::int64_t width, std::int64_t height) {
  Grid grid(static_cast<std::size_t>(height));
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x)
      grid[static_cast<std::size_t>(y)].push_back((x * 37 + y * 91 + x * y * 13) % 256);
  }
  return grid;
}

Parameters parameters_of(std::int64_t width, std::int64_t height, const std::string& method) {
  Parameters parameters = presets(kResizeParameters);
  parameters.values[0] = width;
  parameters.values[1] = height;
  parameters.values[2] = std::ranges::find(kMethods, method) - kMethods.begin();
  return parameters;
}

std::vector<std::byte> weights_of(const FrameType& type, const Parameters& parameters) {
  return table_for(*find_stage("resize"), {.in = {type, {}}, .parameters = parameters});
}

FrameType type_of(const Grid& grid) {
  return {static_cast<std::int64_t>(grid[0].size()), static_cast<std::int64_t>(grid.size())};
}

// Returns some rows in memory of exactly that size, so that a sanitizer detects accesses beyond them.
std::vector<Sample8> samples_of(const Grid& grid, const RowRange& rows) {
  std::vector<Sample8> samples;
  samples.reserve(static_cast<std::size_t>(rows.count()) * grid[0].size());
  for (std::int64_t y = rows.first; y < rows.end; ++y) {
    for (const std::int64_t value : grid[static_cast<std::size_t>(y)])
      samples.push_back(static_cast<Sample8>(value));
  }
  return samples;
}

// Resizes one plane in bands of a given number of rows; with 0 rows, uses the reference in one call.
class Resizing {
 public:
  Resizing(const Grid& in, const Parameters& parameters)
      : in_(in),
        parameters_(parameters),
        type_(type_of(in)),
        out_type_(resize_output(type_, parameters)),
        table_(weights_of(type_, parameters)) {}

  [[nodiscard]] Grid run(std::int64_t band_rows) {
    Grid out;
    const std::int64_t step = band_rows == 0 ? out_type_.height : band_rows;
    for (std::int64_t first = 0; first < out_type_.height; first += step) {
      const RowRange made{first, std::min(out_type_.height, first + step)};
      const RowRange needed =
          band_rows == 0 ? RowRange{0, type_.height} : resize_needs(type_, parameters_, made);
      std::vector<Sample8> from = samples_of(in_, needed);
      std::vector<Sample8> to(static_cast<std::size_t>(made.count() * out_type_.width), 99);
      StageCall<Host> call;
      call.in.type = type_;
      call.out.type = out_type_;
      call.in.planes[0] = ConstHostPlane{from.data(), type_.width, needed.count(), type_.width, 1};
      call.out.planes[0] = HostPlane{to.data(), out_type_.width, made.count(), out_type_.width, 1};
      call.parameters = parameters_;
      call.table = {table_.data(), static_cast<std::int64_t>(table_.size())};
      if (band_rows == 0) {
        resize_reference(call);
      } else {
        resize_cpu(call, {made.first, made.end, needed.first, made.first});
      }
      for (std::int64_t y = 0; y < made.count(); ++y) {
        const auto row = to.begin() + y * out_type_.width;
        out.emplace_back(row, row + out_type_.width);
      }
    }
    return out;
  }

 private:
  const Grid& in_;
  Parameters parameters_;
  FrameType type_, out_type_;
  std::vector<std::byte> table_;
};

std::string difference(const Grid& expected, const Grid& got) {
  if (expected.size() != got.size() || expected[0].size() != got[0].size()) return "the sizes differ";
  for (std::size_t y = 0; y < expected.size(); ++y) {
    for (std::size_t x = 0; x < expected[y].size(); ++x) {
      if (expected[y][x] != got[y][x]) {
        return "x=" + std::to_string(x) + " y=" + std::to_string(y) + ": expected " +
               std::to_string(expected[y][x]) + ", got " + std::to_string(got[y][x]);
      }
    }
  }
  return "";
}

// ---- pixels -----------------------------------------------------------------------------------------

TEST(Resize, CpuEqualsTheReferenceByBandsOnEveryTarget) {
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    ASSERT_EQ(simd_target(), target);
    for (const Geometry& g : geometries()) {
      for (const std::string& method : kMethods) {
        const Grid in = picture(g, "noise", 42);
        Resizing resizing(in, parameters_of(g.width, g.height, method));
        const Grid expected = resizing.run(0);
        for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, std::int64_t{5}, g.height}) {
          SCOPED_TRACE(text_of(g) + " " + method + " " + target + ", bands of " + std::to_string(rows));
          ASSERT_EQ(difference(expected, resizing.run(rows)), "");
        }
      }
    }
  }
  use_simd("");
}

TEST(Resize, CpuEqualsTheReferenceForManySizes) {
  std::uint32_t state = 20261121;
  const auto next = [&state](std::uint32_t most) {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::int64_t>((state >> 16) % most + 1);
  };
  for (int i = 0; i < 1500; ++i) {
    const Geometry g{next(70), next(70), next(70), next(70)};
    const std::string& method = kMethods[static_cast<std::size_t>(i) % kMethods.size()];
    const std::string& content = kContents[static_cast<std::size_t>(next(5) - 1)];
    SCOPED_TRACE(text_of(g) + " " + method + " " + content + " " + std::to_string(i));
    const Grid in = picture(g, content, state);
    Resizing resizing(in, parameters_of(g.width, g.height, method));
    const Grid expected = resizing.run(0);
    ASSERT_EQ(difference(expected, resizing.run(next(9))), "");
  }
}

// Sums that exceed 32 bits.
TEST(Resize, MeanOfVeryManyPixels) {
  const Geometry g{5003, 4001, 1, 1};
  const Grid in = picture(g, "full", 1);
  Resizing resizing(in, parameters_of(1, 1, "area"));
  EXPECT_EQ(resizing.run(0), (Grid{{kMaxSample}}));
  EXPECT_EQ(resizing.run(1), (Grid{{kMaxSample}}));
}

// A column whose sum exceeds 32 bits.
TEST(Resize, MeanOfAVeryTallColumn) {
  constexpr std::int64_t kRows = 17'000'001;  // odd: both halves share a row
  std::vector<Sample8> from(kRows, 254);
  from.back() = 0;
  from[kRows / 2] = kMaxSample;
  const FrameType type{1, kRows};
  const Parameters parameters = parameters_of(1, 2, "area");
  std::vector<std::byte> table = weights_of(type, parameters);
  std::vector<Sample8> to(2, 0);
  StageCall<Host> call;
  call.in.type = type;
  call.out.type = resize_output(type, parameters);
  call.in.planes[0] = ConstHostPlane{from.data(), 1, kRows, 1, 1};
  call.out.planes[0] = HostPlane{to.data(), 1, 2, 1, 1};
  call.parameters = parameters;
  call.table = {table.data(), static_cast<std::int64_t>(table.size())};
  resize_cpu(call, {0, 2, 0, 0});
  EXPECT_EQ(to, (std::vector<Sample8>{254, 254}));
}

// ---- OpenCV -----------------------------------------------------------------------------------------

// Made with cv2 5.0.0 (4.12.0 gives the same for linear and area): h = 2166136261, and for each byte v of
//   cv2.resize(picture, (width, height), interpolation=M).tobytes()
// h = (h ^ v) * 16777619 % 2**32, with M = INTER_LINEAR_EXACT, INTER_NEAREST_EXACT or INTER_AREA.
struct OpenCvRow {
  std::int64_t in_width, in_height, width, height;
  const char* method;
  std::uint32_t hash;
};

const OpenCvRow kOpenCvRows[] = {
    {1, 1, 5, 3, "linear", 0x05537A07},         {1, 1, 5, 3, "nearest", 0x05537A07},
    {5, 4, 7, 6, "linear", 0xFAC31401},         {5, 4, 7, 6, "nearest", 0x79CF0140},
    {7, 6, 5, 4, "linear", 0x38B790B3},         {7, 6, 5, 4, "nearest", 0x14E173C1},
    {13, 11, 3, 2, "linear", 0xDE165B71},       {13, 11, 3, 2, "nearest", 0x0A1B993B},
    {3, 2, 13, 11, "linear", 0x4FBF7FFF},       {3, 2, 13, 11, "nearest", 0x0971AD5A},
    {64, 64, 63, 65, "linear", 0x682C2AE0},     {64, 64, 63, 65, "nearest", 0xA99D2B47},
    {16, 9, 256, 9, "linear", 0x6F9FB143},      {16, 9, 256, 9, "nearest", 0xF9D7CCC5},
    {7, 5, 256, 512, "linear", 0xF7E568D7},     {7, 5, 256, 512, "nearest", 0xA41AC9B5},
    {49, 3, 256, 1, "linear", 0xA642308C},      {49, 3, 256, 1, "nearest", 0x0BBBF885},
    {100, 1, 33, 1, "linear", 0x2CBED7FB},      {100, 1, 33, 1, "nearest", 0x5A19838D},
    {1, 100, 1, 33, "linear", 0x91C2F0E6},      {1, 100, 1, 33, "nearest", 0xC02BB1B9},
    {500, 2, 1024, 3, "linear", 0xDDD8AC3F},    {500, 2, 1024, 3, "nearest", 0xA72060FD},
    {40, 30, 20, 15, "linear", 0x501623ED},     {40, 30, 20, 15, "nearest", 0x87CDD089},
    {37, 41, 20, 41, "linear", 0x19271A57},     {37, 41, 20, 41, "nearest", 0x25EBC7FD},
    {4000, 3, 123, 2, "linear", 0x909E6A2E},    {4000, 3, 123, 2, "nearest", 0xAB66803F},
    {123, 2, 4000, 3, "linear", 0x3F21B290},    {123, 2, 4000, 3, "nearest", 0x4A835361},
    {128, 147, 160, 160, "linear", 0x12760853}, {128, 147, 160, 160, "nearest", 0x92A42093},
    {10, 10, 192, 192, "linear", 0x8C64FC0A},   {10, 10, 192, 192, "nearest", 0xDF3F4DE9},
    {10, 8, 5, 4, "area", 0xE1D2DD89},          {66, 34, 33, 17, "area", 0x1F2ECBC2},
    {21, 15, 7, 5, "area", 0xB2D2187C},         {9, 18, 9, 9, "area", 0xFB8E5B11},
    {18, 9, 9, 9, "area", 0x15E8C75D},          {44, 12, 11, 3, "area", 0xB6B1ECAC},
    {65, 45, 13, 9, "area", 0x3F444B99},        {20, 12, 4, 4, "area", 0xC903D15B},
    {42, 42, 7, 7, "area", 0x2AEE025F},         {64, 80, 4, 5, "area", 0x07FACC1B},
    {42, 72, 6, 6, "area", 0x2063BC68},         {93, 66, 3, 2, "area", 0xE0A8A14C},
    {200, 140, 2, 2, "area", 0x03727D37},       {1803, 1, 3, 1, "area", 0x817FBF54},
    {1, 1803, 1, 3, "area", 0x8089EDEF},        {8200, 6, 2, 3, "area", 0xB60FE663},
    {192, 80, 8, 8, "area", 0x9788DFC0},
};

TEST(Resize, EqualsOpenCv) {
  for (const OpenCvRow& row : kOpenCvRows) {
    SCOPED_TRACE(text_of({row.in_width, row.in_height, row.width, row.height}) + " " + row.method);
    const Grid in = opencv_picture(row.in_width, row.in_height);
    std::uint32_t hash = 2166136261U;
    for (const auto& line : Resizing(in, parameters_of(row.width, row.height, row.method)).run(0)) {
      for (const std::int64_t value : line) hash = (hash ^ static_cast<std::uint32_t>(value)) * 16777619U;
    }
    EXPECT_EQ(hash, row.hash);
  }
}

// cv2.resize(picture, (7, 3), interpolation=cv2.INTER_LINEAR_EXACT), INTER_NEAREST_EXACT, of 5x4; and
// cv2.resize(picture, (2, 2), interpolation=cv2.INTER_AREA), (4, 2), of 8x4.
TEST(Resize, OpenCvSamples) {
  const Grid small = opencv_picture(5, 4);
  EXPECT_EQ(Resizing(small, parameters_of(7, 3, "linear")).run(0), (Grid{{15, 38, 66, 94, 122, 131, 129},
                                                                         {137, 169, 173, 122, 162, 147, 107},
                                                                         {45, 87, 127, 149, 202, 163, 84}}));
  EXPECT_EQ(Resizing(small, parameters_of(7, 3, "nearest")).run(0), (Grid{{0, 37, 37, 74, 111, 111, 148},
                                                                          {182, 245, 245, 52, 115, 115, 178},
                                                                          {17, 93, 93, 169, 245, 245, 65}}));
  const Grid wide = opencv_picture(8, 4);
  EXPECT_EQ(Resizing(wide, parameters_of(2, 2, "area")).run(0), (Grid{{111, 125}, {140, 130}}));
  EXPECT_EQ(Resizing(wide, parameters_of(4, 2, "area")).run(0),
            (Grid{{67, 154, 113, 136}, {134, 145, 156, 103}}));
}

// For 4x2 pixels halves round to even: 4/8 = 0.5 becomes 0, 12/8 = 1.5 becomes 2. For 2x2 they round up.
TEST(Resize, HalvesAreRoundedLikeOpenCv) {
  const Grid in{{1, 1, 0, 0, 3, 3, 0, 0}, {1, 1, 0, 0, 3, 3, 0, 0}};
  EXPECT_EQ(Resizing(in, parameters_of(2, 1, "area")).run(0), (Grid{{0, 2}}));
  EXPECT_EQ(Resizing({{1, 1}, {0, 0}}, parameters_of(1, 1, "area")).run(0), (Grid{{1}}));
}

TEST(Resize, AreaEnlargementByWholeFactorsRepeatsPixels) {
  EXPECT_EQ(Resizing({{7, 200}}, parameters_of(4, 2, "area")).run(0),
            (Grid{{7, 7, 200, 200}, {7, 7, 200, 200}}));
}

// Only the size changes, and alpha is a plane like the others; not for filters.
TEST(Resize, ColourAndAlphaPlanes) {
  const Geometry g{13, 9, 5, 11};
  FrameType type{g.in_width, g.in_height, 3, true};
  for (const std::string method : {"linear", "area", "nearest"}) {
    const Parameters parameters = parameters_of(g.width, g.height, method);
    const FrameType out_type = resize_output(type, parameters);
    EXPECT_EQ(out_type, (FrameType{g.width, g.height, 3, true}));
    std::vector<std::byte> table = weights_of(type, parameters);
    for (const bool on_cpu : {false, true}) {
      StageCall<Host> call;
      call.in.type = type;
      call.out.type = out_type;
      call.parameters = parameters;
      call.table = {table.data(), static_cast<std::int64_t>(table.size())};
      std::vector<std::vector<Sample8>> in;
      std::vector<std::vector<Sample8>> out(
          4, std::vector<Sample8>(static_cast<std::size_t>(g.width * g.height)));
      for (std::size_t i = 0; i < 4; ++i)
        in.push_back(samples_of(picture(g, "noise", static_cast<std::uint32_t>(i)), {0, g.in_height}));
      for (std::size_t i = 0; i < 4; ++i) {
        call.in.planes[i] = ConstHostPlane{in[i].data(), g.in_width, g.in_height, g.in_width, 1};
        call.out.planes[i] = HostPlane{out[i].data(), g.width, g.height, g.width, 1};
      }
      if (on_cpu) {
        resize_cpu(call, {0, g.height, 0, 0});
      } else {
        resize_reference(call);
      }
      for (std::size_t i = 0; i < 4; ++i) {
        const Grid plane = picture(g, "noise", static_cast<std::uint32_t>(i));
        EXPECT_EQ(out[i], samples_of(Resizing(plane, parameters).run(0), {0, g.height}))
            << method << " plane " << i;
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::resize_test
