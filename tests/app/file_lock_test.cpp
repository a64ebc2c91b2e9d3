// File locks: which processes wait for a locked file, and how long.
#include "app/files/file_lock.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "app/files/shared_file.h"
#include "images/error.h"
#include "images/files/file_descriptor.h"
#include "tests/support/files.h"

namespace imgpipe::test::file_lock_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Opens the file separately, because flock() locks belong to open file descriptions.
class LockHolder {
 public:
  explicit LockHolder(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    EXPECT_EQ(::flock(file_.get(), LOCK_EX | LOCK_NB), 0);
  }
  void let_go() { file_.close_now(); }

 private:
  FileDescriptor file_;
};

int opened(const std::string& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

TEST(FileLock, IsExclusive) {
  const TemporaryDirectory directory;
  const FileDescriptor first(opened(directory.file("f")));
  const FileDescriptor second(opened(directory.file("f")));
  {
    const FileLock lock(first.get(), 0ms);
    EXPECT_TRUE(lock.is_held());
    EXPECT_FALSE(lock.is_busy());
    const FileLock other(second.get(), 0ms);
    EXPECT_FALSE(other.is_held());
    EXPECT_TRUE(other.is_busy());
  }
  EXPECT_TRUE(FileLock(second.get(), 0ms).is_held());
}

TEST(FileLock, WaitsUpToTheTimeout) {
  const TemporaryDirectory directory;
  const LockHolder holder(directory.file("f"));
  const FileDescriptor file(opened(directory.file("f")));
  const Clock::time_point start = Clock::now();
  EXPECT_TRUE(FileLock(file.get(), 200ms).is_busy());
  EXPECT_GE(Clock::now() - start, 200ms);
}

TEST(FileLock, FilesWithoutLocksAreNotBusy) {
  const FileLock lock(-1, 10s);
  EXPECT_FALSE(lock.is_held());
  EXPECT_FALSE(lock.is_busy());
}

TEST(SharedFileLock, WaitsForAnEndingHolder) {
  const TemporaryDirectory directory;
  LockHolder holder(directory.file("f"));
  std::thread ends([&] {
    std::this_thread::sleep_for(200ms);
    holder.let_go();
  });
  const Clock::time_point start = Clock::now();
  const SharedFileLock lock(directory.file("f"), 60s);
  EXPECT_GE(Clock::now() - start, 100ms);
  ends.join();
  const FileDescriptor other(opened(directory.file("f")));
  EXPECT_TRUE(FileLock(other.get(), 0ms).is_busy());
}

TEST(SharedFileLock, TimeoutNamesTheFile) {
  const TemporaryDirectory directory;
  const LockHolder holder(directory.file("failed\n.txt"));
  try {
    const SharedFileLock lock(directory.file("failed\n.txt"), 1s);
    FAIL() << "two have it";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output);
    EXPECT_NE(std::string(error.what()).find("failed\\x0A.txt: locked by another process for 1 s"),
              std::string::npos)
        << error.what();
  }
}

// If the awaited file has been replaced meanwhile, the new file at its path is locked.
TEST(SharedFileLock, LocksTheReplacedFile) {
  const TemporaryDirectory directory;
  LockHolder holder(directory.file("f"));
  std::thread replaces([&] {
    std::this_thread::sleep_for(100ms);
    save_text(directory.file("new"), "new");
    std::filesystem::rename(directory.file("new"), directory.file("f"));
    holder.let_go();
  });
  const SharedFileLock lock(directory.file("f"), 60s);
  replaces.join();
  const FileDescriptor now(opened(directory.file("f")));
  EXPECT_TRUE(FileLock(now.get(), 0ms).is_busy());
}

TEST(SharedFileLock, SpecialFilesAreNotLocked) {
  const SharedFileLock first("/dev/null", 1s);
  const SharedFileLock second("/dev/null", 1s);
}

}  // namespace
}  // namespace imgpipe::test::file_lock_test
