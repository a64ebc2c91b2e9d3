// Tests which blocks the pool keeps and returns, and its limit.
#include "images/memory/block_pool.h"

#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
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
