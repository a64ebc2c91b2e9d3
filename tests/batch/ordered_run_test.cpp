// Parts that begin and end in order, with any number of threads and slots, and a failure in any step.
#include "pipeline/host/ordered_run.h"

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace imgpipe::test::ordered_run_test {
namespace {

struct Seen {
  std::vector<int> begun, ended;
  std::atomic<int> worked{0};
  std::string error;
};

// Runs `parts` parts; step `bad_step` of part `bad` throws.
void run_parts(HostThreads& threads, std::size_t slots, int parts, char bad_step, int bad, Seen& seen) {
  std::vector<int> part_of(slots, -1);  // -1: the slot is free
  std::vector<char> worked(static_cast<std::size_t>(parts), 0);
  int next = 0;
  const auto step = [&](char name, int part) {
    if (name == bad_step && part == bad) throw std::runtime_error(name + std::to_string(part));
  };
  try {
    run_in_order(threads, slots,
                 {[&](std::size_t slot, int thread) {
                    EXPECT_LT(thread, threads.count());
                    if (next == parts) return false;
                    EXPECT_EQ(part_of.at(slot), -1) << "a slot that is in use";
                    part_of[slot] = next;
                    seen.begun.push_back(next);
                    step('b', next++);
                    return true;
                  },
                  [&](std::size_t slot, int) {
                    step('w', part_of[slot]);
                    worked[static_cast<std::size_t>(part_of[slot])] = 1;
                    ++seen.worked;
                  },
                  [&](std::size_t slot, int) {
                    EXPECT_EQ(worked[static_cast<std::size_t>(part_of[slot])], 1);
                    step('e', part_of[slot]);
                    seen.ended.push_back(part_of[slot]);
                    part_of[slot] = -1;
                  }});
  } catch (const std::runtime_error& error) {
    seen.error = error.what();
  }
}

std::vector<int> first_of(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

TEST(OrderedRun, BeginsAndEndsInOrder) {
  for (const int count : {1, 2, 3, 8}) {
    HostThreads threads(count);
    ASSERT_EQ(threads.count(), count);
    for (const std::size_t slots : {1U, 2U, 3U, 10U}) {
      for (const int parts : {0, 1, 2, 5, 400}) {
        SCOPED_TRACE(std::to_string(count) + " " + std::to_string(slots) + " " + std::to_string(parts));
        Seen seen;
        run_parts(threads, slots, parts, ' ', -1, seen);
        EXPECT_EQ(seen.error, "");
        EXPECT_EQ(seen.begun, first_of(parts));
        EXPECT_EQ(seen.ended, first_of(parts));
        EXPECT_EQ(seen.worked, parts);
      }
    }
  }
}

// A thread that ended a part in the slot that it used last finds this slot free, with its memory cached.
TEST(OrderedRun, ThreadsReuseTheSlotsThatTheyUsedLast) {
  constexpr int kParts = 2000;
  for (const int count : {2, 3}) {
    HostThreads threads(count);
    const std::size_t slots = 2 * static_cast<std::size_t>(count);
    std::vector<int> user(slots, -1);
    std::vector<std::atomic<int>> freed_by(slots);  // -1: in use, or not used yet
    for (auto& thread : freed_by) thread = -1;
    std::vector<int> hot(static_cast<std::size_t>(count), 0);
    int next = 0;
    run_in_order(threads, slots,
                 {[&](std::size_t slot, int thread) {
                    if (next++ == kParts) return false;
                    for (std::size_t other = 0; other < slots; ++other) {
                      if (user[other] != thread || freed_by[other] != thread) continue;
                      ++hot[static_cast<std::size_t>(thread)];
                      EXPECT_EQ(user[slot], thread) << "slot " << slot << " instead of " << other;
                      break;
                    }
                    user[slot] = thread;
                    freed_by[slot] = -1;
                    return true;
                  },
                  [](std::size_t, int) { std::this_thread::yield(); },
                  [&](std::size_t slot, int thread) { freed_by[slot] = thread; }});
    EXPECT_GT(std::accumulate(hot.begin(), hot.end(), 0), 0) << count;
  }
}

TEST(OrderedRun, FailureReachesTheCallerAndStopsTheRest) {
  for (const int count : {1, 2, 5}) {
    HostThreads threads(count);
    for (const char bad_step : {'b', 'w', 'e'}) {
      for (const int bad : {0, 1, 37, 99}) {
        SCOPED_TRACE(std::string(1, bad_step) + std::to_string(bad));
        Seen seen;
        run_parts(threads, 4, 100, bad_step, bad, seen);
        EXPECT_EQ(seen.error, bad_step + std::to_string(bad));
        EXPECT_LE(static_cast<int>(seen.ended.size()), bad);
        EXPECT_EQ(seen.ended, first_of(static_cast<int>(seen.ended.size()))) << "none was left out before it";
        Seen again;
        run_parts(threads, 4, 20, ' ', -1, again);
        EXPECT_EQ(again.ended, first_of(20)) << "the threads are none the worse";
      }
    }
  }
}

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST(HostThreads, TheFirstWorkForSeveralStartsThem) {
  const std::ptrdiff_t before = threads_of_process();
  HostThreads threads(4);
  const auto nothing = [](int) {};
  threads.run(1, nothing);
  EXPECT_EQ(threads_of_process(), before);
  threads.run(2, nothing);
  EXPECT_EQ(threads_of_process(), before + 3);
  threads.run(4, nothing);
  EXPECT_EQ(threads_of_process(), before + 3);
  EXPECT_EQ(threads.count(), 4);
}

TEST(HostThreads, UsesAtMostTheRequestedThreads) {
  HostThreads threads(6);
  for (const int most : {1, 2, 4, 6, 99}) {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> calls(6);
      threads.run(most, [&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
      int all = 0;
      for (const std::atomic<int>& one : calls) {
        EXPECT_LE(one, 1);
        all += one;
      }
      EXPECT_EQ(calls[0], 1);
      EXPECT_LE(all, most);
    }
  }
  EXPECT_EQ(HostThreads(1).count(), 1);
}

}  // namespace
}  // namespace imgpipe::test::ordered_run_test
