// Compares the reference engine with the golden values of tests/golden/; differential_test compares all other
// implementations with the reference. A stage without a golden file fails "EveryStageHasAFile".
#include "tests/support/golden.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "pipeline/plan.h"
#include "pipeline/trimmed_steps.h"
#include "tests/support/second_images.h"

namespace imgpipe::test::golden_test {
namespace {

template <class T>
void copy_samples(const std::vector<int>& from, Image& to) {
  const Plane<T, Host> plane = to.untyped_view().as<T>();
  for (std::size_t i = 0; i < from.size(); ++i) plane.data[i] = static_cast<T>(from[i]);
}

// Samples beyond the type's range lose their high bits.
Image image_of(const Shape& shape, const std::vector<int>& samples) {
  Image image(shape);
  shape.sample == Sample::u16 ? copy_samples<Sample16>(samples, image)
                              : copy_samples<Sample8>(samples, image);
  return image;
}

Outcome run(const Image& pixels, const std::string& stages) {
  Job job;
  job.reader = make_memory_reader(pixels.untyped_view());
  const auto open = [&] { return make_memory_reader(pixels.untyped_view()); };
  const std::vector<StageRequest> steps = steps_for(stages, pixels.shape());
  job.plan = make_plan(trimmed_steps(steps, open, pixels.shape().pixels()).steps, pixels.shape());
  Outcome outcome = make_reference_engine()->run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

Outcome run(const GoldenImage& image, const std::string& stages) {
  return run(image_of({image.width, image.height, image.channels, image.sample}, image.samples), stages);
}

// Makes the pattern that GoldenDigests documents.
Image pattern_image(const Shape& shape) {
  std::vector<int> samples;
  const std::int64_t factor = shape.sample == Sample::u16 ? 40503 : 1;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      for (int c = 0; c < shape.channels; ++c) {
        const std::int64_t value = 37 * x + 91 * y + 13 * x * y + 59 * c;
        samples.push_back(static_cast<int>(value * factor % 65536));
      }
    }
  }
  return image_of(shape, samples);
}

template <class T>
std::vector<std::uint32_t> digests_of(const Plane<const T, Host>& pixels) {
  std::vector<std::uint32_t> digests(static_cast<std::size_t>(pixels.channels), 2166136261U);
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    for (std::int64_t i = 0; i < pixels.row_samples(); ++i) {
      std::uint32_t& digest = digests[static_cast<std::size_t>(i % pixels.channels)];
      digest = (digest ^ pixels.row(y)[i]) * 16777619U;
    }
  }
  return digests;
}

template <class T>
int bits_of(T v) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<int>(v);
  } else if constexpr (kIsFloat<T>) {
    return v.bits;
  } else {
    return v;
  }
}

template <class T>
void expect_result(const ConstHostView& pixels, const GoldenResult& expected) {
  const Plane<const T, Host> got = pixels.as<T>();
  ASSERT_EQ(got.width, expected.width);
  ASSERT_EQ(got.height, expected.height);
  ASSERT_EQ(got.channels, static_cast<int>(expected.planes.size()));
  for (std::int64_t y = 0; y < got.height; ++y) {
    for (std::int64_t x = 0; x < got.width; ++x) {
      for (int c = 0; c < got.channels; ++c) {
        const auto at = static_cast<std::size_t>(y * got.width + x);
        ASSERT_EQ(bits_of(got.row(y)[x * got.channels + c]), expected.planes[static_cast<std::size_t>(c)][at])
            << "x=" << x << " y=" << y << " channel " << c;
      }
    }
  }
}

TEST(Golden, Pixels) {
  std::map<const Stage*, int> results;  // of single-step lists
  for (const GoldenImage& image : golden_images()) {
    for (const GoldenResult& result : image.results) {
      SCOPED_TRACE(image.name + ": " + result.stages);
      const Outcome outcome = run(image, result.stages);
      ASSERT_EQ(outcome.pixels.sample, result.sample);
      switch (result.sample) {
        case Sample::u8:
          expect_result<Sample8>(outcome.pixels, result);
          break;
        case Sample::u16:
          expect_result<Sample16>(outcome.pixels, result);
          break;
        case Sample::f32:
          expect_result<float>(outcome.pixels, result);
          break;
        case Sample::f16:
          expect_result<Float16>(outcome.pixels, result);
          break;
        case Sample::bf16:
          expect_result<BFloat16>(outcome.pixels, result);
          break;
      }
      if (HasFatalFailure()) return;
      const std::vector<StageRequest> steps = parse_stages(result.stages);
      if (steps.size() == 1) ++results[steps.front().stage];
    }
  }
  for (const Stage& stage : stage_table()) {
    EXPECT_TRUE(!stage.selectable || results[&stage] > 0) << stage.name << " has no results in tests/golden";
  }
}

TEST(Golden, LargerImages) {
  for (const GoldenDigests& golden : golden_digests()) {
    const Shape& in = golden.pattern;
    SCOPED_TRACE(std::to_string(in.width) + "x" + std::to_string(in.height) + "x" +
                 std::to_string(in.channels) + (in.sample == Sample::u16 ? ", 16 bits: " : ": ") +
                 golden.stages);
    const Outcome outcome = run(pattern_image(in), golden.stages);
    ASSERT_EQ(outcome.pixels.width, golden.width);
    ASSERT_EQ(outcome.pixels.height, golden.height);
    ASSERT_EQ(outcome.pixels.sample, golden.sample);
    EXPECT_EQ(golden.sample == Sample::u16 ? digests_of(outcome.pixels.as<Sample16>())
                                           : digests_of(outcome.pixels.as<Sample8>()),
              golden.digests);
  }
  EXPECT_FALSE(golden_digests().empty());
}

TEST(Golden, Histograms) {
  for (const GoldenImage& image : golden_images()) {
    SCOPED_TRACE(image.name);
    const Outcome outcome = run(image, "hist");
    std::vector<std::uint64_t> expected;
    for (const auto& counts : image.counts) expected.insert(expected.end(), counts.begin(), counts.end());
    int counted = 0;
    for (std::size_t i = 0; i < outcome.plan.steps.size(); ++i) {
      if (!makes_counts(*outcome.plan.operations[i].stage)) continue;
      EXPECT_EQ(outcome.histograms[i], expected);
      ++counted;
    }
    EXPECT_EQ(counted, 1);
  }
}

// Returns the values that a stage's cases give to its parameter i.
std::vector<std::int64_t> values_in_cases(const Stage& stage, std::size_t i) {
  std::vector<std::int64_t> values;
  for (const std::string& step : golden_cases(stage.name)) {
    values.push_back(parse_stages(step).front().parameters[i]);
  }
  return values;
}

// The cases must contain every word, and for a number a value other than the preset.
void expect_telling(const Stage& stage, std::size_t i) {
  const Parameter& parameter = stage.parameters[i];
  const bool choice = parameter.kind == Parameter::Kind::choice;
  const std::vector<std::int64_t> values = values_in_cases(stage, i);
  for (std::size_t word = 0; word < parameter.words.size(); ++word) {
    if (parameter.words[word] == "float") continue;  // tests/golden/float_oracle.py covers it
    const auto position = static_cast<std::int64_t>(word);
    EXPECT_TRUE(std::ranges::count(values, choice ? position : -1 - position) > 0)
        << stage.name << " has no case with " << parameter.name << "=" << parameter.words[word];
  }
  const bool is_image = parameter.kind == Parameter::Kind::image;
  // The limits of hist, which tests/golden/float_oracle.py covers.
  const bool of_floats =
      parameter.kind == Parameter::Kind::real && parameter.most == 0 && parameter.words.empty();
  EXPECT_TRUE(
      choice || is_image || of_floats ||
      std::ranges::any_of(
          values, [&](std::int64_t value) { return value >= parameter.least && value != parameter.preset; }))
      << stage.name << " has no case with a " << parameter.name << " of its own";
}

TEST(Golden, EveryStageHasAFile) {
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    EXPECT_FALSE(golden_cases(stage.name).empty()) << stage.name << " has no cases in tests/golden";
    for (const std::string& step : golden_cases(stage.name)) {
      const std::vector<StageRequest> steps = parse_stages(step);
      EXPECT_TRUE(steps.size() == 1 && steps.front().stage == &stage)
          << step << " is not a case of " << stage.name;
    }
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) expect_telling(stage, i);
  }
}

}  // namespace
}  // namespace imgpipe::test::golden_test
