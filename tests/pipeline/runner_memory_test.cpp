// Runner on the caller's memory: arrays are read without a copy and results written there, without system
// calls, and with no more memory than estimated.
#include <chrono>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "images/error.h"
#include "images/memory/kept_memory.h"
#include "pipeline/host/chained_run.h"
#include "pipeline/runner.h"
#include "tests/support/banded_reader.h"
#include "tests/support/error_kind.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"
#include "tests/support/system_calls.h"

namespace imgpipe::test::runner_memory_test {
namespace {

constexpr std::uint64_t kSeed = 7;
const std::vector<std::string> kLists{"gray,contrast,smooth",
                                      "none",
                                      "rotate:90,contrast",
                                      "flip",
                                      "smooth,resize:20:10:area",
                                      "hist",
                                      "depth:float,smooth",
                                      "resize:7:5:bicubic,rgb,normalize:imagenet:layout=nchw",
                                      "clahe:2:4"};

Image expected_image(const Image& image, const Plan& plan) {
  Job job;
  job.reader = make_memory_reader(image.untyped_view());
  job.plan = plan;
  const Outcome outcome = make_reference_engine()->run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  Image expected(plan.output);
  copy_pixels(outcome.pixels, expected.untyped_view());
  return expected;
}

std::string text_of(const std::string& stages, const Shape& shape) {
  return stages + ", noise_image({" + std::to_string(shape.width) + ", " + std::to_string(shape.height) +
         ", " + std::to_string(shape.channels) + ", " + std::to_string(static_cast<int>(shape.sample)) +
         "}, " + std::to_string(kSeed) + ")";
}

// Calls run(image, plan) for each list, and images of many shapes.
template <class Run>
void for_images_and_plans(Runner& runner, const Run& run) {
  int next = 0;
  for (const std::string& stages : kLists) {
    for (const Size& size : few_sizes()) {
      const int channels = ++next % 4 + 1;
      const Shape shape{size.width, size.height, channels, next % 3 == 0 ? Sample::u16 : Sample::u8};
      SCOPED_TRACE(text_of(stages, shape));
      std::optional<Plan> plan;
      try {
        plan = runner.plan(shape, stages);
      } catch (const Error&) {
        continue;  // the stages reject such images
      }
      run(noise_image(shape, kSeed), *plan);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(RunnerMemory, ResultsGoToTheCallersRows) {
  int plans = 0;
  for (const char* device : {"cpu", "reference"}) {
    for (const int threads : {1, 3}) {
      Runner runner({.device = device, .threads = threads});
      for_images_and_plans(runner, [&](const Image& image, const Plan& plan) {
        const Image expected = expected_image(image, plan);
        GuardedPlane source(image.shape(), 7, 5);
        copy_pixels(image.untyped_view(), source.untyped_view());
        for (int times = 0; times < 2; ++times) {
          GuardedPlane out(plan.output, times, 3);
          RunReport report;
          runner.run(std::as_const(source).untyped_view(), plan, out.untyped_view(), &report);
          ASSERT_EQ(first_difference(expected.untyped_view(), std::as_const(out).untyped_view()), "");
          ASSERT_EQ(out.damage(), "");
          ASSERT_EQ(source.damage(), "");
          ASSERT_EQ(report.output, plan.output);
        }
        ASSERT_EQ(first_difference(image.untyped_view(), std::as_const(source).untyped_view()), "");
        ++plans;
      });
    }
  }
  EXPECT_GT(plans, 200);
}

TEST(RunnerMemory, DecodedImagesGoToTheCallersRows) {
  for (const int threads : {1, 3}) {
    Runner runner({.device = "cpu", .threads = threads});
    for_images_and_plans(runner, [&](const Image& image, const Plan& plan) {
      const Image expected = expected_image(image, plan);
      GuardedPlane out(plan.output, 2, 3);
      RunReport report;
      runner.run(make_memory_reader(image.untyped_view()), plan, out.untyped_view(), &report);
      ASSERT_EQ(first_difference(expected.untyped_view(), std::as_const(out).untyped_view()), "");
      ASSERT_EQ(report.rows.front().name, "decode");
      BandedLog log;
      runner.run(std::make_unique<BandedReader>(image.untyped_view(), BandedBehaviour{}, log), plan,
                 out.untyped_view());
      ASSERT_EQ(first_difference(expected.untyped_view(), std::as_const(out).untyped_view()), "");
      ASSERT_EQ(out.damage(), "");
      ASSERT_TRUE(log.complete(image.shape().height));
    });
  }
}

TEST(RunnerMemory, AResultMayReplaceItsImage) {
  for (const char* device : {"cpu", "reference"}) {
    Runner runner({.device = device, .threads = 1});
    for (const char* stages : {"invert", "smooth", "flip", "none", "rotate:180", "gray"}) {
      const Image image = noise_image({97, 61, 1}, kSeed);
      const Plan plan = runner.plan(image.shape(), stages);
      const Image expected = expected_image(image, plan);
      Image both(image.shape());
      copy_pixels(image.untyped_view(), both.untyped_view());
      runner.run(std::as_const(both).untyped_view(), plan, both.untyped_view());
      EXPECT_EQ(first_difference(expected.untyped_view(), std::as_const(both).untyped_view()), "")
          << device << " " << stages;
    }
  }
}

TEST(RunnerMemory, OnlyTheLastOfSeveralResultsIsWritten) {
  const Image image = noise_image({61, 37, 3}, kSeed);
  Runner runner({.device = "cpu", .threads = 2});
  for (const char* last : {"gray", "none", "resize:20:10"}) {
    const Plan plan = runner.branched_plan(image.shape(), {"gray,smooth", "none", last});
    GuardedPlane out(plan.output, 1, 1);
    runner.run(image.untyped_view(), plan, out.untyped_view());
    const Image expected = expected_image(image, runner.plan(image.shape(), last));
    EXPECT_EQ(first_difference(expected.untyped_view(), std::as_const(out).untyped_view()), "") << last;
    EXPECT_EQ(out.damage(), "");
  }
}

TEST(RunnerMemory, OutputsThatDoNotFitAreRejected) {
  const Image image = noise_image({31, 17, 3, Sample::u16}, kSeed);
  Runner runner({.device = "cpu", .threads = 1});
  const Plan plan = runner.plan(image.shape(), "gray");
  Image memory({200, 20, 1, Sample::u16});
  const HostView whole = memory.untyped_view();
  const auto rejects = [&](const HostView& out) {
    try {
      runner.run(image.untyped_view(), plan, out);
    } catch (...) {
      return kind_of(std::current_exception()) == ErrorKind::usage;
    }
    return false;
  };
  EXPECT_FALSE(rejects({whole.data, plan.output, whole.stride_bytes}));
  EXPECT_TRUE(rejects({}));
  EXPECT_TRUE(rejects({whole.data, {31, 17, 3, Sample::u16}, whole.stride_bytes}));
  EXPECT_TRUE(rejects({whole.data, {31, 17, 1}, whole.stride_bytes}));
  EXPECT_TRUE(rejects({whole.data, {31, 16, 1, Sample::u16}, whole.stride_bytes}));
  EXPECT_TRUE(rejects({whole.data + 1, plan.output, whole.stride_bytes}));
  EXPECT_TRUE(rejects({whole.data, plan.output, whole.stride_bytes + 1}));
  EXPECT_TRUE(rejects({whole.data, plan.output, 31}));
}

TEST(RunnerMemory, ReadersFailuresLeaveTheRunnerUsable) {
  const Image image = noise_image({64, 200, 3}, kSeed);
  Runner runner({.device = "cpu", .threads = 2});
  const Plan plan = runner.plan(image.shape(), "gray,smooth");
  const Image expected = expected_image(image, plan);
  Image out(plan.output);
  for (const std::int64_t fails_at : {0, 100, 199}) {
    BandedLog log;
    EXPECT_THROW(runner.run(std::make_unique<BandedReader>(image.untyped_view(),
                                                           BandedBehaviour{.fails_at = fails_at}, log),
                            plan, out.untyped_view()),
                 Error);
    runner.run(image.untyped_view(), plan, out.untyped_view());
    EXPECT_EQ(first_difference(expected.untyped_view(), std::as_const(out).untyped_view()), "");
  }
}

// The report's time lacked half of a call's time before.
TEST(RunnerMemory, WallTimeCoversTheCall) {
  const Image image = noise_image({32, 32, 3}, kSeed);
  Runner runner({.device = "cpu", .threads = 1});
  const Plan plan = runner.plan(image.shape(), "gray,contrast,smooth");
  Image out(plan.output);
  double most = 0;
  for (int i = 0; i < 200 && most < 0.8; ++i) {
    RunReport report;
    const auto start = std::chrono::steady_clock::now();
    runner.run(image.untyped_view(), plan, out.untyped_view(), &report);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    EXPECT_LE(report.wall_ms, took.count());
    most = std::max(most, report.wall_ms / took.count());
  }
  EXPECT_GT(most, 0.6);
}

// ---- system calls ---------------------------------------------------------------------------------------

TEST(RunnerMemory, MakesNoSystemCallsOnceItsBuffersExist) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes system calls too";
  const auto three = system_calls_of([] {},
                                     [] {
                                       for (int i = 0; i < 3; ++i) ::syscall(SYS_getppid);
                                     });
  if (!three) GTEST_SKIP() << "this system lets no process trace another";
  ASSERT_EQ(*three, 3);
  struct Case {
    Shape shape;
    std::string stages;
  };
  for (const auto& [shape, stages] :
       {Case{{224, 224, 3}, "gray,contrast,smooth"}, Case{{224, 224, 1}, "median"},
        Case{{224, 224, 3}, "resize:112:112:area"}, Case{{5120, 2880, 3}, "gray,contrast,smooth"},
        Case{{5120, 2880, 1}, "median"}, Case{{5120, 2880, 3}, "resize:2560:1440:area"},
        Case{{2048, 1024, 4, Sample::u16}, "rotate:90,contrast"}}) {
    const Image image(shape);
    Image out(Runner({.device = "cpu", .threads = 1}).plan(shape, stages).output);
    std::optional<Runner> runner;
    std::optional<Plan> plan;
    RunReport report;
    const auto run = [&] { runner->run(image.untyped_view(), *plan, out.untyped_view(), &report); };
    const auto calls = system_calls_of(
        [&] {
          runner.emplace(RunnerSettings{.device = "cpu", .threads = 1});
          plan = runner->plan(shape, stages);
          for (int i = 0; i < 3; ++i) run();
        },
        run);
    EXPECT_LT(calls.value(), 5) << stages << " of " << shape.width << "x" << shape.height;
  }
}

// ---- memory -----------------------------------------------------------------------------------------------

// Counts the bytes that are allocated at one time.
class CountedMemory final : public std::pmr::memory_resource {
 public:
  std::int64_t bytes = 0, peak = 0;

 private:
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    bytes += static_cast<std::int64_t>(size);
    peak = std::max(peak, bytes);
    return std::pmr::new_delete_resource()->allocate(size, alignment);
  }
  void do_deallocate(void* block, std::size_t size, std::size_t alignment) override {
    bytes -= static_cast<std::int64_t>(size);
    std::pmr::new_delete_resource()->deallocate(block, size, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

TEST(RunnerMemory, TakesNoMoreThanEstimated) {
  for (const Shape& shape : {Shape{811, 607, 3}, Shape{1201, 300, 1, Sample::u16}}) {
    const Image image = noise_image(shape, kSeed);
    for (const std::string& stages : kLists) {
      const Plan plan = make_plan(parse_stages(stages), shape);
      Image out(plan.output);
      Job job;
      job.reader = make_memory_reader(image.untyped_view());
      job.source = image.untyped_view();
      job.target = out.untyped_view();
      const MemoryNeed need = chains_need(memory_estimate_request(job, plan));
      CountedMemory memory;
      HostThreads threads(1);
      Outcome outcome;
      outcome.plan = plan;
      run_chains(job, outcome, threads, nullptr, &memory);
      EXPECT_LE(memory.peak, need.bytes) << text_of(stages, shape);
      EXPECT_EQ(memory.bytes, 0) << text_of(stages, shape);
    }
  }
}

// Only the grey image between the two passes is held as a whole.
TEST(RunnerMemory, NeitherTheImageNorTheResultCounts) {
  const Shape shape{4096, 4096, 3};
  const Plan plan = make_plan(parse_stages("gray,contrast,smooth"), shape);
  const auto reader = make_memory_reader({nullptr, shape, shape.row_bytes()});
  const MemoryNeed need =
      chains_need({.plan = plan, .reader = *reader, .source_in_memory = true, .target_in_memory = true});
  EXPECT_GE(need.bytes, plan.output.bytes());
  EXPECT_LE(need.bytes, plan.output.bytes() + (std::int64_t{3} << 20));
}

TEST(KeptMemory, KeepsBlocksUntilTrimmed) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer allocates";
  KeptMemory memory(std::int64_t{8} << 20);
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  void* const first = memory.allocate(kBytes, 64);
  EXPECT_EQ(memory.kept_bytes(), 0);
  memory.deallocate(first, kBytes, 64);
  EXPECT_EQ(memory.kept_bytes(), std::int64_t{kBytes});
  EXPECT_EQ(memory.allocate(kBytes, 64), first);
  EXPECT_EQ(memory.kept_bytes(), 0);
  memory.deallocate(first, kBytes, 64);
  memory.trim();
  EXPECT_EQ(memory.kept_bytes(), 0);
  constexpr std::size_t kMore = std::size_t{16} << 20;  // more than the limit
  memory.deallocate(memory.allocate(kMore, 64), kMore, 64);
  EXPECT_EQ(memory.kept_bytes(), 0);
}

}  // namespace
}  // namespace imgpipe::test::runner_memory_test
