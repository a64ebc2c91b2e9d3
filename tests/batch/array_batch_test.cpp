// Batches to one array: boxes, types of rows, errors, the caller's memory, shared plans.
#include "pipeline/jobs/array_batch.h"

#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "tests/support/error_kind.h"
#include "tests/support/images.h"

namespace imgpipe::test::array_batch_test {
namespace {

bool same_pixels(const ConstHostView& a, const ConstHostView& b) {
  if (a.shape() != b.shape()) return false;
  for (std::int64_t y = 0; y < a.height; ++y) {
    if (std::memcmp(a.row(y), b.row(y), static_cast<std::size_t>(a.row_bytes())) != 0) return false;
  }
  return true;
}

Box random_box(const Shape& shape, std::mt19937_64& random) {
  const auto within = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Box box{.height = within(1, shape.height), .width = within(1, shape.width)};
  box.top = within(0, shape.height - box.height);
  box.left = within(0, shape.width - box.width);
  return box;
}

// A decoder of the image, and for comparison its pixels.
ArraySource source_of(const Image& image, bool decodes) {
  if (!decodes) return {.pixels = image.untyped_view()};
  return {.open = [&image](const DecodeOptions&) { return make_memory_reader(image.untyped_view()); }};
}

ArraySource broken() {
  return {.open = [](const DecodeOptions&) -> std::unique_ptr<Reader> {
    throw Error(ErrorKind::input, "broken");
  }};
}

ArrayPlans plans_of(const std::string& stages) {
  return ArrayPlans({.stages = parse_stages(stages)});
}

TEST(ArrayBatch, ABoxOfAReaderIsTheBoxOfItsPixels) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const auto side = [&] { return std::uniform_int_distribution<std::int64_t>(1, 70)(random); };
    const Shape shape{side(), side(), trial % 4 + 1, trial % 3 == 0 ? Sample::u16 : Sample::u8};
    const Image image = noise_image(shape, static_cast<std::uint64_t>(trial));
    const Box box = random_box(shape, random);
    const auto reader = make_box_reader(make_memory_reader(image.untyped_view()), box);
    Image read(reader->header().shape);
    for (std::int64_t y = 0; y < box.height;) {  // in bands of any height
      const std::int64_t rows = std::min(side(), box.height - y);
      reader->read_rows(read.untyped_view().rows(y, rows));
      y += rows;
    }
    ASSERT_TRUE(same_pixels(read.untyped_view(), pixels_in(box, image.untyped_view())))
        << trial << ": top " << box.top << ", left " << box.left << ", " << box.height << "x" << box.width;
  }
}

TEST(ArrayBatch, ResultsAreThoseOfSingleImages) {
  std::vector<Image> images;
  for (int i = 0; i < 9; ++i)
    images.push_back(noise_image({31 + i % 3, 17, 3}, static_cast<std::uint64_t>(i)));
  std::mt19937_64 random(4);
  for (const int threads : {1, 2, 5, 16}) {
    BatchThreads workers("cpu", threads);
    for (const std::string stages : {"none", "resize:8:8:area", "gray,contrast"}) {
      ArrayPlans plans = plans_of(stages);
      std::vector<ArraySource> sources;
      for (std::size_t i = 0; i < images.size(); ++i) {
        sources.push_back(source_of(images[i], i % 2 == 0));
        if (i % 3 == 0) sources.back().box = random_box(images[i].shape(), random);
        sources.back().flip = i % 4 == 0;
      }
      sources.push_back(broken());
      const BatchedArrays batch = run_array_batch(sources, plans, {}, workers);
      EXPECT_EQ(batch.type.has_value(), stages == "resize:8:8:area");
      ASSERT_TRUE(batch.items.back().error);
      Runner reference({.device = "reference"});
      for (std::size_t i = 0; i < images.size(); ++i) {
        ASSERT_FALSE(batch.items[i].error) << batch.items[i].error->what();
        ArrayJob job(sources[i], plans, {});
        Image expected(job.result().frame);
        job.run(reference, expected.untyped_view());
        EXPECT_TRUE(same_pixels(batch.items[i].pixels, expected.untyped_view())) << stages << ", image " << i;
      }
    }
  }
}

TEST(ArrayBatch, TheFirstErrorEndsABatch) {
  const Image image = noise_image({9, 7, 3}, 1);
  ArrayPlans plans = plans_of("invert");
  BatchThreads workers("cpu", 3);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<ArraySource> sources(20, source_of(image, true));
    sources[5] = sources[6] = sources[11] = broken();
    const BatchedArrays batch = run_array_batch(sources, plans, {}, workers, {.stop_at_error = true});
    std::size_t first = 0;
    while (!batch.items[first].error) ++first;
    ASSERT_EQ(first, 5U);
  }
}

TEST(ArrayBatch, ResultsOfOtherShapesDoNotFitTheCallersRows) {
  const Image image = noise_image({9, 7, 3}, 1), other = noise_image({9, 8, 3}, 1);
  Image rows({9, 14, 3});
  BatchTarget target{.type = {.sides = {7, 9, 3}, .has_channels = true, .frame = {9, 7, 3}},
                     .first = rows.untyped_view().rows(0, 7),
                     .stride_bytes = 7 * 27};
  ArrayPlans plans = plans_of("none");
  BatchThreads workers("cpu", 1);
  const std::vector<ArraySource> sources{source_of(other, true), source_of(image, true)};
  const BatchedArrays batch = run_array_batch(sources, plans, {}, workers, {.target = target});
  EXPECT_EQ(batch.items[0].error->kind(), ErrorKind::usage);
  EXPECT_TRUE(same_pixels(rows.untyped_view().rows(7, 7), image.untyped_view()));
}

TEST(ArrayBatch, ThreadsSharePlans) {
  ArrayPlans plans = plans_of("resize:5:5:bicubic");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&plans, t] {
      for (std::int64_t side = 1; side < 150; ++side) {
        const auto plan = plans.plan_for({(side * (t + 1)) % 150 + 1, 3, 3}, side % 2 == 0);
        EXPECT_EQ(plan->result.frame, (Shape{5, 5, 3}));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace imgpipe::test::array_batch_test
