// contrast with one range for all colour planes, and the hist* that the planner inserts before it, process an
// interleaved image without alpha as one plane. Compares pixels, ranges and counts with those of plans that
// count each plane, by the reference.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/simd.h"
#include "kernels/stage.h"
#include "pipeline/contrast_ranges.h"
#include "pipeline/engine.h"
#include "tests/support/chain_trial.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/float_chains.h"
#include "tests/support/host_band_device.h"
#include "tests/support/images.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::joint_counts_test {
namespace {

constexpr std::size_t kLists = kSanitized ? 100 : 400;
constexpr std::size_t kLeastJoint = kSanitized ? 8 : 50;  // lists with joint counts
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 20;
constexpr std::int64_t kBandBytes = std::int64_t{1} << 26;  // of a device
constexpr Shape kRgb{8, 4, 3};

Plan plan_of(std::string_view list, const Shape& shape, bool counts_planes = false, bool fuse = false) {
  return make_plan(parse_stages(list), shape, fuse, std::int64_t{1} << 40, 16, counts_planes);
}

std::string labels(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) text += (text.empty() ? "" : " ") + step.label;
  return text;
}
std::string labels(std::string_view list, const Shape& shape) {
  return labels(plan_of(list, shape));
}

TEST(JointCounts, NeedNoPlanes) {
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    const Shape shape{8, 4, 3, sample};
    EXPECT_EQ(labels("contrast", shape), "hist* contrast");
    EXPECT_EQ(labels("contrast:1:2", shape), "hist* contrast:1:2");
    EXPECT_EQ(labels("contrast:to=16,invert", shape), "hist* contrast:to=16 invert");
    EXPECT_EQ(labels("contrast", {8, 4, 1, sample}), "hist* contrast");
    EXPECT_EQ(labels("contrast", {8, 4, 2, sample}), "split* hist* contrast merge*");
    EXPECT_EQ(labels("contrast", {8, 4, 4, sample}), "split* hist* contrast merge*");
  }
  EXPECT_EQ(labels("contrast,flip,contrast,gray", kRgb), "hist* contrast flip hist#2* contrast#2 gray");
  EXPECT_EQ(labels("contrast,smooth", kRgb), "hist* contrast split* smooth merge*");
  EXPECT_EQ(labels("smooth,contrast", kRgb), "split* smooth hist* contrast merge*");
}

TEST(JointCounts, AreNotForReadersOfPlanes) {
  EXPECT_EQ(labels("contrast:stretch=each", kRgb), "split* hist* contrast:stretch=each merge*");
  for (const char* step : {"equalize", "threshold:otsu", "whitebalance"})
    EXPECT_EQ(labels(step, kRgb).substr(0, 12), "split* hist*") << step;
  EXPECT_EQ(labels("hist", kRgb), "split* hist merge*");
  EXPECT_EQ(labels("hist,contrast", kRgb), "split* hist contrast merge*");
  EXPECT_EQ(labels("contrast,hist", kRgb), "hist* contrast split* hist#2 merge*");
  EXPECT_EQ(labels(plan_of("contrast", kRgb, true)), "split* hist* contrast merge*");
  EXPECT_EQ(labels(plan_of("contrast,smooth", kRgb, false, true)), "split* hist* contrast+smooth merge*");
}

// A device's decoder counts only grey images.
TEST(JointCounts, AreNotMadeByTheDecoder) {
  EXPECT_NE(find_fusion(plan_of("contrast", {8, 4, 1}).operations, true), nullptr);
  EXPECT_EQ(find_fusion(plan_of("contrast", kRgb).operations, true), nullptr);
}

// A plane may not be wider than an image.
TEST(JointCounts, NeedAPlaneOfValidWidth) {
  EXPECT_EQ(labels("contrast", {kMaxSide / 3, 1, 3}), "hist* contrast");
  EXPECT_EQ(labels("contrast", {kMaxSide / 3 + 1, 1, 3}), "split* hist* contrast merge*");
  EXPECT_EQ(labels("invert", {kMaxSide / 3 + 1, 1, 3}), "split* invert merge*");
}

std::string joined(const std::string& list, const std::string& step) {
  return list.empty() ? step : list + "," + step;
}

bool is_accepted(const std::string& list, const Shape& shape) {
  try {
    const Plan plan = plan_of(list, shape);
    return std::ranges::all_of(plan.operations,
                               [](const Operation& one) { return one.out.pixels() <= kMaxPixels; });
  } catch (const Error&) {
    return false;
  }
}

std::string random_list(Random& random, const Shape& shape) {
  static constexpr std::array<std::string_view, 12> kSteps{"contrast", "contrast", "contrast", "hist",
                                                           "equalize", "smooth",   "invert",   "flip",
                                                           "crop",     "gray",     "depth",    "rotate"};
  std::string list;
  for (std::int64_t left = 1 + below(random, 4); left > 0; --left) {
    const auto index = list.empty() && below(random, 2) == 0 ? 0 : below(random, std::ssize(kSteps));
    const std::string step = random_step(random, *find_stage(kSteps[static_cast<std::size_t>(index)]));
    if (is_accepted(joined(list, step), shape)) list = joined(list, step);
  }
  return list.empty() ? std::string(kNoStages) : list;
}

// The channels have different ranges; some are constant.
Image random_image(Random& random, const Shape& shape) {
  Image image = noise_image(shape, random());
  const HostView view = image.untyped_view();
  std::array<std::uint64_t, 4> first{}, count{};
  for (std::size_t c = 0; c < 4; ++c) {
    first[c] = random() % 60'000;
    count[c] = 1 + random() % (std::uint64_t{1} << (random() % 16));
  }
  visit_sample(shape.sample, [&]<class T>(T) {
    const auto plane = view.as<T>();
    for (std::int64_t y = 0; y < plane.height; ++y) {
      for (std::int64_t x = 0; x < plane.row_samples(); ++x) {
        const auto c = static_cast<std::size_t>(x % plane.channels);
        plane.row(y)[x] = static_cast<T>(first[c] + static_cast<std::uint64_t>(plane.row(y)[x]) % count[c]);
      }
    }
  });
  return image;
}

Outcome run(Engine& engine, const Plan& plan, const Image& image, const FloatRun& how, CountsFor counts_for) {
  Job job;
  job.plan = plan;
  job.writer = std::make_unique<MemoryWriter>(plan.output, how.strip_rows);
  job.reader = make_memory_reader(image.untyped_view());
  job.keep_outputs = job.keep_pixels = how.keep;
  job.counts_for = counts_for;
  Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

std::string ranges_text(Outcome& outcome) {
  std::string text;
  for (const ContrastRange& range : contrast_ranges(outcome)) {
    for (const std::int64_t value : {std::int64_t{range.plane}, std::int64_t{range.lo},
                                     std::int64_t{range.hi}, std::int64_t{range.of_one_plane}})
      text += std::to_string(value) + " ";
    text += range.label + "; ";
  }
  return text;
}

std::ptrdiff_t layout_steps(const Plan& plan) {
  return std::ranges::count(plan.operations, Effect::layout,
                            [](const Operation& one) { return one.stage->effect; });
}

TEST(JointCounts, EqualThoseOfPlanes) {
  Random random(20261127);
  const std::unique_ptr<Engine> reference = make_reference_engine();
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(make_reference_engine());
  for (const int threads : {1, 3}) engines.push_back(make_cpu_engine(threads));
  HostBandDevice device(kBandBytes, Queued::on_wait);
  engines.push_back(std::make_unique<HostBandEngine>(device, 2));
  if (cuda_unavailable_reason().empty()) {
    engines.push_back(make_cuda_engine(0));
    engines.push_back(make_cuda_engine(0, 2, kBandBytes));
  }
  const std::vector<std::string> targets = simd_targets();
  std::size_t joint_lists = 0;
  for (std::size_t i = 0; i < kLists; ++i) {
    use_simd(targets[i % targets.size()]);
    const Shape shape = random_shape(random, below(random, 2) == 0 ? Sample::u8 : Sample::u16,
                                     static_cast<int>(1 + below(random, 4)));
    const std::string list = random_list(random, shape);
    const FloatChain chain{list, shape, i};
    SCOPED_TRACE(chain.text());
    const Image image = random_image(random, shape);
    const Plan planes = plan_of(list, shape, true), joint = plan_of(list, shape);
    EXPECT_LE(layout_steps(joint), layout_steps(planes));
    if (labels(joint) != labels(planes)) ++joint_lists;
    const FloatRun kRows{"rows", 0, false, false};
    Outcome expected = run(*reference, planes, image, kRows, CountsFor::caller);
    const std::string ranges = ranges_text(expected);
    for (const std::unique_ptr<Engine>& engine : engines) {
      for (const FloatRun& how :
           {kRows, FloatRun{"strips", 2, false, false}, FloatRun{"kept", 0, false, true}}) {
        for (const CountsFor counts_for : {CountsFor::caller, CountsFor::timing, CountsFor::steps}) {
          SCOPED_TRACE(std::string(engine->implementation()) + ", " + how.name);
          Outcome got = run(*engine, joint, image, how, counts_for);
          ASSERT_EQ(expected.file.joined(), got.file.joined());
          ASSERT_EQ(ranges, ranges_text(got));
          ASSERT_EQ(device.faults, std::vector<std::string>());
          if (counts_for == CountsFor::caller) {
            ASSERT_EQ(counts_of(expected), counts_of(got));
          }
        }
      }
    }
  }
  use_simd("");
  EXPECT_GT(joint_lists, kLeastJoint);
}

}  // namespace
}  // namespace imgpipe::test::joint_counts_test
