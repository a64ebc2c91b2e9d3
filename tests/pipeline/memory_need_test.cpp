// Tests the estimate of an image's memory: never less than it takes, and not much more.
#include "pipeline/memory_need.h"

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec_parts.h"
#include "images/error.h"
#include "images/memory/available_memory.h"
#include "images/memory/block_pool.h"
#include "images/synth.h"
#include "pipeline/engine.h"
#include "tests/support/banded_reader.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::memory_need_test {
namespace {

constexpr std::int64_t kMB = 1'000'000;

// Generates rows of any size.
class NoReader final : public Reader {
 public:
  explicit NoReader(const Shape& shape) { header_.shape = shape; }

 protected:
  void read_next_rows(HostView rows) override {
    for (std::int64_t y = 0; y < rows.height; ++y)
      for (std::int64_t i = 0; i < rows.row_bytes(); ++i)
        rows.row(y)[i] = static_cast<std::byte>(i * 7 + y * y);
  }
};

Plan plan_of(const std::string& stages, const Shape& shape, int max_bits = 16) {
  return make_plan(parse_stages(stages), shape, false, std::numeric_limits<std::int64_t>::max(), max_bits);
}

std::int64_t need_of(const Engine& engine, const std::string& stages, const Shape& shape, Format format) {
  const Plan plan = plan_of(stages, shape);
  const NoReader reader(shape);
  const auto writer = make_writer(format, plan.output);
  return engine.memory_need({plan, reader, writer.get()}).bytes;
}

// At worst, memory holds the grey image and the file, but never the whole colour image.
TEST(MemoryNeed, GreyResultNeedsNoColourPlanes) {
  const Shape shape{16384, 16384, 3};
  const auto engine = make_cpu_engine(1);
  EXPECT_LT(need_of(*engine, "gray,hist,contrast,smooth", shape, Format::png), 700 * kMB);
  EXPECT_GT(need_of(*engine, "gray,hist,contrast,smooth", shape, Format::png), 268 * kMB);
  EXPECT_GT(need_of(*make_reference_engine(), "gray", shape, Format::png), 805 * kMB);
  // If one chain goes from the reader to the writer and the file is passed on, only bands are held.
  const Plan plan = plan_of("gray", shape);
  const NoReader reader(shape);
  const auto writer = make_writer(Format::pgm, plan.output);
  EXPECT_LT(engine->memory_need({plan, reader, writer.get(), true}).bytes, 20 * kMB);
}

// Whole images in memory take twice the bytes of 8-bit images.
TEST(MemoryNeed, DoublesForSixteenBits) {
  for (const auto& engine : {make_cpu_engine(1), make_reference_engine()}) {
    for (const Format format : {Format::png, Format::pgm}) {
      const std::int64_t flat = need_of(*engine, "smooth,hist,contrast", {4000, 3000, 1}, format);
      const std::int64_t deep =
          need_of(*engine, "smooth,hist,contrast", {4000, 3000, 1, Sample::u16}, format);
      EXPECT_GT(deep, 2 * flat * 9 / 10) << engine->implementation();
      EXPECT_LT(deep, 2 * flat * 11 / 10 + 2 * kMB) << engine->implementation();
    }
  }
}

struct Kept {
  std::string name;
  int repeat = 0;
  bool source = false, outputs = false, pixels = false;
};

class JobMemoryNeed : public testing::TestWithParam<std::tuple<std::string, std::string, int, int, int>> {};

// Measures the peak of allocations by `new`; readers and writers that use malloc have separate tests. Noise
// brings the file close to its largest size.
TEST_P(JobMemoryNeed, CoversActualUse) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer replaces `new`";
  const auto& [stages, format, channels, threads, bits] = GetParam();
  const Shape shape{811, 607, channels, bits == 16 ? Sample::u16 : Sample::u8};
  const Format written = *format_by_name(format);
  for (const auto& make : {make_cpu_engine, make_reference_engine}) {
    const auto engine = make(threads);
    for (const Kept& kept : {Kept{"nothing"}, Kept{"source", 0, true}, Kept{"outputs", 0, true, true},
                             Kept{"pixels", 0, false, false, true}, Kept{"repeated", 2}}) {
      // Memory for kept images does not depend on the format.
      if (written != Format::png && kept.name != "nothing") continue;
      Job job;
      job.reader = std::make_unique<NoReader>(shape);
      job.plan = plan_of(stages, shape, format_info(written).written_bits);
      job.writer = make_writer(written, job.plan.output);
      job.repeat = kept.repeat;
      job.keep_source = kept.source;
      job.keep_outputs = kept.outputs;
      job.keep_pixels = kept.pixels;
      const MemoryNeed need = engine->memory_need({job.plan, *job.reader, job.writer.get(), false,
                                                   kept.repeat, kept.source, kept.outputs, kept.pixels});
      block_pool().set_limit(BlockPool::kNoLimit);
      const std::int64_t before = block_pool().use().in_use;
      const Outcome outcome = engine->run(std::move(job));
      ASSERT_FALSE(outcome.error) << kept.name;
      const std::int64_t taken = block_pool().use().peak - before;
      const std::string what = stages + " " + std::string(engine->implementation()) + " " + kept.name;
      // Blocks are rounded up to whole pages.
      EXPECT_LE(taken, need.with_threads(threads) + (std::int64_t{256} << 10)) << what;
      EXPECT_GE(taken, need.bytes / 4) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, JobMemoryNeed,
                         testing::Combine(testing::Values("gray,hist,contrast,smooth", "smooth",
                                                          "contrast,smooth,smooth", "hist", "clahe:2:4"),
                                          testing::Values("png", "bmp"), testing::Values(1, 3, 4),
                                          testing::Values(1, 3), testing::Values(8, 16)),
                         [](const auto& one) {
                           std::string name = std::get<0>(one.param) + "_" + std::get<1>(one.param) + "_" +
                                              std::to_string(std::get<2>(one.param)) + "_" +
                                              std::to_string(std::get<3>(one.param)) +
                                              (std::get<4>(one.param) == 16 ? "_deep" : "");
                           for (char& c : name) c = c == ',' || c == ':' ? '_' : c;
                           return name;
                         });

// A decoder that works on several bands holds memory for each of them.
TEST(MemoryNeed, CountsEveryBandInFlight) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer replaces `new`";
  const Image image = synthesize(parse_pattern("noise"), {811, 2407, 3}, 1);
  const BandedBehaviour behaviour{.seed = 3, .working_bytes = 3'000'000, .bytes_a_row = 4 * 3 * 811};
  for (const bool turned : {false, true}) {
    const Orientation orientation = turned ? Orientation::rotate_90 : Orientation::upright;
    for (const char* stages : {"gray,smooth", "hist", "resize:0:1500", "resize:0:90"}) {
      for (const int threads : {1, 2, 7}) {
        for (const bool source : {false, true}) {
          BandedLog log;
          Job job;
          job.reader = std::make_unique<BandedReader>(image.untyped_view(), behaviour, log, orientation);
          if (turned)
            job.reader = make_oriented_reader(std::move(job.reader), std::pmr::new_delete_resource());
          job.plan = plan_of(stages, job.reader->header().shape);
          job.writer = make_writer(Format::bmp, job.plan.output);
          job.keep_source = job.keep_pixels = source;
          const auto engine = make_cpu_engine(threads);
          const MemoryNeed need =
              engine->memory_need({job.plan, *job.reader, job.writer.get(), false, 0, source, false, source});
          block_pool().set_limit(BlockPool::kNoLimit);
          const std::int64_t before = block_pool().use().in_use;
          const Outcome outcome = engine->run(std::move(job));
          ASSERT_FALSE(outcome.error);
          const std::int64_t taken = block_pool().use().peak - before;
          const std::string what = std::string(stages) + (turned ? " turned " : " ") +
                                   std::to_string(threads) + (source ? " keeps its source" : "");
          // Blocks are rounded up to whole pages, and each band has several.
          EXPECT_LE(taken, need.with_threads(threads) + (std::int64_t{256} << 10)) << what;
          EXPECT_GE(taken, need.bytes / 2) << what;
        }
      }
    }
  }
}

// The need includes all results (the last one encoded and, if requested, kept), and the decoded image if
// several lists read it.
TEST(MemoryNeed, OfSeveralResultsIsWhatTheyTake) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer replaces `new`";
  using Lists = std::vector<std::string_view>;
  const Shape shape{811, 1207, 3};
  for (const auto& make : {make_cpu_engine, make_reference_engine}) {
    for (const Lists& lists : {Lists{"gray", "resize:640:480", "none"}, Lists{"smooth", "contrast", "gray"},
                               Lists{"gray,smooth", "gray,smooth,resize:90:70"}, Lists{"gray,smooth", "gray"},
                               Lists{"none", "rotate:90"}}) {
      for (const int threads : {1, 3}) {
        for (const bool kept : {false, true}) {
          const auto engine = make(threads);
          Job job;
          job.reader = std::make_unique<NoReader>(shape);
          job.plan = make_branched_plan(lists, shape);
          job.writer = make_writer(Format::bmp, job.plan.output);
          job.keep_pixels = kept;
          const MemoryNeed need =
              engine->memory_need({job.plan, *job.reader, job.writer.get(), false, 0, false, false, kept});
          block_pool().set_limit(BlockPool::kNoLimit);
          const std::int64_t before = block_pool().use().in_use;
          const Outcome outcome = engine->run(std::move(job));
          ASSERT_FALSE(outcome.error);
          const std::int64_t taken = block_pool().use().peak - before;
          const std::string what = std::string(engine->implementation()) + " " + std::string(lists[0]) +
                                   "; " + std::string(lists[1]) + ", threads " + std::to_string(threads) +
                                   (kept ? ", kept" : "");
          EXPECT_LE(taken, need.with_threads(threads) + (std::int64_t{256} << 10)) << what;
          EXPECT_GE(taken, need.bytes / 2) << what;
        }
      }
    }
  }
}

TEST(MemoryNeed, ThreadsFitTheMemory) {
  const MemoryNeed need{100, 10};
  EXPECT_EQ(need.with_threads(1), 100);
  EXPECT_EQ(need.with_threads(2), 130);  // four bands at once
  EXPECT_EQ(need.threads_within(8, 1000), 8);
  EXPECT_EQ(need.threads_within(8, 145), 3);
  EXPECT_EQ(need.threads_within(8, 129), 1);
  EXPECT_EQ(need.threads_within(8, 5), 1);
}

TEST(MemoryNeed, MissingMemoryIsAnErrorBeforeAllocation) {
  EXPECT_THROW(check_available(std::int64_t{1} << 60), Error);
  check_available(1 << 20);
  const Shape shape{2'000'000, 2'000'000, 3};
  Job job;
  job.reader = std::make_unique<NoReader>(shape);
  job.plan = plan_of("smooth", shape);
  const auto engine = make_cpu_engine(1);
  const Outcome outcome = engine->run(std::move(job));
  ASSERT_TRUE(outcome.error);
  try {
    std::rethrow_exception(outcome.error);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("bytes needed"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace imgpipe::test::memory_need_test
