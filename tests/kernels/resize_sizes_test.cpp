// The output sizes of the stage resize, and the rows that it needs.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/resize/resize.h"
#include "kernels/stage.h"
#include "kernels/table/stage_parameters.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::resize_sizes_test {
namespace {

using Sides = std::pair<std::int64_t, std::int64_t>;
constexpr ResizeMethod kMethods[] = {ResizeMethod::linear, ResizeMethod::area, ResizeMethod::nearest};

std::string name_of(ResizeMethod method) {
  return std::string(kResizeMethodNames[static_cast<std::size_t>(method)]);
}

Parameters parameters_of(std::int64_t width, std::int64_t height, ResizeMethod method = ResizeMethod::linear,
                         ResizeFit fit = ResizeFit::exact) {
  Parameters parameters;
  parameters.values = {width, height, static_cast<std::int64_t>(method), static_cast<std::int64_t>(fit)};
  return parameters;
}

// ---- needed rows -------------------------------------------------------------------------------------

std::vector<Sample8> resized(const std::vector<Sample8>& column, const Parameters& parameters) {
  const FrameType type{1, std::ssize(column)};
  std::vector<std::byte> table =
      table_for(*find_stage("resize"), {.in = {type, {}}, .parameters = parameters});
  StageCall<Host> call;
  call.in.type = type;
  call.out.type = resize_output(type, parameters);
  std::vector<Sample8> made(static_cast<std::size_t>(call.out.type.height));
  call.in.planes[0] = ConstHostPlane{column.data(), 1, type.height, 1, 1};
  call.out.planes[0] = HostPlane{made.data(), 1, call.out.type.height, 1, 1};
  call.parameters = parameters;
  call.table = {table.data(), std::ssize(table)};
  resize_reference(call);
  return made;
}

// Returns the input rows that affect each output row: each of them, as the only white row, makes it
// non-black. At these sizes no weight is so small that white becomes 0.
std::vector<std::set<std::int64_t>> rows_that_matter(std::int64_t in_height, const Parameters& parameters) {
  std::vector<std::set<std::int64_t>> rows(
      static_cast<std::size_t>(resize_output({1, in_height}, parameters).height));
  for (std::int64_t i = 0; i < in_height; ++i) {
    std::vector<Sample8> column(static_cast<std::size_t>(in_height));
    column[static_cast<std::size_t>(i)] = kMaxSample;
    const std::vector<Sample8> made = resized(column, parameters);
    for (std::size_t y = 0; y < made.size(); ++y) {
      if (made[y] != 0) rows[y].insert(i);
    }
  }
  return rows;
}

TEST(Resize, NeedsExactlyTheContributingRows) {
  for (const auto& [in_height, height] : std::vector<Sides>{{1, 1},
                                                            {1, 6},
                                                            {6, 1},
                                                            {2, 3},
                                                            {3, 2},
                                                            {17, 5},
                                                            {5, 17},
                                                            {12, 4},
                                                            {4, 12},
                                                            {13, 11},
                                                            {7, 32},
                                                            {32, 7}}) {
    for (const ResizeMethod method : kMethods) {
      const FrameType type{1, in_height};
      const Parameters parameters = parameters_of(1, height, method);
      const std::vector<std::set<std::int64_t>> matter = rows_that_matter(in_height, parameters);
      for (std::int64_t first = 0; first < height; ++first) {
        std::set<std::int64_t> rows;
        for (std::int64_t end = first + 1; end <= height; ++end) {
          std::ranges::copy(matter[static_cast<std::size_t>(end - 1)], std::inserter(rows, rows.end()));
          SCOPED_TRACE(std::to_string(in_height) + " to " + std::to_string(height) + " " + name_of(method) +
                       " rows " + std::to_string(first) + ".." + std::to_string(end - 1));
          const RowRange needed = resize_needs(type, parameters, {first, end});
          // `nearest` may need up to two rows more on either side, because its positions are sums of steps.
          const std::int64_t more = method == ResizeMethod::nearest ? 2 : 0;
          EXPECT_LE(needed.first, *rows.begin());
          EXPECT_GE(needed.first, *rows.begin() - more);
          EXPECT_GE(needed.end, *rows.rbegin() + 1);
          EXPECT_LE(needed.end, *rows.rbegin() + 1 + more);
        }
      }
    }
  }
}

TEST(Resize, NeededRowsIncreaseAndStayInside) {
  for (const auto& [in_height, height] : std::vector<Sides>{{1, 9},
                                                            {9, 1},
                                                            {2, 9001},
                                                            {9001, 2},
                                                            {1000, 999},
                                                            {999, 1000},
                                                            {49, 256},
                                                            {640, 480},
                                                            {128, 160}}) {
    for (const ResizeMethod method : kMethods) {
      SCOPED_TRACE(std::to_string(in_height) + " to " + std::to_string(height) + " " + name_of(method));
      const FrameType type{3, in_height};
      const Parameters parameters = parameters_of(5, height, method);
      RowRange before{0, 0};
      for (std::int64_t y = 0; y < height; ++y) {
        const RowRange rows = resize_needs(type, parameters, {y, y + 1});
        ASSERT_LE(before.first, rows.first);
        ASSERT_LE(before.end, rows.end);
        ASSERT_LT(rows.first, rows.end);
        ASSERT_LE(rows.end, in_height);
        ASSERT_EQ(resize_needs(type, parameters, {0, y + 1}).end, rows.end);
        ASSERT_EQ(resize_needs(type, parameters, {y, height}).first, rows.first);
        ASSERT_EQ(resize_needs(type, parameters, {y, y}).count(), 0);
        before = rows;
      }
    }
  }
}

// ---- sizes ------------------------------------------------------------------------------------------

Sides size_of(std::int64_t in_width, std::int64_t in_height, std::int64_t width, std::int64_t height,
              ResizeFit fit = ResizeFit::exact) {
  const FrameType out =
      resize_output({in_width, in_height}, parameters_of(width, height, ResizeMethod::linear, fit));
  return {out.width, out.height};
}

TEST(Resize, DerivesASideFromTheProportions) {
  EXPECT_EQ(size_of(640, 480, 320, 100), Sides(320, 100));
  EXPECT_EQ(size_of(640, 480, 320, 0), Sides(320, 240));
  EXPECT_EQ(size_of(640, 480, 0, 120), Sides(160, 120));
  EXPECT_EQ(size_of(4, 3, 2, 0), Sides(2, 2));         // 1.5
  EXPECT_EQ(size_of(1000, 3, 100, 0), Sides(100, 1));  // 0.3
  EXPECT_EQ(size_of(1000, 1, 10, 0), Sides(10, 1));    // 0.01
  EXPECT_EQ(size_of(3, 2'000'000'000, 1'000'000, 0), Sides(1'000'000, 2147483647));
}

TEST(Resize, InsideKeepsProportionsAndFits) {
  EXPECT_EQ(size_of(640, 480, 100, 100, ResizeFit::inside), Sides(100, 75));
  EXPECT_EQ(size_of(480, 640, 100, 100, ResizeFit::inside), Sides(75, 100));
  EXPECT_EQ(size_of(640, 480, 0, 120, ResizeFit::inside), Sides(160, 120));
  EXPECT_EQ(size_of(10, 10, 1000, 300, ResizeFit::inside), Sides(300, 300));
  EXPECT_EQ(size_of(1000, 1, 50, 50, ResizeFit::inside), Sides(50, 1));
  for (std::int64_t in_width = 1; in_width < 40; ++in_width) {
    for (std::int64_t in_height = 1; in_height < 40; ++in_height) {
      for (const auto& [width, height] : std::vector<Sides>{{1, 1}, {7, 19}, {19, 7}, {32, 32}, {64, 3}}) {
        const auto [w, h] = size_of(in_width, in_height, width, height, ResizeFit::inside);
        ASSERT_TRUE(w >= 1 && h >= 1 && w <= width && h <= height && (w == width || h == height))
            << in_width << "x" << in_height << " in " << width << "x" << height << ": " << w << "x" << h;
      }
    }
  }
}

// Returns a share of a side: floor(side * percent / 100 + 1/2) in integers, at least 1.
std::int64_t expected_share(std::int64_t side, std::int64_t percent) {
  return std::max<std::int64_t>(1, (side * percent + 50 * kDecimalOne) / (100 * kDecimalOne));
}

TEST(Resize, PercentIsRoundedHalfUp) {
  const auto sides = [](std::int64_t width, std::int64_t height, std::int64_t percent) {
    Parameters parameters;
    parameters.values[6] = percent;
    const FrameType out = resize_output({width, height}, parameters);
    return Sides(out.width, out.height);
  };
  EXPECT_EQ(sides(640, 481, 50 * kDecimalOne), Sides(320, 241));
  EXPECT_EQ(sides(4, 12, kDecimalOne * 25 / 2), Sides(1, 2));  // 0.5 and 1.5
  EXPECT_EQ(sides(1, 3, 1), Sides(1, 1));
  EXPECT_EQ(sides(7, 9, 100 * kDecimalOne), Sides(7, 9));
  EXPECT_EQ(sides(2'000'000'000, 1, kMaxResizePercent), Sides(2'147'483'647, 1000));
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto side = static_cast<std::int64_t>(1 + random() % 100'000);
    const auto percent = static_cast<std::int64_t>(1 + random() % (400 * kDecimalOne));
    ASSERT_EQ(sides(side, 1, percent).first, expected_share(side, percent)) << side << " by " << percent;
  }
}

TEST(Resize, CoverAndContainSizes) {
  EXPECT_EQ(size_of(640, 480, 100, 100, ResizeFit::cover), Sides(100, 100));
  EXPECT_EQ(size_of(640, 480, 100, 100, ResizeFit::contain), Sides(100, 75));
  EXPECT_EQ(size_of(4, 3, 2, 2, ResizeFit::contain), Sides(2, 2));     // 1.5, to even
  EXPECT_EQ(size_of(4, 1, 10, 10, ResizeFit::contain), Sides(10, 2));  // 2.5, to even
  EXPECT_EQ(size_of(1000, 1, 50, 50, ResizeFit::contain), Sides(50, 1));
}

TEST(Resize, ProblemsAndNoOps) {
  EXPECT_NE(resize_problem(parameters_of(0, 0)), "");
  EXPECT_EQ(resize_problem(parameters_of(0, 1)), "");
  EXPECT_EQ(resize_problem(parameters_of(1, 0, ResizeMethod::linear, ResizeFit::inside)), "");
  EXPECT_NE(resize_skip_reason({6, 4}, parameters_of(6, 4, ResizeMethod::area)), "");
  EXPECT_NE(resize_skip_reason({6, 4}, parameters_of(0, 4, ResizeMethod::area)), "");
  EXPECT_NE(resize_skip_reason({6, 4}, parameters_of(9, 4, ResizeMethod::area, ResizeFit::inside)), "");
  EXPECT_EQ(resize_skip_reason({6, 4}, parameters_of(9, 4, ResizeMethod::area)), "");
  EXPECT_NE(resize_skip_reason({6, 4}, parameters_of(6, 9, ResizeMethod::area, ResizeFit::contain)), "");
  EXPECT_NE(resize_skip_reason({6, 4}, parameters_of(6, 4, ResizeMethod::bicubic, ResizeFit::cover)), "");
  EXPECT_EQ(resize_skip_reason({6, 4}, parameters_of(4, 4, ResizeMethod::bicubic, ResizeFit::cover)), "");
}

}  // namespace
}  // namespace imgpipe::test::resize_sizes_test
