// Tests that on every engine alpha passes every pair and many triples of stages that preserve it unchanged,
// and affects no colour. golden_test and random_chains_test cover the stages that drop it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/golden.h"
#include "tests/support/images.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sanitizers.h"
#include "tests/support/second_images.h"

namespace imgpipe::test::alpha_test {
namespace {

bool preserves_alpha(const StageRequest& step) {
  return output_type(*step.stage, {.width = 1, .height = 1, .color_channels = 3, .alpha = true},
                     step.parameters)
      .alpha;
}

// Whether the stage composes with a second image's alpha, so that colours depend on alpha.
bool composes(const Stage& stage) {
  const Port* const second = find_port(stage.ports.in, ValueKind::table);
  return second != nullptr && second->alpha;
}

// Returns each stage of the table that makes images and preserves alpha, with the first of its golden cases.
std::vector<StageRequest> all_steps() {
  std::vector<StageRequest> steps;
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable || stage.tensor != nullptr || composes(stage)) continue;
    const StageRequest step = parse_stages(golden_cases(stage.name).at(0)).at(0);
    if (preserves_alpha(step)) steps.push_back(step);
  }
  return steps;
}

using Steps = std::vector<StageRequest>;

// Samples about 500 triples evenly, because their number grows cubically with the number of stages. With
// sanitizers it is 50: the pairs already pass every stage's memory to every other stage.
std::vector<Steps> singles_pairs_and_triples() {
  constexpr std::size_t kTriples = kSanitized ? 50 : 500;
  std::vector<Steps> lists;
  const Steps steps = all_steps();
  const std::size_t triples = steps.size() * steps.size() * steps.size();
  // Coprime to the number of stages, so that every stage occurs in every position.
  std::size_t step = std::max<std::size_t>(1, triples / kTriples) | 1;
  while (std::gcd(step, steps.size()) != 1) step += 2;
  std::size_t triple = 0;
  for (const StageRequest& first : steps) {
    lists.push_back({first});
    for (const StageRequest& second : steps) {
      lists.push_back({first, second});
      for (const StageRequest& third : steps) {
        if (triple++ % step == 0) lists.push_back({first, second, third});
      }
    }
  }
  return lists;
}

std::string names_of(const Steps& steps) {
  std::string names;
  for (const StageRequest& step : steps)
    names += (names.empty() ? "" : ",") + std::string(step.stage->name) + step.said;
  return names;
}

// Returns the steps that change alpha: those that process all planes alike, and a change of sample type by
// contrast. Colour-only stages leave alpha alone; gray and changes of layout move it.
Steps of_alpha(const Steps& steps) {
  Steps left;
  for (const StageRequest& step : steps) {
    const Port &in = step.stage->ports.in.front(), &out = step.stage->ports.out.front();
    // icc gets alpha because that may be an ink; otherwise it copies it.
    const bool all_planes = in.alpha && in.layout == out.layout && step.stage->name != "icc";
    if (all_planes) left.push_back(step);
    if (step.said == ":to=8") left.push_back(parse_stages("depth:8").front());
    if (step.said == ":to=16") left.push_back(parse_stages("depth:16").front());
  }
  return left;
}

// Returns stage lists that change the number of bits per sample; some also contain stages that preserve it.
std::vector<Steps> lists_of_both_depths() {
  std::vector<Steps> lists;
  for (const char* list : {"contrast:to=8", "contrast:to=16", "depth:8", "depth:16",
                           "smooth,contrast:to=8,smooth", "contrast:to=16,smooth,contrast:to=8",
                           "gray,contrast:to=8", "contrast:to=8,gray", "hist,contrast:to=16,smooth",
                           "resize:20:70,contrast:to=8,invert", "depth:8,threshold,depth:16,gamma:2",
                           "threshold:200,contrast:to=8", "contrast:to=8,resize:50:60:area,depth:16"})
    lists.push_back(parse_stages(list));
  return lists;
}

// Returns `count` channels of an image, from channel `first` on, as a separate image.
Image channels_of(const Image& image, int first, int count) {
  Shape shape = image.shape();
  shape.channels = count;
  Image out(shape);
  const auto bytes = static_cast<std::size_t>(bytes_per_sample(shape.sample));
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto to = static_cast<std::size_t>(x * count) * bytes;
      const auto from = static_cast<std::size_t>(x * image.shape().channels + first) * bytes;
      std::memcpy(out.untyped_view().row(y) + to, image.untyped_view().row(y) + from,
                  static_cast<std::size_t>(count) * bytes);
    }
  }
  return out;
}

Image without_alpha(const Image& image) {
  return channels_of(image, 0, image.shape().channels - 1);
}

// How an engine runs: streamed from reader to writer, or with every step's output kept.
struct RunMode {
  const char* name;
  bool keep;
  std::int64_t strip_rows;
};
constexpr RunMode kRunModes[] = {{"in strips", false, 32}, {"in rows", false, 0}, {"kept", true, 0}};

Image run(Engine& engine, const Image& image, const Steps& steps, const RunMode& mode, bool fuse) {
  Job job;
  job.plan = make_plan(steps_for(steps, image.shape()), image.shape(), fuse);
  const Shape shape = job.plan.output;
  job.writer = std::make_unique<MemoryWriter>(shape, mode.strip_rows);
  job.reader = make_memory_reader(image.untyped_view());
  job.keep_outputs = mode.keep;
  job.keep_pixels = mode.keep;
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  const std::vector<std::byte> bytes = outcome.file.joined();
  Image out(shape);
  std::memcpy(out.untyped_view().data, bytes.data(), bytes.size());
  return out;
}

// Returns the last channel of an image as a separate image.
Image alpha_of(const Image& image) {
  return channels_of(image, image.shape().channels - 1, 1);
}

// The expected result: the colour of the image without alpha, and the input's alpha changed only by stages
// for all planes. The reference computes both, without fused steps.
struct ExpectedImage {
  ExpectedImage(const Image& image, const Steps& steps) {
    const std::unique_ptr<Engine> reference = make_reference_engine();
    const bool alpha = image.shape().has_alpha();
    const Image opaque = alpha ? without_alpha(image) : Image();
    color = run(*reference, alpha ? opaque : image, steps, kRunModes[2], false);
    if (alpha) its_alpha = run(*reference, alpha_of(image), of_alpha(steps), kRunModes[2], false);
  }
  Image color;
  Image its_alpha;
};

void expect_equal(const ExpectedImage& expected, const Image& got) {
  const bool alpha = !expected.its_alpha.empty();
  ASSERT_EQ(got.shape().has_alpha(), alpha);
  if (!alpha) {
    ASSERT_EQ(first_difference(expected.color.untyped_view(), got.untyped_view()), "");
    return;
  }
  const Image got_color = without_alpha(got);
  const Image got_alpha = alpha_of(got);
  ASSERT_EQ(first_difference(expected.color.untyped_view(), got_color.untyped_view()), "");
  ASSERT_EQ(first_difference(expected.its_alpha.untyped_view(), got_alpha.untyped_view()), "");
}

// Runs every list of steps on every engine; computes the expected result once.
void expect_alpha_carried(const std::vector<std::unique_ptr<Engine>>& engines, Shape shape,
                          const std::vector<Steps>& lists) {
  const Image image = noise_image(shape, 5);
  for (const Steps& steps : lists) {
    const ExpectedImage expected(image, steps);
    const Steps loaded = steps_for(steps, shape);
    const bool has_fused =
        make_plan(loaded, shape, true).steps.size() < make_plan(loaded, shape).steps.size();
    for (std::size_t i = 0; i < engines.size(); ++i) {
      for (const RunMode& mode : kRunModes) {
        for (const bool fuse : {false, true}) {
          if (fuse && !has_fused) continue;
          SCOPED_TRACE(names_of(steps) + " engine " + std::to_string(i) + " " + mode.name +
                       (fuse ? " fused" : ""));
          expect_equal(expected, run(*engines[i], image, steps, mode, fuse));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

std::vector<std::unique_ptr<Engine>> host_engines() {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(make_reference_engine());
  engines.push_back(make_cpu_engine(1));
  engines.push_back(make_cpu_engine(3));
  return engines;
}

std::vector<std::unique_ptr<Engine>> cuda_engine() {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(make_cuda_engine(0));
  return engines;
}

class Alpha : public ::testing::TestWithParam<int> {
 protected:
  // Several bands and strips, and rows that are not whole vectors.
  [[nodiscard]] static Shape shape() { return {37, 70, GetParam()}; }
};

// The reference, and the CPU engine with one thread and with three.
TEST_P(Alpha, Host) {
  expect_alpha_carried(host_engines(), shape(), singles_pairs_and_triples());
}

Shape deep_shape(Shape shape) {
  shape.sample = Sample::u16;
  return shape;
}

// Each pair of stages is in the lists of either odd or even numbers of channels.
std::vector<Steps> deep_lists(int channels) {
  std::vector<Steps> lists = singles_pairs_and_triples();
  int pair = channels;
  std::erase_if(
      lists, [&](const Steps& steps) { return steps.size() > 2 || (steps.size() == 2 && ++pair % 2 == 0); });
  for (const Steps& steps : lists_of_both_depths()) lists.push_back(steps);
  return lists;
}

TEST_P(Alpha, HostSixteenBits) {
  const std::vector<std::unique_ptr<Engine>> engines = host_engines();
  expect_alpha_carried(engines, deep_shape(shape()), deep_lists(GetParam()));
  if (HasFatalFailure()) return;
  expect_alpha_carried(engines, shape(), lists_of_both_depths());
}

TEST_P(Alpha, Cuda) {
  IMGPIPE_NEED_CUDA();
  expect_alpha_carried(cuda_engine(), shape(), singles_pairs_and_triples());
}

TEST_P(Alpha, CudaSixteenBits) {
  IMGPIPE_NEED_CUDA();
  const std::vector<std::unique_ptr<Engine>> engines = cuda_engine();
  expect_alpha_carried(engines, deep_shape(shape()), deep_lists(GetParam()));
  if (HasFatalFailure()) return;
  expect_alpha_carried(engines, shape(), lists_of_both_depths());
}

std::string layout_name(const ::testing::TestParamInfo<int>& info) {
  constexpr const char* kNames[] = {"", "Grey", "GreyAlpha", "Rgb", "Rgba"};
  return kNames[info.param];
}

// Sanitizer builds test only layouts with alpha, which cover the colour of the other layouts.
INSTANTIATE_TEST_SUITE_P(Layouts, Alpha,
                         ::testing::ValuesIn(kSanitized ? std::vector{2, 4} : std::vector{1, 2, 3, 4}),
                         layout_name);

}  // namespace
}  // namespace imgpipe::test::alpha_test
