// Tests which blocks the pool keeps and returns, and its limit.
#include "images/memory/block_pool.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "images/image.h"

namespace imgpipe::test::block_pool_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::int64_t bytes_of(double mebibytes) {
  return static_cast<std::int64_t>(mebibytes * static_cast<double>(kMiB));
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::int64_t page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Takes a block and writes all of it.
void* filled(BlockPool& pool, std::size_t bytes) {
  void* const block = pool.take(bytes);
  if (block != nullptr) std::memset(block, 0x5A, bytes);
  return block;
}

TEST(BlockPool, FreedBlockIsReusedForItsSize) {
  BlockPool pool;
  void* const first = filled(pool, 3 * kMiB);
  ASSERT_NE(first, nullptr);
  ASSERT_TRUE(pool.give_back(first));
  EXPECT_EQ(pool.use().kept, bytes_of(3));
  EXPECT_EQ(pool.take(3 * kMiB - 70'000), first);  // slightly smaller
  EXPECT_EQ(pool.use().kept, 0);
  EXPECT_EQ(pool.use().in_use, bytes_of(3));  // the whole block counts
  EXPECT_TRUE(pool.give_back(first));
}

TEST(BlockPool, RecognisesOnlyItsOwnBlocks) {
  BlockPool pool;
  std::vector<char> other(2 * BlockPool::kPageBytes);
  EXPECT_FALSE(pool.give_back(other.data()));
  void* const block = pool.take(kMiB);
  EXPECT_FALSE(pool.give_back(static_cast<char*>(block) + BlockPool::kPageBytes));
  EXPECT_TRUE(pool.give_back(block));
  EXPECT_FALSE(pool.give_back(block));
}

TEST(BlockPool, BlocksArePageAlignedAndLargeEnough) {
  BlockPool pool;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{65536}, std::size_t{65537}, 5 * kMiB + 1}) {
    void* const block = filled(pool, bytes);
    ASSERT_NE(block, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % BlockPool::kPageBytes, 0U);
    EXPECT_TRUE(pool.give_back(block));
  }
}

// Blocks in use and kept blocks together stay within the limit, and so does their resident memory.
TEST(BlockPool, UsedAndKeptBlocksStayWithinTheLimit) {
  BlockPool pool;
  constexpr std::int64_t kLimit = std::int64_t{48} << 20;
  pool.set_limit(kLimit);
  [[maybe_unused]] const std::int64_t before = resident_bytes();
  std::vector<void*> held(4, nullptr);
  std::uint64_t random = 1;
  for (int i = 0; i < 400; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    void*& block = held[random >> 62];
    if (block != nullptr) {
      ASSERT_TRUE(pool.give_back(block));
    }
    block = filled(pool, kMiB / 8 + (random >> 32) % (11 * kMiB));  // four of the largest blocks fit
    ASSERT_NE(block, nullptr);
    const BlockPool::Use use = pool.use();
    ASSERT_LE(use.in_use + use.kept, kLimit) << i;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ASSERT_LE(resident_bytes() - before, kLimit + bytes_of(1)) << i;
#endif
  }
  for (void* const block : held) EXPECT_TRUE(block == nullptr || pool.give_back(block));
  EXPECT_EQ(pool.use().in_use, 0);
  EXPECT_GT(pool.use().kept, 0);
}

TEST(BlockPool, MallocUseReducesKeptBlocks) {
  BlockPool pool;
  pool.set_limit(bytes_of(32));
  void* const block = filled(pool, 20 * kMiB);
  ASSERT_TRUE(pool.give_back(block));
  EXPECT_EQ(pool.use().kept, bytes_of(20));
  pool.set_outside(bytes_of(24));
  EXPECT_EQ(pool.use().kept, 0);
  void* const small = filled(pool, 6 * kMiB);
  ASSERT_TRUE(pool.give_back(small));
  EXPECT_EQ(pool.use().kept, bytes_of(6));
  pool.set_outside(0);
}

// Blocks in use may exceed the limit: admitting images within it is up to the caller.
TEST(BlockPool, LimitRejectsNoRequest) {
  BlockPool pool;
  pool.set_limit(bytes_of(1));
  void* const first = filled(pool, 4 * kMiB);
  void* const second = filled(pool, 4 * kMiB);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(pool.give_back(first));
  EXPECT_TRUE(pool.give_back(second));
  EXPECT_EQ(pool.use().kept, 0);
}

TEST(BlockPool, KeptBlockIsResizedIfANewOneExceedsTheLimit) {
  BlockPool pool;
  pool.set_limit(bytes_of(10));
  void* const large = filled(pool, 10 * kMiB);
  ASSERT_TRUE(pool.give_back(large));
  void* const cut = filled(pool, 4 * kMiB);
  EXPECT_EQ(cut, large);  // the first pages of `large`
  EXPECT_EQ(pool.use().in_use, bytes_of(4));
  ASSERT_TRUE(pool.give_back(cut));
  void* const grown = filled(pool, 9 * kMiB);
  EXPECT_EQ(pool.use().in_use + pool.use().kept, bytes_of(9));
  EXPECT_TRUE(pool.give_back(grown));
}

TEST(BlockPool, ReturnsNullWithoutMemory) {
  BlockPool pool;
  EXPECT_EQ(pool.take(std::size_t{1} << 60), nullptr);
  EXPECT_EQ(pool.take(~std::size_t{0}), nullptr);
  EXPECT_EQ(pool.use().in_use, 0);
}

// Without a limit a large image keeps no block beyond its peak use, but reuses the small blocks of its bands
// without a page fault.
TEST(BlockPool, BlocksOfALargeImageAreReusedWithinItsPeak) {
  BlockPool pool;
  void* const plane = filled(pool, 100 * kMiB);
  std::int64_t peak = 0;
  std::vector<std::int64_t> faults;
  for (int round = 0; round < 3; ++round) {
    const std::int64_t before = page_faults();
    std::vector<void*> bands;
    for (std::size_t i = 0; i < 8; ++i) bands.push_back(filled(pool, kMiB + i * 70'000));
    for (void* const band : bands) EXPECT_TRUE(pool.give_back(band));
    faults.push_back(page_faults() - before);
    const BlockPool::Use use = pool.use();
    peak = std::max(peak, use.peak);
    EXPECT_LE(use.in_use + use.kept, peak) << round;
    EXPECT_GT(use.kept, bytes_of(8)) << round;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_GT(faults[0], 2000);
  EXPECT_LT(faults[1] + faults[2], 200);
#endif
  EXPECT_TRUE(pool.give_back(plane));
  EXPECT_LE(pool.use().kept, peak);
}

TEST(BlockPool, FreeHugePagesAreCountedOverZones) {
  EXPECT_EQ(free_huge_bytes(""), 0);
  EXPECT_EQ(free_huge_bytes("Node 0, zone   Normal  9 9 9 9 9 9 9 9 9\n"), 0);  // up to 1 MiB
  EXPECT_EQ(free_huge_bytes("Node 0, zone      DMA      0      0      0      0      0      0      0      0"
                            "      1      1      3 \n"
                            "Node 1, zone   Normal    512 260 203 174 80 16 3 5 2 0 11"),
            bytes_of(2 + 3 * 4 + 11 * 4));
  EXPECT_EQ(free_huge_bytes("zone\nNode\n\n zone x a b c d e f g h i j k l"), 0);
}

// Huge pages take a block's memory with few page faults, if the kernel has some and permits them.
TEST(BlockPool, LargeBlocksUseHugePagesWhereFree) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers change the memory map";
#endif
  constexpr std::size_t kBytes = 64 * kMiB;
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(setting, modes);
  if (!setting || modes.find("[never]") != std::string::npos || !has_huge_pages(4 * kBytes))
    GTEST_SKIP() << "no huge pages: " << modes;
  BlockPool pool;
  const std::int64_t before = page_faults();
  void* const block = filled(pool, kBytes);
  EXPECT_LT(page_faults() - before, 2000);  // 16,384 small pages
  EXPECT_TRUE(pool.give_back(block));
}

TEST(BlockPool, ManyThreads) {
  BlockPool pool;
  pool.set_limit(bytes_of(64));
  const auto work = [&pool](unsigned seed) {
    for (unsigned i = 0; i < 2000; ++i) {
      const std::size_t bytes = (1 + (seed * 7919 + i * 104729) % 40) * 65536;
      auto* const block = static_cast<unsigned char*>(pool.take(bytes));
      ASSERT_NE(block, nullptr);
      block[0] = block[bytes - 1] = static_cast<unsigned char>(seed);
      std::this_thread::yield();
      ASSERT_EQ(block[0], seed);  // not shared with another thread
      ASSERT_EQ(block[bytes - 1], seed);
      ASSERT_TRUE(pool.give_back(block));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.use().in_use, 0);
  EXPECT_LE(pool.use().kept, bytes_of(64));
}

// `new` takes large blocks from the pool, including those of images, but not small ones.
TEST(BlockPool, NewAllocatesLargeBlocksFromThePool) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer replaces `new`";
#endif
  const std::int64_t before = block_pool().use().in_use;
  const auto used = [before] { return block_pool().use().in_use - before; };
  {
    const std::vector<char> small(BlockPool::kMinBytes - 1);
    EXPECT_EQ(used(), 0);
    const std::vector<char> large(2 * kMiB);
    EXPECT_GE(used(), bytes_of(2));
    EXPECT_LT(used(), bytes_of(2.5));
    const Image image({1024, 1024, 3});
    EXPECT_GE(used(), bytes_of(5));
  }
  EXPECT_EQ(used(), 0);
}

}  // namespace
}  // namespace imgpipe::test::block_pool_test
