// The CPU's windows over interleaved RGB, without split* and merge* (Target::interleaved): which lists they
// process, and their results on random images, compared with the reference, which processes planes.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/simd.h"
#include "kernels/stage.h"
#include "pipeline/chains.h"
#include "pipeline/engine.h"
#include "tests/support/float_chains.h"
#include "tests/support/images.h"

namespace imgpipe::test::rgb_windows_test {
namespace {

constexpr std::size_t kLists = 600;
constexpr Shape kRgb{8, 4, 3};

Plan plan_of(std::string_view list, const Shape& shape) {
  return make_plan(parse_stages(list), shape, false, std::int64_t{1} << 40);
}

// The stages of the nodes that the CPU runs.
std::string nodes_of(const ChainedPlan& plan) {
  std::string text;
  for (const Node& node : plan.program.nodes)
    text += (text.empty() ? "" : " ") + std::string(node.stage->name);
  return text;
}
std::string nodes(std::string_view list, const Shape& shape = kRgb, const Keep& keep = {}) {
  const Plan plan = plan_of(list, shape);
  return nodes_of(ChainedPlan(plan, true, keep));
}

TEST(RgbWindows, NeedNoPlanes) {
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    const Shape shape{8, 4, 3, sample};
    for (const std::string list : {"smooth", "median", "box", "erode", "dilate"})
      EXPECT_EQ(nodes(list, shape), list);
    EXPECT_EQ(nodes("median:5", shape), "median");
    for (const std::string resize : {"resize:5:2:nearest", "resize:5:2:linear", "resize:4:2:area"})
      EXPECT_EQ(nodes(resize, shape), "resize");
    EXPECT_EQ(nodes("median,invert,crop:4x2,flip,box:9", shape), "median invert crop flip box");
  }
  EXPECT_EQ(nodes("depth:16,smooth,depth:8,smooth"), "depth smooth depth smooth");
  EXPECT_EQ(nodes("smooth,gray"), "smooth gray");
}

TEST(RgbWindows, KeepPlanesForOtherSteps) {
  EXPECT_EQ(nodes("median:7"), "split median merge");
  EXPECT_EQ(nodes("dilate:64"), "split dilate merge");
  EXPECT_EQ(nodes("gauss:1,smooth").substr(0, 6), "split ");
  EXPECT_EQ(nodes("resize:5:2:area"), "split resize merge");
  EXPECT_EQ(nodes("resize:4:2:area", {8, 5, 3}), "split resize merge");
  EXPECT_EQ(nodes("depth:float,resize:5:2:linear,depth:8"), "depth split resize depth merge");
  EXPECT_EQ(nodes("smooth,gauss:1"), "split smooth gauss merge");
  EXPECT_EQ(nodes("smooth,hist"), "split smooth hist merge");
  EXPECT_EQ(nodes("depth:float,smooth,depth:8"), "depth split smooth depth merge");
  EXPECT_EQ(nodes("smooth", {8, 4, 1}), "smooth");
  EXPECT_EQ(nodes("smooth", {8, 4, 4}), "split smooth merge");
  EXPECT_EQ(nodes("smooth", kRgb, {.outputs = true}), "split smooth merge");
}

// Two lists read the output of smooth, or of its merge*.
TEST(RgbWindows, KeepPlanesForSeveralReaders) {
  const auto of_lists = [](const char* first, const char* second) {
    const Plan plan = make_branched_plan(std::vector<std::string_view>{first, second}, kRgb, 100);
    return nodes_of(ChainedPlan(plan, true, {}));
  };
  EXPECT_EQ(of_lists("smooth,median", "smooth,erode"), "split smooth median merge erode merge");
  EXPECT_EQ(of_lists("smooth", "smooth,gray"), "smooth gray");
}

TEST(RgbWindows, KeepPlanesOnDevicesAndInTheReference) {
  const Plan plan = plan_of("smooth", kRgb);
  for (const Target& target : {kReferenceTarget, kCpuTarget, kCudaTarget, kCudaBandsTarget})
    EXPECT_EQ(lower(plan, target).nodes.size(), 3U);
  const ChainedPlan on_device(plan, true, {}, ChainLength::longest_on_device);
  EXPECT_EQ(nodes_of(on_device), "split smooth merge");
}

template <class All>
auto any(Random& random, const All& all) {
  return all[static_cast<std::size_t>(below(random, std::ssize(all)))];
}

bool is_accepted(const std::string& list, const Shape& shape) {
  try {
    const Plan plan = plan_of(list, shape);
    return std::ranges::all_of(
        plan.operations, [](const Operation& one) { return one.out.pixels() <= std::int64_t{1} << 16; });
  } catch (const Error&) {
    return false;
  }
}

std::string random_list(Random& random, const Shape& shape) {
  static constexpr std::array<std::string_view, 5> kWindows{"smooth", "median", "box", "erode", "dilate"};
  static constexpr std::array<std::string_view, 6> kOthers{"invert", "crop",  "flip",
                                                           "levels", "depth", "pad"};
  std::string list;
  for (std::int64_t left = 1 + below(random, 3); left > 0; --left) {
    std::string step = random_step(random, *find_stage(any(random, kWindows)));
    if (list.empty() || below(random, 3) > 0) {
      if (below(random, 6) == 0)
        step = "resize:" + std::to_string(1 + below(random, 90)) + ":" +
               std::to_string(1 + below(random, 60)) +
               any(random, std::array<std::string, 2>{":nearest", ":linear"});
      else if (below(random, 3) == 0)
        step = any(random, std::array<std::string, 2>{"median:3", "median:5"});
    } else {
      step = random_step(random, *find_stage(any(random, kOthers)));
    }
    const std::string more = list.empty() ? step : list + "," + step;
    if (is_accepted(more, shape)) list = more;
  }
  return list.empty() ? "erode" : list;
}

TEST(RgbWindows, EqualThoseOfPlanes) {
  Random random(20261127);
  const std::unique_ptr<Engine> reference = make_reference_engine();
  const std::array<std::unique_ptr<Engine>, 2> cpu{make_cpu_engine(1), make_cpu_engine(3)};
  const std::vector<std::string> targets = simd_targets();
  std::size_t without_planes = 0;
  for (std::size_t i = 0; i < kLists; ++i) {
    use_simd(targets[i % targets.size()]);
    const Shape shape = random_shape(random, below(random, 2) == 0 ? Sample::u8 : Sample::u16, 3);
    const std::string list = random_list(random, shape);
    const FloatChain chain{list, shape, i};
    SCOPED_TRACE(chain.text());
    const Image image = noise_image(shape, random());
    const std::string made = nodes(list, shape);
    if (made.find("split") == std::string::npos) ++without_planes;
    const Image expected = made_by(*reference, chain, image, {"rows", 0, false, false});
    for (const std::unique_ptr<Engine>& engine : cpu) {
      for (const FloatRun& how : {FloatRun{"rows", 0, false, false}, FloatRun{"strips", 2, true, false}}) {
        SCOPED_TRACE(how.name);
        const Image got = made_by(*engine, chain, image, how);
        ASSERT_EQ(first_difference(expected.untyped_view(), got.untyped_view()), "");
      }
    }
  }
  use_simd("");
  EXPECT_GT(without_planes, kLists / 2);
}

// Chunks of columns, edges of which lie within a pixel or between two.
TEST(RgbWindows, EqualThoseOfPlanesInWideRows) {
  const std::unique_ptr<Engine> reference = make_reference_engine(), cpu = make_cpu_engine(1);
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (const std::int64_t width : {681, 682, 683, 1364, 1365, 1366, 2729}) {
      for (const Sample sample : {Sample::u8, Sample::u16}) {
        const Shape shape{width, 7, 3, sample};
        const Image image = noise_image(shape, static_cast<std::uint64_t>(width));
        for (const char* list :
             {"smooth", "smooth:gauss:border=reflect", "smooth:box:border=shrink", "median:3", "median:5",
              "box:1", "box:3:border=shrink", "box:9:border=reflect", "box:127", "erode:1", "dilate:2",
              "erode:63", "resize:1365:5:nearest", "resize:1365:5:linear", "resize:173:4:linear",
              "resize:25:2:linear", "resize:2731:11:linear"}) {
          const FloatChain chain{list, shape, 0};
          SCOPED_TRACE(chain.text() + " " + target);
          ASSERT_EQ(nodes(list, shape).find("split"), std::string::npos);
          const Image expected = made_by(*reference, chain, image, {"rows", 0, false, false});
          const Image got = made_by(*cpu, chain, image, {"rows", 0, false, false});
          ASSERT_EQ(first_difference(expected.untyped_view(), got.untyped_view()), "");
        }
      }
    }
  }
  use_simd("");
}

// Sums of 2 x 2 pixels: whole vectors, and what follows the last one.
TEST(RgbWindows, HalveAsPlanes) {
  const std::unique_ptr<Engine> reference = make_reference_engine(), cpu = make_cpu_engine(1);
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (std::int64_t width = 1; width <= 40; ++width) {
      for (const Sample sample : {Sample::u8, Sample::u16}) {
        const Shape shape{2 * width, 6, 3, sample};
        const Image image = noise_image(shape, static_cast<std::uint64_t>(width));
        for (const char* method : {":linear", ":area"}) {
          const FloatChain chain{"resize:" + std::to_string(width) + ":3" + method, shape, 0};
          SCOPED_TRACE(chain.text() + " " + target);
          ASSERT_EQ(nodes(chain.list, shape), "resize");
          const Image expected = made_by(*reference, chain, image, {"rows", 0, false, false});
          const Image got = made_by(*cpu, chain, image, {"rows", 0, false, false});
          ASSERT_EQ(first_difference(expected.untyped_view(), got.untyped_view()), "");
        }
      }
    }
  }
  use_simd("");
}

}  // namespace
}  // namespace imgpipe::test::rgb_windows_test
