// Reading and atomic writing.
#include "images/files/file.h"

#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/error.h"
#include "images/files/output_file.h"
#include "images/files/temporary_file.h"
#include "tests/support/files.h"

namespace imgpipe::test::file_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

ErrorKind kind_of(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::usage;
}

TEST(ReadFile, ReadsTheWholeFile) {
  TemporaryDirectory directory;
  save_text(directory.file("a"), "hello");
  EXPECT_EQ(read_file(directory.file("a"), 5), bytes_of("hello"));
  save_text(directory.file("empty"), "");
  EXPECT_TRUE(read_file(directory.file("empty"), 5).empty());
}

TEST(ReadFile, RejectsNonFiles) {
  TemporaryDirectory directory;
  save_text(directory.file("a"), "hello");
  for (const std::string& path : {directory.file("missing"), directory.path().string(),
                                  std::string("/dev/zero"), directory.file("a/b"), std::string()}) {
    EXPECT_EQ(kind_of([&] { (void)read_file(path, 1000); }), ErrorKind::input) << path;
  }
  EXPECT_EQ(kind_of([&] { (void)read_file(directory.file("a"), 4); }), ErrorKind::input)
      << "longer than allowed";
}

TEST(ReadFile, ReadsAFifoAndStopsAtItsLimit) {
  TemporaryDirectory directory;
  const std::string fifo = directory.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string text(300'000, 'x');
  std::thread writer([&] { save_text(fifo, text); });
  EXPECT_EQ(read_file(fifo, 1'000'000).size(), text.size());
  writer.join();
}

TEST(WriteFile, NewFileAndReplacement) {
  TemporaryDirectory directory;
  write_file(directory.file("a"), bytes_of("one"));
  EXPECT_EQ(load_text(directory.file("a")), "one");
  write_file(directory.file("a"), bytes_of("two"));
  EXPECT_EQ(load_text(directory.file("a")), "two");
  EXPECT_EQ(directory.names(), std::vector<std::string>{"a"});
}

TEST(WriteFile, KeepsPermissionsAndLinks) {
  TemporaryDirectory directory;
  fs::create_directory(directory.path() / "real");
  save_text(directory.file("real/a"), "old");
  ::chmod(directory.file("real/a").c_str(), 0640);
  fs::create_symlink("real/a", directory.path() / "link");
  write_file(directory.file("link"), bytes_of("new"));
  EXPECT_TRUE(fs::is_symlink(directory.path() / "link"));
  EXPECT_EQ(load_text(directory.file("real/a")), "new");
  struct stat info {};
  ASSERT_EQ(::stat(directory.file("real/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
  // Writing to a dangling link creates its target.
  fs::create_symlink("real/later", directory.path() / "dangling");
  write_file(directory.file("dangling"), bytes_of("x"));
  EXPECT_EQ(load_text(directory.file("real/later")), "x");
  EXPECT_EQ((TemporaryDirectory().names().size()), 0U);
}

TEST(WriteFile, NewFilesFollowTheUmask) {
  TemporaryDirectory directory;
  const mode_t old = ::umask(027);
  write_file(directory.file("a"), bytes_of("x"));
  ::umask(old);
  struct stat info {};
  ASSERT_EQ(::stat(directory.file("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
}

TEST(WriteFile, DevicesAreWrittenNotReplaced) {
  write_file("/dev/null", bytes_of("x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(kind_of([] { write_file("/dev/full", bytes_of("x")); }), ErrorKind::output);
}

TEST(WriteFile, RejectsADirectoryAndAMissingDirectory) {
  TemporaryDirectory directory;
  EXPECT_EQ(kind_of([&] { write_file(directory.path().string(), bytes_of("x")); }), ErrorKind::output);
  EXPECT_EQ(kind_of([&] { write_file(directory.file("no/such/place"), bytes_of("x")); }), ErrorKind::output);
  save_text(directory.file("file"), "");
  EXPECT_EQ(kind_of([&] { write_file(directory.file("file/x"), bytes_of("x")); }), ErrorKind::output);
}

TEST(CheckWritable, ThrowsLikeWritingAndLeavesNoFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("out.png");
  check_writable(file);
  EXPECT_TRUE(directory.names().empty());
  save_text(file, "old");
  check_writable(file);
  EXPECT_EQ(load_text(file), "old");
  EXPECT_EQ(directory.names().size(), 1U);
  check_writable("-");
  check_writable("/dev/full");
  for (const std::string& bad : {directory.path().string(), directory.file("none/out.png")}) {
    EXPECT_EQ(kind_of([&] { check_writable(bad); }), ErrorKind::output) << bad;
    EXPECT_EQ(kind_of([&] { write_file(bad, bytes_of("x")); }), ErrorKind::output) << bad;
  }
}

TEST(WriteFile, LongAndHostileNames) {
  TemporaryDirectory directory;
  for (const std::string& name :
       {std::string(255, 'n'), std::string("new\nline"), std::string("\x1B[31m"), std::string("\xFF\xFE"),
        std::string("-q"), std::string(" "), std::string("%s%n")}) {
    write_file((directory.path() / name).string(), bytes_of(name));
    EXPECT_EQ(load_text(directory.path() / name), name);
  }
  EXPECT_EQ(directory.names().size(), 7U);
}

TEST(ReadRegularFile, NeverWaits) {
  const TemporaryDirectory directory;
  save_text(directory.file("text"), "text");
  EXPECT_EQ(read_regular_file(directory.file("text"), 10).size(), 4U);
  ASSERT_EQ(::mkfifo(directory.file("fifo").c_str(), 0600), 0);
  for (const std::string& path : {directory.file("fifo"), directory.path().string(),
                                  directory.file("missing"), std::string("/dev/zero"), std::string("-")})
    EXPECT_THROW((void)read_regular_file(path, 10), Error) << path;
  EXPECT_THROW((void)read_regular_file(directory.file("text"), 3), Error);
}

TEST(MakeDirectory, CreatesMissingParents) {
  const TemporaryDirectory directory;
  for (const char* name : {"a/b/c", "a/b/c", "a/d/", "."}) {
    make_directory(directory.file(name));
    EXPECT_TRUE(fs::is_directory(directory.file(name))) << name;
  }
  save_text(directory.file("file"), "x");
  fs::create_symlink("loop", directory.file("loop"));
  for (const char* name : {"file", "file/x", "loop", "loop/x"})
    EXPECT_EQ(kind_of([&] { make_directory(directory.file(name)); }), ErrorKind::output) << name;
}

TEST(StaleTemporaryFiles, AreRemovedOnlyForTheseTargetsWithoutAWriter) {
  const TemporaryDirectory directory;
  const std::string long_name(230, 'n');
  for (const std::string& name :
       {std::string(".a.png.imgpipe-0a1b2c3d"), std::string(".other.png.imgpipe-0a1b2c3d"),
        std::string(".a.png.imgpipe-0a1b2c3"), std::string("a.png.imgpipe-0a1b2c3d"),
        std::string(".imgpipe-0a1b2c3d"), std::string(".a.png.imgpipe-bbbbbbbb"),
        "." + long_name.substr(0, 200) + ".imgpipe-0a1b2c3d"})
    save_text(directory.file(name), "x");
  std::filesystem::create_directory(directory.file(".a.png.imgpipe-cccccccc"));
  std::filesystem::create_symlink("a", directory.file(".a.png.imgpipe-dddddddd"));
  // This file is locked, as if another process were still writing it.
  const int other = ::open(directory.file(".a.png.imgpipe-bbbbbbbb").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  StaleTemporaryFiles stale;
  EXPECT_EQ(stale.remove(directory.file("a.png")), 1U);
  EXPECT_EQ(stale.remove(directory.file(long_name)), 1U);
  EXPECT_EQ(directory.names(), (std::vector<std::string>{".a.png.imgpipe-0a1b2c3", ".a.png.imgpipe-bbbbbbbb",
                                                         ".a.png.imgpipe-cccccccc", ".a.png.imgpipe-dddddddd",
                                                         ".imgpipe-0a1b2c3d", ".other.png.imgpipe-0a1b2c3d",
                                                         "a.png.imgpipe-0a1b2c3d"}));
  ::close(other);
  EXPECT_EQ(stale.remove(directory.file("a.png")), 1U);
  EXPECT_EQ(stale.remove(directory.file("missing/a.png")), 0U);
}

TEST(SameFile, DetectedThroughEveryLink) {
  TemporaryDirectory directory;
  save_text(directory.file("a"), "x");
  save_text(directory.file("b"), "x");
  fs::create_hard_link(directory.path() / "a", directory.path() / "hard");
  fs::create_symlink("a", directory.path() / "soft");
  fs::create_directory(directory.path() / "sub");
  for (const char* name : {"a", "hard", "soft", "./a", "sub/../a"})
    EXPECT_TRUE(same_file(directory.file("a"), directory.file(name))) << name;
  for (const char* name : {"b", "missing", "sub"})
    EXPECT_FALSE(same_file(directory.file("a"), directory.file(name))) << name;
}

}  // namespace
}  // namespace imgpipe::test::file_test
