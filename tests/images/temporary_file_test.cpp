// Temporary files among other processes, and on file systems with other locks. This program replaces
// flock(2), rename(2), fdatasync(2) and fsync(2), so that tests can inspect every moment.
#include "images/files/temporary_file.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "images/error.h"
#include "images/files/output_file.h"
#include "tests/support/files.h"

namespace imgpipe::test::temporary_file_test {
namespace {

namespace fs = std::filesystem;

// Called by the replaced functions. A function fails with the error number that its hook returns; 0: it
// succeeds or calls the system.
std::function<int(int fd, int operation)> before_flock;
std::function<int(const char* from)> before_rename;
std::function<int(int fd)> before_fdatasync, before_fsync;

int sync_or_fail(const std::function<int(int fd)>& before, int fd) {
  errno = before ? before(fd) : 0;
  return errno == 0 ? 0 : -1;
}

}  // namespace
}  // namespace imgpipe::test::temporary_file_test

namespace hooks = imgpipe::test::temporary_file_test;

extern "C" int fdatasync(int fd) {
  return hooks::sync_or_fail(hooks::before_fdatasync, fd);
}

extern "C" int fsync(int fd) {
  return hooks::sync_or_fail(hooks::before_fsync, fd);
}

extern "C" int flock(int fd, int operation) noexcept {
  const int error = hooks::before_flock ? hooks::before_flock(fd, operation) : 0;
  if (error == 0) return static_cast<int>(::syscall(SYS_flock, fd, operation));
  errno = error;
  return -1;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  const int error = hooks::before_rename ? hooks::before_rename(from) : 0;
  if (error == 0) return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
  errno = error;
  return -1;
}

namespace imgpipe::test::temporary_file_test {
namespace {

const std::vector<std::byte> kBytes(3000, std::byte{7});

class TemporaryFiles : public testing::Test {
 protected:
  void TearDown() override {
    before_flock = nullptr;
    before_rename = nullptr;
    before_fdatasync = nullptr;
    before_fsync = nullptr;
  }
  // Returns the calls of write_file(), in order.
  std::string calls_of(const std::function<void()>& write) {
    std::string calls;
    before_fdatasync = [&](int fd) {
      struct stat info {};
      EXPECT_EQ(::fstat(fd, &info), 0);
      EXPECT_EQ(info.st_size, static_cast<off_t>(kBytes.size())) << "all of the file";
      calls += "data ";
      return 0;
    };
    before_rename = [&](const char*) {
      calls += "rename ";
      return 0;
    };
    before_fsync = [&](int fd) {
      struct stat info {
      }, own{};
      EXPECT_EQ(::fstat(fd, &info), 0);
      EXPECT_EQ(::stat(directory_.path().c_str(), &own), 0);
      calls += info.st_ino == own.st_ino ? "directory " : "other ";
      return 0;
    };
    write();
    return calls;
  }
  [[nodiscard]] std::size_t clean(const std::string& name) const {
    return StaleTemporaryFiles().remove(directory_.file(name));
  }
  TemporaryDirectory directory_;
};

// An exclusive lock needs a descriptor for writing, a shared one a descriptor for reading.
int as_over_nfs(int fd, int operation) {
  const int access = ::fcntl(fd, F_GETFL) & O_ACCMODE;
  if ((operation & LOCK_EX) != 0 && access == O_RDONLY) return EBADF;
  if ((operation & LOCK_SH) != 0 && access == O_WRONLY) return EBADF;
  return 0;
}

TEST_F(TemporaryFiles, AreLockedUntilRenamed) {
  std::size_t renames = 0;
  before_rename = [&](const char*) {
    ++renames;
    EXPECT_EQ(clean("a.png"), 0U);
    return 0;
  };
  for (int i = 0; i < 3; ++i) write_file(directory_.file("a.png"), kBytes);
  EXPECT_EQ(renames, 3U);
  EXPECT_EQ(load(directory_.file("a.png")), kBytes);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"a.png"});
}

// A file at its final path is not locked.
TEST_F(TemporaryFiles, LeaveNoLock) {
  write_file(directory_.file("a.png"), kBytes);
  const int fd = ::open(directory_.file("a.png").c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  ::close(fd);
}

TEST_F(TemporaryFiles, AreSyncedBeforeTheRenameAndTheDirectoryAfterwards) {
  const auto write = [&](const char* name, OutputSync* sync) {
    write_file(directory_.file(name), kBytes, sync);
  };
  EXPECT_EQ(calls_of([&] { write("a.png", nullptr); }), "data rename directory ");
  OutputSync shared;
  EXPECT_EQ(calls_of([&] {
              write("a.png", &shared);
              write("b.png", &shared);
              shared.sync_names();
              shared.sync_names();
            }),
            "data rename data rename directory ");
  OutputSync off(false);
  EXPECT_EQ(calls_of([&] {
              write("c.png", &off);
              off.sync_names();
            }),
            "rename ");
}

TEST_F(TemporaryFiles, ParentsOfNewDirectoriesAreSynced) {
  std::string calls;
  EXPECT_EQ(calls_of([&] { make_directory(directory_.file("a/b/c")); }), "other other directory ");
  EXPECT_EQ(calls_of([&] { make_directory(directory_.file("a/b/c")); }), "");
}

TEST_F(TemporaryFiles, UnsyncableFilesAreStillWritten) {
  for (const int error : {EINVAL, ENOSYS, EOPNOTSUPP, EROFS}) {
    before_fdatasync = before_fsync = [error](int) { return error; };
    EXPECT_NO_THROW(write_file(directory_.file("a.png"), kBytes)) << error;
  }
  bool interrupted = false;
  before_fdatasync = [&](int) { return std::exchange(interrupted, true) ? 0 : EINTR; };
  EXPECT_NO_THROW(write_file(directory_.file("a.png"), kBytes));
  // Devices are not synced.
  before_fdatasync = before_fsync = [](int) { return EIO; };
  EXPECT_NO_THROW(write_file("/dev/null", kBytes));
}

TEST_F(TemporaryFiles, FailedSyncKeepsTheOldFile) {
  save_text(directory_.file("a.png"), "old");
  for (const int error : {EIO, ENOSPC, EDQUOT}) {
    before_fdatasync = [error](int) { return error; };
    EXPECT_THROW(write_file(directory_.file("a.png"), kBytes), Error);
    EXPECT_EQ(load_text(directory_.file("a.png")), "old");
    EXPECT_EQ(directory_.names(), std::vector<std::string>{"a.png"});
  }
  before_fdatasync = nullptr;
  before_fsync = [](int) { return EIO; };
  EXPECT_THROW(write_file(directory_.file("a.png"), kBytes), Error);
  OutputSync shared;
  write_file(directory_.file("a.png"), kBytes, &shared);
  EXPECT_THROW(shared.sync_names(), Error);
}

TEST_F(TemporaryFiles, ArePrivateUntilComplete) {
  const auto mode_of = [](const std::string& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  };
  const mode_t old_mask = ::umask(022);
  const std::string path = directory_.file("a.png");
  for (const unsigned mode : {0644U, 0666U, 0444U, 0U, 0600U}) {
    if (mode != 0644U) ::chmod(path.c_str(), mode | S_ISUID);
    OutputFile file(path);
    file.append(std::span(kBytes));
    const std::string temporary = directory_.file(directory_.names().front());
    EXPECT_EQ(mode_of(temporary), 0600U);
    file.put_in_place();
    EXPECT_EQ(mode_of(path), mode);
  }
  ::umask(old_mask);
}

// Planted links are treated by the rule of fs.protected_symlinks, even if that setting is off.
TEST_F(TemporaryFiles, PlantedLinksAreNotFollowed) {
  constexpr uid_t kOther = 65534;
  const std::string link = directory_.file("planted.png"), target = directory_.file("target.png");
  const auto is_followed = [&](mode_t directory_mode, uid_t directory_owner, uid_t link_owner) {
    fs::remove(target);
    EXPECT_EQ(::chmod(directory_.path().c_str(), directory_mode), 0);
    EXPECT_EQ(::chown(directory_.path().c_str(), directory_owner, static_cast<gid_t>(-1)), 0);
    EXPECT_EQ(::lchown(link.c_str(), link_owner, static_cast<gid_t>(-1)), 0);
    try {
      write_file(link, kBytes);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("another user"), std::string::npos) << error.what();
      EXPECT_EQ(error.kind(), ErrorKind::output);
    }
    EXPECT_TRUE(fs::is_symlink(link));
    return fs::exists(target);
  };
  fs::create_symlink("target.png", link);
  EXPECT_TRUE(is_followed(01777, ::geteuid(), ::geteuid()));
  if (::geteuid() != 0) GTEST_SKIP() << "giving a link to another user needs root";
  EXPECT_FALSE(is_followed(01777, 0, kOther));
  EXPECT_TRUE(is_followed(0777, 0, kOther)) << "all can replace any file there";
  EXPECT_TRUE(is_followed(01755, 0, kOther)) << "others cannot plant links there";
  EXPECT_TRUE(is_followed(01777, kOther, kOther)) << "the directory's owner may";
  EXPECT_EQ(::chown(directory_.path().c_str(), 0, static_cast<gid_t>(-1)), 0);
}

// Another user can open a new file for a moment, and lock it forever.
TEST_F(TemporaryFiles, WaitForAForeignLockIsLimited) {
  int tries = 0;
  before_flock = [&](int, int operation) {
    ++tries;
    EXPECT_NE(operation & LOCK_NB, 0);
    return EWOULDBLOCK;
  };
  EXPECT_THROW(write_file(directory_.file("a.png"), kBytes), Error);
  EXPECT_GT(tries, 5);
  EXPECT_TRUE(directory_.names().empty());
}

TEST_F(TemporaryFiles, StartingRunsNeverRemoveThem) {
  constexpr int kFiles = 2000;
  const pid_t cleaner = ::fork();
  ASSERT_GE(cleaner, 0);
  if (cleaner == 0) {
    for (const pid_t parent = ::getppid(); ::getppid() == parent;) (void)clean("a.png");
    ::_exit(0);
  }
  before_rename = [](const char*) { return ::usleep(100); };  // a slow file system
  const std::string path = directory_.file("a.png");
  int lost = 0;
  for (int i = 0; i < kFiles; ++i) {
    try {
      write_file(path, kBytes);
    } catch (const Error& error) {
      if (lost++ == 0) ADD_FAILURE() << error.what();
    }
    if (!fs::remove(path)) ++lost;
  }
  ::kill(cleaner, SIGKILL);
  ::waitpid(cleaner, nullptr, 0);
  EXPECT_EQ(lost, 0);
  EXPECT_TRUE(directory_.names().empty());
}

TEST_F(TemporaryFiles, StaleFilesAreRemovedOverNfs) {
  before_flock = as_over_nfs;
  save_text(directory_.file(".a.png.imgpipe-0a1b2c3d"), "left");
  {
    const TemporaryFile at_work(directory_.file("a.png"));
    EXPECT_EQ(clean("a.png"), 1U);
    EXPECT_EQ(directory_.names().size(), 1U);
  }
  // The temporary file of a read-only target is read-only, too.
  {
    const TemporaryFile at_work(directory_.file("b.png"), 0444);
    EXPECT_EQ(clean("b.png"), 0U);
  }
  EXPECT_TRUE(directory_.names().empty());
}

// Between its creation and its lock, a file can be taken for a stale one.
TEST_F(TemporaryFiles, FileTakenBeforeItsLockIsRecreated) {
  int taken = 0;
  before_flock = [&](int, int operation) {
    if ((operation & LOCK_EX) != 0 && taken++ < 2) {
      EXPECT_EQ(clean("a.png"), 1U);
    }
    return 0;
  };
  write_file(directory_.file("a.png"), kBytes);
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"a.png"});
}

// An NFS client renames a file that is removed while open, so it still has a link.
TEST_F(TemporaryFiles, FileTakenOverNfsIsRecreated) {
  bool taken = false;
  before_flock = [&](int, int) {
    if (!std::exchange(taken, true)) {
      const std::vector<std::string> names = directory_.names();
      EXPECT_EQ(names.size(), 1U);
      fs::rename(directory_.file(names.front()), directory_.file(".nfs0001"));
    }
    return 0;
  };
  write_file(directory_.file("a.png"), kBytes);
  EXPECT_EQ(directory_.names(), (std::vector<std::string>{".nfs0001", "a.png"}));
  EXPECT_EQ(load(directory_.file("a.png")), kBytes);
}

TEST_F(TemporaryFiles, NeedNoSecondDescriptor) {
  TemporaryFile file(directory_.file("a.png"));
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none_left{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  EXPECT_NO_THROW(file.put_in_place());
  ::setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"a.png"});
}

TEST_F(TemporaryFiles, NeedNoLocks) {
  before_flock = [](int, int) { return ENOLCK; };
  write_file(directory_.file("a.png"), kBytes);
  save_text(directory_.file(".a.png.imgpipe-0a1b2c3d"), "left");
  EXPECT_EQ(clean("a.png"), 0U) << "its writer may still be running";
}

// After block_new_outputs(), unfinished files are lost and other threads block, but the calling thread may
// still write.
TEST_F(TemporaryFiles, ThreadThatBlocksNewOutputsMayContinue) {
  const auto act = [this] {
    TemporaryFile begun(directory_.file("begun.png"));
    block_new_outputs();
    std::thread other([this] { write_file(directory_.file("late.png"), kBytes); });
    other.detach();
    bool lost = false;
    try {
      begun.put_in_place();
    } catch (const Error&) {
      lost = true;
    }
    write_file(directory_.file("report.json"), kBytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const bool is_right = lost && fs::exists(directory_.file("report.json")) &&
                          !fs::exists(directory_.file("begun.png")) &&
                          !fs::exists(directory_.file("late.png"));
    ::_exit(is_right ? 0 : 1);
  };
  EXPECT_EXIT(act(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace imgpipe::test::temporary_file_test
