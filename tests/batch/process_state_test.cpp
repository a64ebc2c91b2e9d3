// The library leaves its process unchanged: a batch, a runner and files in one call change nothing that other
// code of the process can see.
#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/memory/block_pool.h"
#include "pipeline/image_io.h"
#include "pipeline/runner.h"
#include "tests/support/batch_folder.h"

namespace imgpipe::test::process_state_test {
namespace {

std::string handlers() {
  std::string text;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) continue;
    text += std::to_string(reinterpret_cast<std::uintptr_t>(action.sa_handler)) + ":" +
            std::to_string(action.sa_flags) + " ";
  }
  return text;
}

std::string blocked_signals() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  std::string text;
  for (int signal = 1; signal < NSIG; ++signal) text += sigismember(&blocked, signal) == 1 ? '1' : '0';
  return text;
}

std::string limits() {
  std::string text;
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_CORE}) {
    rlimit limit{};
    ::getrlimit(kind, &limit);
    text += std::to_string(limit.rlim_cur) + "/" + std::to_string(limit.rlim_max) + " ";
  }
  return text;
}

std::string environment() {
  std::string text;
  for (char** variable = environ; *variable != nullptr; ++variable) text += std::string(*variable) + "\n";
  return text;
}

std::string file_mode_mask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return std::to_string(mask);
}

// Whether malloc takes a block from its heap, not as a separate mapping, after it has freed a larger one.
// Once M_MMAP_THRESHOLD is set, malloc no longer adapts in this way.
bool malloc_learns() {
  constexpr std::size_t kLarge = std::size_t{8} << 20, kSmaller = std::size_t{4} << 20;
  void* const large = std::malloc(kLarge);
  EXPECT_NE(large, nullptr);
  std::free(large);
  ::malloc_trim(0);  // otherwise free heap memory would be reused first
  const auto mappings = ::mallinfo2().hblks;
  void* const smaller = std::malloc(kSmaller);
  EXPECT_NE(smaller, nullptr);
  const bool learns = ::mallinfo2().hblks == mappings;
  std::free(smaller);
  return learns;
}

std::map<std::string, std::string> process_state() {
  const BlockPool::Use pool = block_pool().use();
  return {{"environment", environment()},
          {"signal handlers", handlers()},
          {"blocked signals", blocked_signals()},
          {"limits", limits()},
          {"file mode mask", file_mode_mask()},
          {"directory", std::filesystem::current_path().string()},
          {"locale", std::setlocale(LC_ALL, nullptr)},
          {"rounding", std::to_string(std::fegetround())},
          {"terminate", std::to_string(reinterpret_cast<std::uintptr_t>(std::get_terminate()))},
          {"new handler", std::to_string(reinterpret_cast<std::uintptr_t>(std::get_new_handler()))},
          {"malloc", malloc_learns() ? "default" : "set"},
          {"block pool", std::to_string(pool.limit) + " " + std::to_string(pool.outside)}};
}

using ProcessState = BatchTest;

TEST_F(ProcessState, IsTheSameAfterABatch) {
  const auto before = process_state();
  {
    BatchSettings small = settings(3, 2);
    small.memory_bytes = std::int64_t{64} << 20;
    Batch batch(items(), std::move(small));
    EXPECT_EQ(block_pool().use().limit, std::int64_t{64} << 20);
    expect_all_done(batch);
  }
  EXPECT_EQ(process_state(), before);
}

TEST_F(ProcessState, IsTheSameAfterARunnerAndFiles) {
  const auto before = process_state();
  {
    const Image image = read_image(in_.file(names_.front()));
    Runner runner({.device = "cpu", .threads = 3});
    const RunResult result =
        runner.run(image.untyped_view(), runner.plan(image.shape(), "gray,hist,contrast,smooth"));
    write_image(out_.file("one.png"), result.pixels);
  }
  EXPECT_EQ(process_state(), before);
}

// Checks that process_state() and malloc_learns() detect the changes that the program makes to its own
// process.
TEST(ProcessStateCheck, DetectsChanges) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_TRUE(malloc_learns());
  EXPECT_EXIT(
      {
        ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
        std::_Exit(malloc_learns() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
#endif
  const auto before = process_state();
  const BlockPoolLimit limit(1 << 20);
  EXPECT_NE(process_state(), before);
}

}  // namespace
}  // namespace imgpipe::test::process_state_test
