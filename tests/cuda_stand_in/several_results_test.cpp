// Several results of one decoded image, by every route through the CUDA engine, on a stand-in for the
// runtime: all results reach the host, however little memory the device has. Kernels do nothing, so only a
// result that is the decoded image has pixels.
#ifdef IMGPIPE_TEST_CUDA

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "pipeline/engine.h"
#include "pipeline/lane.h"
#include "tests/cuda_stand_in/stand_in_runtime.h"
#include "tests/support/images.h"

namespace imgpipe::test::several_results_test {
namespace {

constexpr std::size_t kMuch = std::size_t{1} << 40;
constexpr Shape kShape{300, 200, 3};

class SeveralResults : public testing::Test {
 protected:
  SeveralResults() {
    runtime.reset();
    runtime.mode = StandInMode::runs;
    runtime.free_bytes = kMuch;
    runtime.max_pinned = kMuch;
  }
  ~SeveralResults() override { runtime.reset(); }
};

struct Scenario {
  std::int64_t limit = 0;    // of the device's memory
  std::int64_t failing = 0;  // this allocation and all after it fail; 0: none
  bool coded = false;        // the image is a JPEG, which the device decodes
  bool intact = true;        // false: the device finds damage in the JPEG
  bool writes = false;       // encodes the last result as PNG
  std::int64_t repeat = 0;

  [[nodiscard]] std::string text() const {
    return "limit " + std::to_string(limit) + ", failing " + std::to_string(failing) +
           (coded ? intact ? ", a JPEG" : ", a damaged JPEG" : "") + (writes ? ", to PNG" : "") +
           ", repeat " + std::to_string(repeat);
  }
};

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  for (const bool coded : {false, true}) {
    for (const bool writes : {false, true}) {
      for (const std::int64_t limit : {0, 300'000, 1'000'000})
        all.push_back({.limit = limit, .coded = coded, .writes = writes});
      for (std::int64_t failing = 1; failing <= 4; ++failing)
        all.push_back({.failing = failing, .coded = coded, .writes = writes});
    }
    all.push_back({.coded = coded, .repeat = 2});
  }
  all.push_back({.coded = true, .intact = false});
  return all;
}

const Image& image() {
  static const Image made = synthesize(parse_pattern("photo"), kShape, 7);
  return made;
}

// The image as a JPEG, and the pixels that the host decodes from it.
struct Coded {
  std::vector<std::byte> file;
  Image pixels{kShape};
};

const Coded& coded_image() {
  static const Coded made = [] {
    Coded coded;
    const auto writer = make_writer(Format::jpeg, kShape);
    writer->write_rows(image().untyped_view());
    coded.file = writer->finish().joined();
    open_reader(coded.file)->read_rows(coded.pixels.untyped_view());
    return coded;
  }();
  return made;
}

Outcome run(const Scenario& scenario, const std::vector<std::string_view>& lists) {
  const std::unique_ptr<Engine> engine = make_cuda_engine(0, 1, scenario.limit);
  runtime.mallocs = 0;
  runtime.first_failing_malloc = scenario.failing;
  runtime.last_failing_malloc = scenario.failing == 0 ? 0 : 1 << 30;
  runtime.is_intact = scenario.intact;
  Job job;
  job.reader = scenario.coded ? open_reader(coded_image().file) : make_memory_reader(image().untyped_view());
  job.plan = make_branched_plan(lists, kShape);
  if (scenario.writes) job.writer = make_writer(Format::png, job.plan.output);
  job.keep_pixels = !scenario.writes;
  job.repeat = static_cast<int>(scenario.repeat);
  Outcome outcome = engine->run(std::move(job));
  // The results are in the engine's memory, so they are copied.
  for (Image& pixels : outcome.memory) {
    Image copy(pixels.shape());
    copy_pixels(std::as_const(pixels).untyped_view(), copy.untyped_view());
    for (ConstHostView& result : outcome.results) {
      if (result.data == pixels.untyped_view().data) result = std::as_const(copy).untyped_view();
    }
    pixels = std::move(copy);
  }
  return outcome;
}

TEST_F(SeveralResults, AllComeDownByEveryRoute) {
  const std::vector<std::pair<std::string_view, Shape>> made{
      {"gray,smooth", {300, 200, 1}}, {"none", kShape}, {"resize:90:70", {90, 70, 3}}};
  std::vector<std::size_t> order{0, 1, 2};
  int whole = 0;
  int in_bands = 0;
  int decoded = 0;
  do {
    std::vector<std::string_view> lists;
    for (const std::size_t i : order) lists.push_back(made[i].first);
    for (const Scenario& scenario : scenarios()) {
      SCOPED_TRACE(scenario.text() + ", last " + std::string(lists.back()));
      const Outcome outcome = run(scenario, lists);
      if (outcome.error) {  // then there are no results
        EXPECT_GT(scenario.failing, 0);
        EXPECT_TRUE(outcome.results.empty());
        continue;
      }
      (outcome.in_bands ? in_bands : whole) += 1;
      ASSERT_EQ(outcome.results.size(), lists.size());
      const bool by_device = std::ranges::count(outcome.timeline.spans(), "decode (cuda)", &Span::name) > 0;
      decoded += by_device ? 1 : 0;
      for (std::size_t i = 0; i < lists.size(); ++i) {
        const ConstHostView& result = outcome.results[i];
        if (i + 1 == lists.size() && result.empty()) {
          EXPECT_GT(outcome.file.joined().size(), 0U);
          continue;
        }
        ASSERT_EQ(result.shape(), made[order[i]].second) << lists[i];
        if (lists[i] != "none" || by_device) continue;
        const Image& source = scenario.coded ? coded_image().pixels : image();
        EXPECT_EQ(first_difference(source.untyped_view(), result), "");
      }
    }
  } while (std::ranges::next_permutation(order).found);
  EXPECT_GT(whole, 0);
  EXPECT_GT(in_bands, 0);
  EXPECT_GT(decoded, 0);
}

// If another list reads the decoded image, the decoder produces that image, and gray runs separately.
TEST_F(SeveralResults, TheDecoderDoesNotDoTheFirstStepsWork) {
  for (const std::vector<std::string_view>& lists :
       {std::vector<std::string_view>{"gray,hist", "smooth"}, {"gray", "none"}, {"none", "gray,hist"}}) {
    const Outcome outcome = run({.coded = true}, lists);
    ASSERT_FALSE(outcome.error);
    for (const std::string_view row : {"decode (cuda)", "gray"})
      EXPECT_EQ(std::ranges::count(outcome.timeline.spans(), row, &Span::name), 1) << row << ", " << lists[1];
  }
}

TEST_F(SeveralResults, ALaneRefusesThem) {
  const auto memory = make_lane_memory(1 << 20);
  const std::vector<int> devices{0};
  const auto lanes = make_cuda_lanes(devices, 1, memory);
  lanes.front()->start();
  LaneImage one;
  one.plan =
      std::make_shared<const Plan>(make_branched_plan(std::vector<std::string_view>{"gray", "none"}, kShape));
  one.source = Image(kShape, memory.get());
  LaneImage* const group[]{&one};
  EXPECT_THROW(lanes.front()->launch(0, group), std::logic_error);
}

}  // namespace
}  // namespace imgpipe::test::several_results_test

#endif
