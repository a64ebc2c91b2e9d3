// Compares several results of one decoded image with those of separate runs by the reference, for every
// engine and any threads, bands and memory. A failure prints the lists of stages, the image and the run.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "tests/support/banded_reader.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/error_kind.h"
#include "tests/support/host_band_device.h"
#include "tests/support/images.h"
#include "tests/support/memory_writer.h"
#include "tests/support/random_stages.h"
#include "tests/support/sanitizers.h"
#include "tests/support/second_images.h"

namespace imgpipe::test::branches_test {
namespace {

constexpr int kTrials = kSanitized ? 60 : 300;
constexpr std::int64_t kMaxPixels = 24'000;  // of any frame
constexpr std::int64_t kMaxTableBytes = std::int64_t{1} << 20;

// IMGPIPE_CHAINS_SEED, if set, selects other lists.
std::uint64_t seed_of_lists() {
  const char* const text = std::getenv("IMGPIPE_CHAINS_SEED");
  return text == nullptr ? 20261126 : std::stoull(text);
}

// Lists of stages, and the image that all lists process.
struct Branches {
  std::vector<std::string> lists;
  Shape shape;
  std::uint64_t seed = 0;  // of the image's noise

  [[nodiscard]] Plan plan() const {
    std::vector<StageBranch> branches;
    for (const std::string& list : lists) branches.push_back({"'" + list + "'", steps_for(list, shape)});
    return make_branched_plan(branches, shape);
  }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::string& list : lists) text += list + "; ";
    return text + "noise_image({" + std::to_string(shape.width) + ", " + std::to_string(shape.height) + ", " +
           std::to_string(shape.channels) + ", " + std::to_string(static_cast<int>(shape.sample)) + "}, " +
           std::to_string(seed) + ")";
  }
};

bool is_small(const Plan& plan) {
  return std::ranges::all_of(plan.operations, [](const Operation& step) {
    return step.out.pixels() <= kMaxPixels &&
           table_bytes(*step.stage, step.in, step.parameters) <= kMaxTableBytes;
  });
}

// Appends a random step that the planner accepts, if a few attempts find one.
void add_step(Random& random, const Shape& shape, std::string& list) {
  for (int draw = 0; draw < 20; ++draw) {
    const std::string step = below(random, 8) == 0 ? "depth:float" : random_step(random, *any_stage(random));
    if (step.starts_with("trim")) continue;  // needs the pixels
    const std::string longer = list.empty() ? step : list + "," + step;
    try {
      if (!is_small(make_plan(steps_for(longer, shape), shape, false, std::int64_t{1} << 32))) continue;
      list = longer;
      return;
    } catch (const Error&) {
      continue;
    }
  }
}

// Some lists begin with the previous list, are its beginning, or have no steps.
Branches random_branches(Random& random) {
  Branches branches;
  const auto sample = static_cast<Sample>(below(random, 3));
  branches.shape = random_shape(random, sample, static_cast<int>(1 + below(random, 4)));
  if (below(random, 3) == 0) {
    branches.shape.width = 1 + below(random, 60);
    branches.shape.height = 1 + below(random, kMaxPixels / branches.shape.width);
  }
  branches.seed = random() % 1'000'000;
  for (std::int64_t left = 2 + below(random, 2); left > 0; --left) {
    std::string list;
    if (!branches.lists.empty() && below(random, 3) == 0) list = branches.lists.back();
    const bool shortens = !list.empty() && below(random, 2) == 0;
    if (shortens) list.erase(std::min(list.rfind(','), list.size()));
    if (list == "none") list = "";
    for (std::int64_t steps = shortens ? 0 : below(random, 4); steps > 0; --steps)
      add_step(random, branches.shape, list);
    branches.lists.push_back(list.empty() ? "none" : list);
  }
  return branches;
}

// How an engine runs the lists.
struct EngineRun {
  bool streamed = false;
  std::int64_t strip_rows = 0;
  bool keep = false;
  int repeat = 0;
  bool banded_reader = false;
  bool source_in_memory = false, target_in_memory = false;

  [[nodiscard]] std::string text() const {
    return (streamed ? "streamed in strips of " + std::to_string(strip_rows) + " rows"
                     : std::string("whole")) +
           (keep ? ", all kept" : "") + ", repeat " + std::to_string(repeat) +
           (banded_reader ? ", read in bands" : "") + (source_in_memory ? ", from memory" : "") +
           (target_in_memory ? ", to memory" : "");
  }
};

EngineRun random_run(Random& random) {
  EngineRun run{.streamed = below(random, 2) == 0,
                .strip_rows = below(random, 3) == 0 ? 0 : 1 + below(random, 20)};
  run.keep = !run.streamed && below(random, 3) == 0;
  run.repeat = !run.streamed && below(random, 4) == 0 ? 2 : 0;
  run.banded_reader = below(random, 2) == 0;
  run.source_in_memory = below(random, 2) == 0;
  run.target_in_memory = below(random, 2) == 0;
  return run;
}

// Counts the rows that it returns.
class CountedReader final : public Reader {
 public:
  CountedReader(const Image& image, std::int64_t& rows) : image_(image), rows_(rows) {
    header_.shape = image.shape();
  }

 protected:
  void read_next_rows(HostView rows) override {
    copy_pixels(image_.untyped_view().rows(rows_, rows.height), rows);
    rows_ += rows.height;
  }

 private:
  const Image& image_;
  std::int64_t& rows_;
};

std::vector<Image> separate_results(const Branches& branches, const Image& image) {
  std::vector<Image> results;
  for (const std::string& list : branches.lists) {
    Job job;
    job.reader = make_memory_reader(image.untyped_view());
    job.plan = make_plan(steps_for(list, image.shape()), image.shape());
    const Outcome outcome = make_reference_engine()->run(std::move(job));
    if (outcome.error) std::rethrow_exception(outcome.error);
    copy_pixels(outcome.pixels, results.emplace_back(outcome.pixels.shape()).untyped_view());
  }
  return results;
}

void expect_results(const Outcome& outcome, const std::vector<Image>& expected) {
  ASSERT_EQ(outcome.results.size(), expected.size());
  const std::vector<std::byte> file = outcome.file.joined();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ConstHostView got = outcome.results[i];
    const Shape shape = expected[i].shape();
    if (i + 1 == expected.size() && got.empty()) {
      ASSERT_EQ(file.size(), expected[i].size_bytes()) << "the file of result " << i;
      got = {file.data(), shape, shape.row_bytes()};
    }
    ASSERT_EQ(got.shape(), shape) << "result " << i;
    ASSERT_EQ(first_difference(expected[i].untyped_view(), got), "") << "result " << i;
  }
  EXPECT_EQ(outcome.pixels.data, outcome.results.back().data);
}

// Runs the lists and compares the results; returns false if the engine has too little memory.
bool try_run(Engine& engine, const Branches& branches, const Image& image, const EngineRun& run,
             const std::vector<Image>& expected) {
  Job job;
  std::int64_t rows = 0;
  BandedLog log;
  const BandedBehaviour ways{.seed = branches.seed + 1};
  job.reader = std::make_unique<CountedReader>(image, rows);
  if (run.banded_reader) job.reader = std::make_unique<BandedReader>(image.untyped_view(), ways, log);
  job.plan = branches.plan();
  if (run.streamed) job.writer = std::make_unique<MemoryWriter>(job.plan.output, run.strip_rows);
  job.keep_pixels = !run.streamed;
  job.keep_source = job.keep_outputs = run.keep;
  job.repeat = run.repeat;
  if (run.source_in_memory) job.source = image.untyped_view();
  GuardedPlane target(job.plan.output, 5, 3);
  if (run.target_in_memory) job.target = target.untyped_view();
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) {
    const bool lacks_memory = kind_of(outcome.error) == ErrorKind::memory;
    if (!lacks_memory) std::rethrow_exception(outcome.error);
    return false;
  }
  expect_results(outcome, expected);
  EXPECT_EQ(target.damage(), "");
  if (run.target_in_memory) {
    EXPECT_EQ(outcome.pixels.data, target.untyped_view().data);
  }
  if (run.keep) {
    EXPECT_EQ(first_difference(image.untyped_view(), outcome.source.untyped_view()), "") << "source";
  }
  if (run.source_in_memory) {
    EXPECT_TRUE(rows == 0 || rows == image.shape().height) << rows << " rows decoded";
    EXPECT_TRUE(run.banded_reader || log.bands.empty());
  } else if (run.banded_reader) {
    EXPECT_TRUE(log.by_rows || log.complete(image.shape().height)) << "not decoded once";
    EXPECT_EQ(log.faults, std::vector<std::string>());
  } else {
    EXPECT_EQ(rows, image.shape().height) << "rows decoded";
  }
  return true;
}

class BranchesOf : public testing::TestWithParam<std::string> {
 protected:
  // Runs the lists once. Increases a device's random memory limit until it suffices.
  void run_once(const Branches& branches, const Image& image, const EngineRun& run,
                const std::vector<Image>& expected) {
    const auto threads = static_cast<int>(1 + below(random_, 3));
    SCOPED_TRACE(run.text() + ", " + std::to_string(threads) + " threads");
    const auto sized = [&](const auto& run_with) {
      std::int64_t bytes = std::int64_t{4096} << below(random_, 8);
      while (!run_with(bytes)) bytes *= 4;
    };
    if (GetParam() == "reference") {
      EXPECT_TRUE(try_run(*reference_, branches, image, run, expected));
    } else if (GetParam() == "cpu") {
      EXPECT_TRUE(try_run(*cpu_[static_cast<std::size_t>(threads - 1)], branches, image, run, expected));
    } else if (GetParam() == "bands") {
      sized([&](std::int64_t bytes) {
        HostBandDevice device(bytes, below(random_, 2) == 0 ? Queued::at_once : Queued::on_wait);
        HostBandEngine engine(device, threads);
        const bool ran = try_run(engine, branches, image, run, expected);
        EXPECT_EQ(device.faults, std::vector<std::string>());
        return ran;
      });
    } else if (below(random_, 2) == 0) {
      EXPECT_TRUE(try_run(*make_cuda_engine(0, threads), branches, image, run, expected));
    } else {
      sized([&](std::int64_t bytes) {
        return try_run(*make_cuda_engine(0, threads, bytes), branches, image, run, expected);
      });
    }
  }

  const std::uint64_t seed_ = seed_of_lists();
  Random random_{seed_};
  const std::unique_ptr<Engine> reference_ = make_reference_engine();
  const std::array<std::unique_ptr<Engine>, 3> cpu_{make_cpu_engine(1), make_cpu_engine(2),
                                                    make_cpu_engine(3)};
};

TEST_P(BranchesOf, EqualSeparateRuns) {
  if (GetParam() == "cuda") IMGPIPE_NEED_CUDA();
  SCOPED_TRACE("IMGPIPE_CHAINS_SEED=" + std::to_string(seed_));
  const int trials = GetParam() == "cuda" ? kTrials / 3 : kTrials;
  for (int i = 0; i < trials && !HasFailure(); ++i) {
    const Branches branches = random_branches(random_);
    SCOPED_TRACE(branches.text());
    const Image image = noise_image(branches.shape, branches.seed);
    const std::vector<Image> expected = separate_results(branches, image);
    for (int runs = 0; runs < 3 && !HasFailure(); ++runs)
      run_once(branches, image, random_run(random_), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, BranchesOf, testing::Values("reference", "cpu", "bands", "cuda"),
                         [](const auto& engine) { return engine.param; });

// The written image is streamed although another result is computed from it and may need far more of its rows
// at once than a band has.
TEST(Branches, AnImageIsStreamedThatAnotherResultIsMadeOf) {
  for (const std::vector<std::string>& lists : {std::vector<std::string>{"gray,resize:4:2", "gray"},
                                                {"smooth,crop:5x3+1+50", "smooth"},
                                                {"smooth,resize:20:11", "hist,contrast", "smooth"},
                                                {"resize:4:2", "none"},
                                                {"none", "none"}}) {
    const Branches branches{lists, {31, 203, 3}, 1};
    SCOPED_TRACE(branches.text());
    const Image image = noise_image(branches.shape, branches.seed);
    const std::vector<Image> expected = separate_results(branches, image);
    for (const int threads : {1, 3}) {
      for (const EngineRun& run :
           {EngineRun{true, 0}, EngineRun{true, 7}, EngineRun{true, 7, false, 0, true}}) {
        SCOPED_TRACE(run.text() + ", " + std::to_string(threads) + " threads");
        EXPECT_TRUE(try_run(*make_cpu_engine(threads), branches, image, run, expected));
        HostBandDevice device(100'000, Queued::on_wait);
        HostBandEngine engine(device, threads);
        EXPECT_TRUE(try_run(engine, branches, image, run, expected));
        EXPECT_EQ(device.faults, std::vector<std::string>());
      }
    }
  }
}

std::vector<std::string> labels_of(const Plan& plan) {
  std::vector<std::string> labels;
  for (const Step& step : plan.steps) labels.push_back(step.label);
  return labels;
}

TEST(Branches, StepsThatListsBeginWithRunOnce) {
  const Branches branches{{"gray,contrast,smooth", "gray,hist,resize:8:6", "smooth", "gray", "none"},
                          {40, 30, 3}};
  const Plan plan = branches.plan();
  EXPECT_EQ(labels_of(plan), (std::vector<std::string>{"gray", "hist*", "contrast", "smooth", "resize:8:6",
                                                       "split*", "smooth#2", "merge*"}));
  using Result = std::optional<std::size_t>;
  EXPECT_EQ(plan.results, (std::vector<Result>{3, 4, 7, 0, Result()}));
  EXPECT_EQ(plan.output, branches.shape);
  const Image image = noise_image(branches.shape, 1);
  Job job;
  job.reader = make_memory_reader(image.untyped_view());
  job.plan = plan;
  const Outcome outcome = make_reference_engine()->run(std::move(job));
  ASSERT_FALSE(outcome.error);
  for (const std::string& label : labels_of(plan))
    EXPECT_EQ(std::ranges::count(outcome.timeline.spans(), label, &Span::name), 1) << label;
}

// A step that occurs twice in one list runs twice.
TEST(Branches, OneListIsThePlanThatMakePlanMakes) {
  for (const std::string list :
       {"hist,hist,contrast", "smooth,smooth", "none", "gray,hist,contrast,smooth"}) {
    const Branches branches{{list}, {8, 6, 4}};
    const Plan plan = make_plan(parse_stages(list), branches.shape);
    EXPECT_EQ(labels_of(branches.plan()), labels_of(plan)) << list;
    EXPECT_EQ(branches.plan().results, plan.results) << list;
    EXPECT_EQ(branches.plan().output, plan.output) << list;
  }
}

TEST(Branches, ErrorsNameTheList) {
  const auto error_of = [](const std::vector<std::string_view>& lists, std::int64_t max_pixels = 1000) {
    try {
      (void)make_branched_plan(lists, {8, 4, 3}, max_pixels);
    } catch (const Error& error) {
      return std::string(error.kind() == ErrorKind::usage ? "usage: " : "input: ") + error.what();
    }
    return std::string("none");
  };
  EXPECT_EQ(error_of({"gray", "smooth,crop:9x9"}).substr(0, 38), "usage: list 2, 'smooth,crop:9x9': crop");
  EXPECT_EQ(error_of({"blurred", "gray"}).substr(0, 25), "usage: list 1, 'blurred':");
  const std::string too_large =
      "input: list 3, 'resize:100:100': resize:100:100 would produce 100x100 pixels";
  EXPECT_EQ(error_of({"gray", "gray", "resize:100:100"}).substr(0, too_large.size()), too_large);
  EXPECT_EQ(error_of({}), "usage: expected at least 1 list of stages");
  EXPECT_EQ(error_of({"gray", "none"}), "none");
}

}  // namespace
}  // namespace imgpipe::test::branches_test
