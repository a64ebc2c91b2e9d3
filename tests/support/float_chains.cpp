#include "tests/support/float_chains.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "images/error.h"
#include "kernels/stage.h"
#include "tests/support/images.h"
#include "tests/support/memory_writer.h"
#include "tests/support/second_images.h"

namespace imgpipe::test {
namespace {

constexpr std::int64_t kMaxFloatPixels = 6000;
constexpr std::array<std::string_view, 3> kDepths{"depth:float", "depth:8", "depth:16"};
constexpr std::array<std::string_view, 3> kHists{"hist", "hist:-0.5:1.5", "hist:lo=0.1:hi=0.1000001"};

std::string_view sample_name(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return "u8";
    case Sample::u16:
      return "u16";
    case Sample::f32:
      return "f32";
    case Sample::f16:
    case Sample::bf16:
      break;
  }
  unreachable();
}

bool takes_floats(const Stage* stage) {
  return std::ranges::find(stage->kernels, Sample::f32, &Kernel::in) != stage->kernels.end();
}

std::string random_float_step(Random& random) {
  static const std::vector<const Stage*> stages = [] {
    std::vector<const Stage*> some;
    std::ranges::copy_if(selectable_stages(), std::back_inserter(some), takes_floats);
    return some;
  }();
  const Stage& stage = *stages[static_cast<std::size_t>(below(random, std::ssize(stages)))];
  const auto index = static_cast<std::size_t>(below(random, 3));
  if (stage.name == "depth") return std::string(kDepths[index]);
  if (stage.name == "hist") return std::string(kHists[index]);
  return random_step(random, stage);
}

bool is_wanted(const Plan& plan) {
  const auto is_of_floats = [](const Operation& step) {
    return is_float(step.in.sample) || is_float(step.out.sample);
  };
  const auto is_small = [](const Operation& step) { return step.out.pixels() <= kMaxFloatPixels; };
  return std::ranges::any_of(plan.operations, is_of_floats) && std::ranges::all_of(plan.operations, is_small);
}

}  // namespace

std::string FloatChain::text() const {
  return "--stages " + list + ", noise_image({" + std::to_string(shape.width) + ", " +
         std::to_string(shape.height) + ", " + std::to_string(shape.channels) + ", " +
         std::string(sample_name(shape.sample)) + "}, " + std::to_string(seed) + ")";
}

FloatChain random_float_chain(Random& random) {
  for (;;) {
    FloatChain chain;
    const auto sample = static_cast<Sample>(below(random, 3));
    chain.shape = random_shape(random, sample, static_cast<int>(1 + below(random, 4)));
    chain.seed = random() % 1'000'000;
    chain.list = is_float(sample) ? random_float_step(random) : "depth:float";
    for (std::int64_t left = 1 + below(random, 5); left > 0; --left)
      chain.list += "," + random_float_step(random);
    try {
      if (is_wanted(make_plan(steps_for(chain.list, chain.shape), chain.shape, false, std::int64_t{1} << 32)))
        return chain;
    } catch (const Error&) {
      continue;  // a rectangle outside the image
    }
  }
}

Image made_by(Engine& engine, const FloatChain& chain, const Image& image, const FloatRun& how) {
  Job job;
  job.plan = make_plan(steps_for(chain.list, image.shape()), image.shape(), how.fuse);
  Image made(job.plan.output);
  job.writer = std::make_unique<MemoryWriter>(job.plan.output, how.strip_rows);
  job.reader = make_memory_reader(image.untyped_view());
  job.keep_outputs = job.keep_pixels = how.keep;
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  const std::vector<std::byte> bytes = outcome.file.joined();
  std::memcpy(made.untyped_view().data, bytes.data(), bytes.size());
  return made;
}

}  // namespace imgpipe::test
