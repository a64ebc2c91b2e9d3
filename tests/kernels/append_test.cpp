// append: every number of channels and type of samples; the golden values have one grey image each.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/image.h"
#include "pipeline/engine.h"
#include "pipeline/plan.h"
#include "pipeline/second_images.h"
#include "tests/support/images.h"

namespace imgpipe::test::append_test {
namespace {

std::vector<StageRequest> append_step(const Image& second) {
  std::vector<StageRequest> steps = parse_stages("append:x");
  steps.front().image = make_second_image("x", second.untyped_view());
  steps.front().parameters.image = steps.front().image.get();
  return steps;
}

// Returns the pixels of both images side by side: first the bytes of one pixel, then those of the other.
std::vector<std::byte> appended(const Image& first, const Image& second) {
  std::vector<std::byte> bytes;
  const auto add = [&](const Image& image, std::int64_t y, std::int64_t x) {
    const ConstHostView view = image.untyped_view();
    const std::int64_t size = view.channels * bytes_per_sample(view.sample);
    bytes.insert(bytes.end(), view.row(y) + x * size, view.row(y) + (x + 1) * size);
  };
  for (std::int64_t y = 0; y < first.shape().height; ++y) {
    for (std::int64_t x = 0; x < first.shape().width; ++x) {
      add(first, y, x);
      add(second, y, x);
    }
  }
  return bytes;
}

TEST(Append, JoinsAllNumbersOfChannels) {
  std::unique_ptr<Engine> engines[] = {make_reference_engine(), make_cpu_engine(2)};
  for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {67, 3}, {5, 41}}) {
      for (int one = 1; one < 4; ++one) {
        for (int two = 1; one + two <= 4; ++two) {
          const Image first = noise_image({width, height, one, sample}, 1);
          const Image second = noise_image({width, height, two, sample}, 2);
          const std::vector<std::byte> expected = appended(first, second);
          for (const auto& engine : engines) {
            Job job;
            job.reader = make_memory_reader(first.untyped_view());
            job.plan = make_plan(append_step(second), first.shape());
            ASSERT_EQ(job.plan.output, (Shape{width, height, one + two, sample}));
            const Outcome outcome = engine->run(std::move(job));
            ASSERT_FALSE(outcome.error);
            EXPECT_EQ(std::memcmp(outcome.pixels.data, expected.data(), expected.size()), 0)
                << engine->implementation() << " " << width << "x" << height << " " << one << "+" << two;
          }
        }
      }
    }
  }
}

std::string refusal(const Shape& first, const Shape& second) {
  try {
    (void)make_plan(append_step(Image(second)), first);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Append, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal({4, 2, 3}, {4, 2, 2}),
            "append:x on a 4x2 image: both images have more than 4 channels, the image 3");
  EXPECT_EQ(refusal({4, 2, 4}, {4, 2, 1}), "append:x on a 4x2 image: the image already has 4 channels");
  EXPECT_NE(refusal({4, 2, 1}, {2, 4, 1}).find("has 2x4 pixels, the image 4x2"), std::string::npos);
  EXPECT_NE(refusal({4, 2, 1}, {4, 2, 1, Sample::u16}).find("insert depth"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test::append_test
