// Fails allocations of a batch's threads: a single one, several in a row, or all from a given one on. No
// image is wrong or lost, nothing hangs, and the process survives. This program replaces operator new below.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/signals.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/synth.h"
#include "pipeline/jobs/batch.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/sanitizers.h"

namespace {

std::atomic<long> allocations{0};  // by threads that are not spared
std::atomic<long> first_to_fail{std::numeric_limits<long>::max()};
std::atomic<long> last_to_fail{std::numeric_limits<long>::max()};
thread_local bool spared = false;

[[maybe_unused]] void* allocate(std::size_t bytes, std::size_t alignment) {
  if (!spared) {
    const long number = allocations++;
    if (number >= first_to_fail && number <= last_to_fail) throw std::bad_alloc();
  }
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  void* block = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

#if !IMGPIPE_TEST_SANITIZED
void* operator new(std::size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
// Not inlined: GCC would see std::free() on memory from operator new, and warn.
[[gnu::noinline]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
#endif

namespace imgpipe::test::failing_allocation_test {
namespace {

class FailingAllocation : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer has an operator new of its own";
    spared = true;
    const std::vector<std::pair<Format, Shape>> kinds{{Format::png, {64, 48, 3}},
                                                      {Format::jpeg, {57, 33, 3}},
                                                      {Format::ppm, {20, 300, 3}},
                                                      {Format::bmp, {9, 9, 3}}};
    for (const auto& [format, shape] : kinds) {
      const Image image = synthesize(parse_pattern("photo"), shape, 1);
      const auto writer = make_writer(format, image.shape());
      writer->write_rows(image.view());
      names_.push_back("image" + std::to_string(names_.size()));
      save(in_.file(names_.back()), writer->finish().joined());
    }
    run(settings(2, 1), 0, -1);
    for (const std::string& name : names_) expected_.push_back(load(out_.file(name)));
  }
  void TearDown() override {
    fail(std::numeric_limits<long>::max(), std::numeric_limits<long>::max());
    spared = false;
  }

  static void fail(long first, long last) {
    first_to_fail = first;
    last_to_fail = last;
    allocations = 0;
  }

  static BatchSettings settings(int jobs, int threads) {
    BatchSettings settings;
    settings.stages = parse_stages("gray,hist,contrast,smooth");
    settings.jobs = jobs;
    settings.threads = threads;
    return settings;
  }

  struct Ended {
    long allocations = 0;
    std::size_t done = 0, failed = 0;
    std::optional<Error> fatal;
  };

  // Allocations `first` to `last` fail, except in this thread.
  Ended run(BatchSettings settings, long first, long last) {
    std::filesystem::remove_all(out_.path());
    std::filesystem::create_directories(out_.path());
    std::vector<BatchItem> items;
    for (const std::string& name : names_) items.push_back({in_.file(name), out_.file(name), Format::png});
    fail(first, last);
    Ended ended;
    {
      Batch batch(std::move(items), std::move(settings));
      std::set<std::size_t> seen;
      const auto start = std::chrono::steady_clock::now();
      while (!batch.finished() && std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) {
        const std::optional<BatchResult> result = batch.next(std::chrono::seconds(1));
        if (!result) continue;
        EXPECT_TRUE(seen.insert(result->item).second);
        check_result(*result, ended);
      }
      EXPECT_TRUE(batch.finished()) << "it hangs";
      ended.fatal = batch.fatal();
    }
    ended.allocations = allocations;
    return ended;
  }

  void check_result(const BatchResult& result, Ended& ended) const {
    const std::string& name = names_[result.item];
    if (!result.failed) {
      ++ended.done;
      EXPECT_TRUE(expected_.empty() || load(out_.file(name)) == expected_[result.item]) << name;
      return;
    }
    ++ended.failed;
    EXPECT_EQ(result.failed, ErrorKind::memory) << result.reason;
    EXPECT_NE(result.reason.find(name + ": not enough memory"), std::string::npos) << result.reason;
  }

  // Runs the batch repeatedly and fails `in_a_row` allocations each time, starting `step` allocations later
  // than in the previous run.
  void expect_sound(const std::function<BatchSettings()>& make, long in_a_row, long step) {
    bool some_failed = false;
    for (long first = 0;; first += step) {
      SCOPED_TRACE(first);
      const Ended ended = run(make(), first, first + in_a_row - 1);
      if (!ended.fatal) {
        EXPECT_EQ(ended.done + ended.failed, names_.size());
      } else {
        EXPECT_NE(std::string(ended.fatal->what()).find("not enough memory"), std::string::npos)
            << ended.fatal->what();
      }
      some_failed = some_failed || ended.failed > 0;
      if (HasFailure() || ended.allocations < first) break;
    }
    EXPECT_TRUE(some_failed) << "none was in the way of an image";
  }

  TemporaryDirectory in_, out_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::byte>> expected_;
};

TEST_F(FailingAllocation, InAWorkerFailsOnlyItsImage) {
  expect_sound([] { return settings(1, 1); }, 1, 1);
}

TEST_F(FailingAllocation, InManyWorkersFailsOnlyTheirImages) {
  expect_sound([] { return settings(3, 1); }, 2, 3);
}

TEST_F(FailingAllocation, InABandThreadFailsOnlyItsImage) {
  expect_sound([] { return settings(1, 3); }, 1, 2);
}

TEST_F(FailingAllocation, InTheReferenceFailsOnlyItsImage) {
  expect_sound(
      [] {
        BatchSettings with = settings(2, 2);
        with.make_engine = make_reference_engine;
        return with;
      },
      1, 3);
}

TEST_F(FailingAllocation, SeveralInARowAreRetried) {
  expect_sound([] { return settings(2, 2); }, 40, 211);
}

TEST_F(FailingAllocation, InALaneFailsItsImageOrTheLane) {
  for (const bool host_helps : {false, true}) {
    SCOPED_TRACE(host_helps);
    expect_sound(
        [&] {
          BatchSettings with = settings(2, 1);
          std::vector<std::unique_ptr<Lane>> lanes;
          lanes.push_back(std::make_unique<HostLane>("lane:0"));
          with.find_lanes = offering(std::move(lanes));
          with.host_helps = host_helps;
          return with;
        },
        1, 3);
  }
}

// Without any memory, the batch ends, because neither an image nor its error can be reported.
TEST_F(FailingAllocation, PermanentFailureEndsTheBatch) {
  for (const long first : {60L}) {
    const Ended ended = run(settings(2, 1), first, std::numeric_limits<long>::max());
    ASSERT_TRUE(ended.fatal);
    EXPECT_EQ(ended.fatal->kind(), ErrorKind::memory);
    EXPECT_STREQ(ended.fatal->what(), "not enough memory");
  }
}

TEST(LastResort, UncaughtBadAllocPrintsOneLine) {
  const auto nobody_catches = [](const auto& action) noexcept { action(); };
  EXPECT_EXIT(
      {
        install_last_resort();
        nobody_catches([] { throw std::bad_alloc(); });
      },
      testing::ExitedWithCode(1), "^imgpipe: not enough memory\n$");
  EXPECT_EXIT(
      {
        install_last_resort();
        nobody_catches([] { throw Error(ErrorKind::input, "a defect"); });
      },
      testing::KilledBySignal(SIGABRT), "a defect");
}

}  // namespace
}  // namespace imgpipe::test::failing_allocation_test
