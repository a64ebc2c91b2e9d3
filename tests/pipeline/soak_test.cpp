// Processes 2,000 images with one engine and 10,000 in a batch: memory, descriptors and threads do not grow.
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "images/codecs/codec.h"
#include "images/synth.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/batch.h"
#include "tests/support/files.h"

namespace imgpipe::test::soak_test {
namespace {

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::int64_t entries(const char* directory) {
  return std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator());
}

std::vector<std::byte> encode(ConstHostPlane pixels, Format format) {
  const auto writer = make_writer(format, pixels.shape());
  writer->write_rows(pixels);
  return writer->finish().joined();
}

TEST(Soak, TwoThousandImagesDoNotGrowMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps freed memory";
#endif
  std::vector<std::vector<std::byte>> inputs;
  const Pattern pattern = parse_pattern("photo");
  for (const Shape& shape :
       {Shape{640, 480, 3}, Shape{801, 333, 3}, Shape{97, 1200, 1}, Shape{1024, 768, 3}}) {
    const Image image = synthesize(pattern, shape, 3);
    for (const Format format : {Format::jpeg, Format::png, Format::ppm})
      inputs.push_back(encode(image.view(), format));
  }
  inputs.emplace_back(inputs[0].begin(), inputs[0].begin() + 5000);  // truncated
  const std::unique_ptr<Engine> engine = make_cpu_engine(2);
  std::int64_t settled_bytes = 0;
  std::int64_t settled_descriptors = 0;
  std::int64_t settled_threads = 0;
  int failed = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    try {
      Job job;
      job.reader = open_reader(inputs[i % inputs.size()]);
      const std::vector<StageRequest> stages =
          parse_stages(i % 3 == 0 ? "contrast,smooth" : "gray,hist,contrast,smooth");
      job.plan = make_plan(stages, job.reader->header().shape);
      job.writer = make_writer(i % 2 == 0 ? Format::png : Format::jpeg, job.plan.output);
      job.keep_pixels = i % 5 == 0;
      const Outcome outcome = engine->run(std::move(job));
      if (outcome.error) std::rethrow_exception(outcome.error);
      ASSERT_GT(outcome.file.size_bytes(), 100U);
    } catch (const std::exception&) {
      ++failed;
    }
    if (i == 300) {
      settled_bytes = resident_bytes();
      settled_descriptors = entries("/proc/self/fd");
      settled_threads = entries("/proc/self/task");
    }
  }
  EXPECT_EQ(failed, static_cast<int>(2000 / inputs.size()));
  // The allocator's reserve varies by a few megabytes; a leak of one small image per run would add 600 MB.
  EXPECT_LE(resident_bytes(), settled_bytes + settled_bytes / 50 + (4 << 20));
  EXPECT_EQ(entries("/proc/self/fd"), settled_descriptors);
  // There are fewer threads if workers ran ahead of this thread and have already ended.
  EXPECT_LE(entries("/proc/self/task"), settled_threads);
}

TEST(Soak, BatchOfTenThousandImagesDoesNotGrow) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps freed memory";
#endif
  constexpr std::size_t kImages = 10'000;
  constexpr std::size_t kSettled = 4'000;
  TemporaryDirectory in;
  TemporaryDirectory out;
  const Pattern pattern = parse_pattern("photo");
  std::vector<std::string> inputs;
  for (const Shape& shape : {Shape{64, 48, 3}, Shape{80, 33, 3}, Shape{17, 120, 1}, Shape{100, 90, 3}}) {
    const Image image = synthesize(pattern, shape, 3);
    for (const Format format : {Format::jpeg, Format::png, Format::ppm}) {
      inputs.push_back(in.file(std::to_string(inputs.size())));
      save(inputs.back(), encode(image.view(), format));
    }
  }
  inputs.push_back(in.file("missing"));
  std::vector<BatchItem> items;
  for (std::size_t i = 0; i < kImages; ++i)
    items.push_back(
        {inputs[i % inputs.size()], out.file(std::to_string(i)), i % 2 == 0 ? Format::png : Format::jpeg});
  BatchSettings settings;
  settings.stages = parse_stages("gray,hist,contrast,smooth");
  settings.jobs = settings.threads = 3;
  Batch batch(items, std::move(settings));
  std::size_t results = 0;
  std::size_t failed = 0;
  std::int64_t settled_bytes = 0;
  std::int64_t settled_descriptors = 0;
  std::int64_t settled_threads = 0;
  while (results < kImages - 100) {
    const std::optional<BatchResult> result = batch.next(std::chrono::seconds(10));
    ASSERT_TRUE(result);
    failed += result->failed ? 1U : 0U;
    if (!result->failed) std::filesystem::remove(out.file(std::to_string(result->item)));
    if (++results == kSettled) {
      settled_bytes = resident_bytes();
      settled_descriptors = entries("/proc/self/fd");
      settled_threads = entries("/proc/self/task");
    }
  }
  EXPECT_NEAR(static_cast<double>(resident_bytes()), static_cast<double>(settled_bytes),
              static_cast<double>(settled_bytes) / 50 + (1 << 20));
  // The number of files open at this moment varies, by up to one per worker and direction.
  EXPECT_NEAR(static_cast<double>(entries("/proc/self/fd")), static_cast<double>(settled_descriptors), 6);
  // There are fewer threads if workers ran ahead of this thread and have already ended.
  EXPECT_LE(entries("/proc/self/task"), settled_threads);
  while (!batch.finished()) {
    if (const auto result = batch.next(std::chrono::seconds(10))) {
      ++results;
      failed += result->failed ? 1U : 0U;
    }
  }
  EXPECT_EQ(results, kImages);
  EXPECT_EQ(failed, kImages / inputs.size());
}

}  // namespace
}  // namespace imgpipe::test::soak_test
