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

TEST(ReadFile, ReadsWhatIsThere) {
  TemporaryFolder folder;
  save_text(folder.file("a"), "hello");
  EXPECT_EQ(read_file(folder.file("a"), 5), bytes_of("hello"));
  save_text(folder.file("empty"), "");
  EXPECT_TRUE(read_file(folder.file("empty"), 5).empty());
}

TEST(ReadFile, RefusesWhatIsNoFile) {
  TemporaryFolder folder;
  save_text(folder.file("a"), "hello");
  for (const std::string& path : {folder.file("missing"), folder.path().string(), std::string("/dev/zero"),
                                  folder.file("a/b"), std::string()}) {
    EXPECT_EQ(kind_of([&] { (void)read_file(path, 1000); }), ErrorKind::input) << path;
  }
  EXPECT_EQ(kind_of([&] { (void)read_file(folder.file("a"), 4); }), ErrorKind::input)
      << "longer than allowed";
}

TEST(ReadFile, ReadsAFifoAndStopsAtItsLimit) {
  TemporaryFolder folder;
  const std::string fifo = folder.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string text(300'000, 'x');
  std::thread writer([&] { save_text(fifo, text); });
  EXPECT_EQ(read_file(fifo, 1'000'000).size(), text.size());
  writer.join();
}

TEST(WriteFile, NewFileAndReplacement) {
  TemporaryFolder folder;
  write_file(folder.file("a"), bytes_of("one"));
  EXPECT_EQ(load_text(folder.file("a")), "one");
  write_file(folder.file("a"), bytes_of("two"));
  EXPECT_EQ(load_text(folder.file("a")), "two");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(WriteFile, KeepsPermissionsAndLinks) {
  TemporaryFolder folder;
  fs::create_directory(folder.path() / "real");
  save_text(folder.file("real/a"), "old");
  ::chmod(folder.file("real/a").c_str(), 0640);
  fs::create_symlink("real/a", folder.path() / "link");
  write_file(folder.file("link"), bytes_of("new"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(load_text(folder.file("real/a")), "new");
  struct stat info {};
  ASSERT_EQ(::stat(folder.file("real/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
  // Writing to a dangling link creates its target.
  fs::create_symlink("real/later", folder.path() / "dangling");
  write_file(folder.file("dangling"), bytes_of("x"));
  EXPECT_EQ(load_text(folder.file("real/later")), "x");
  EXPECT_EQ((TemporaryFolder().names().size()), 0U);
}

TEST(WriteFile, NewFilesFollowTheUmask) {
  TemporaryFolder folder;
  const mode_t old = ::umask(027);
  write_file(folder.file("a"), bytes_of("x"));
  ::umask(old);
  struct stat info {};
  ASSERT_EQ(::stat(folder.file("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
}

TEST(WriteFile, DevicesAreWrittenNotReplaced) {
  write_file("/dev/null", bytes_of("x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(kind_of([] { write_file("/dev/full", bytes_of("x")); }), ErrorKind::output);
}

TEST(WriteFile, RefusesAFolderAndAMissingFolder) {
  TemporaryFolder folder;
  EXPECT_EQ(kind_of([&] { write_file(folder.path().string(), bytes_of("x")); }), ErrorKind::output);
  EXPECT_EQ(kind_of([&] { write_file(folder.file("no/such/place"), bytes_of("x")); }), ErrorKind::output);
  save_text(folder.file("file"), "");
  EXPECT_EQ(kind_of([&] { write_file(folder.file("file/x"), bytes_of("x")); }), ErrorKind::output);
}

TEST(CheckWritable, ThrowsWhatWritingWouldAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::string file = folder.file("out.png");
  check_writable(file);
  EXPECT_TRUE(folder.names().empty());
  save_text(file, "old");
  check_writable(file);
  EXPECT_EQ(load_text(file), "old");
  EXPECT_EQ(folder.names().size(), 1U);
  check_writable("-");
  check_writable("/dev/full");
  for (const std::string& bad : {folder.path().string(), folder.file("none/out.png")}) {
    EXPECT_EQ(kind_of([&] { check_writable(bad); }), ErrorKind::output) << bad;
    EXPECT_EQ(kind_of([&] { write_file(bad, bytes_of("x")); }), ErrorKind::output) << bad;
  }
}

TEST(WriteFile, LongAndHostileNames) {
  TemporaryFolder folder;
  for (const std::string& name :
       {std::string(255, 'n'), std::string("new\nline"), std::string("\x1B[31m"), std::string("\xFF\xFE"),
        std::string("-q"), std::string(" "), std::string("%s%n")}) {
    write_file((folder.path() / name).string(), bytes_of(name));
    EXPECT_EQ(load_text(folder.path() / name), name);
  }
  EXPECT_EQ(folder.names().size(), 7U);
}

TEST(ReadRegularFile, NeverWaits) {
  const TemporaryFolder folder;
  save_text(folder.file("text"), "text");
  EXPECT_EQ(read_regular_file(folder.file("text"), 10).size(), 4U);
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  for (const std::string& path : {folder.file("fifo"), folder.path().string(), folder.file("missing"),
                                  std::string("/dev/zero"), std::string("-")})
    EXPECT_THROW((void)read_regular_file(path, 10), Error) << path;
  EXPECT_THROW((void)read_regular_file(folder.file("text"), 3), Error);
}

TEST(MakeFolder, MakesWhatIsMissing) {
  const TemporaryFolder folder;
  for (const char* name : {"a/b/c", "a/b/c", "a/d/", "."}) {
    make_folder(folder.file(name));
    EXPECT_TRUE(fs::is_directory(folder.file(name))) << name;
  }
  save_text(folder.file("file"), "x");
  fs::create_symlink("loop", folder.file("loop"));
  for (const char* name : {"file", "file/x", "loop", "loop/x"})
    EXPECT_EQ(kind_of([&] { make_folder(folder.file(name)); }), ErrorKind::output) << name;
}

TEST(StaleOutputs, OnlyThoseOfTheseTargetsWhoseWriterIsGone) {
  const TemporaryFolder folder;
  const std::string long_name(230, 'n');
  for (const std::string& name :
       {std::string(".a.png.imgpipe-0a1b2c3d"), std::string(".other.png.imgpipe-0a1b2c3d"),
        std::string(".a.png.imgpipe-0a1b2c3"), std::string("a.png.imgpipe-0a1b2c3d"),
        std::string(".imgpipe-0a1b2c3d"), std::string(".a.png.imgpipe-bbbbbbbb"),
        "." + long_name.substr(0, 200) + ".imgpipe-0a1b2c3d"})
    save_text(folder.file(name), "x");
  std::filesystem::create_directory(folder.file(".a.png.imgpipe-cccccccc"));
  std::filesystem::create_symlink("a", folder.file(".a.png.imgpipe-dddddddd"));
  // Another process, which holds a lock, is writing this one.
  const int other = ::open(folder.file(".a.png.imgpipe-bbbbbbbb").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  StaleOutputs stale;
  EXPECT_EQ(stale.remove(folder.file("a.png")), 1U);
  EXPECT_EQ(stale.remove(folder.file(long_name)), 1U);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{".a.png.imgpipe-0a1b2c3", ".a.png.imgpipe-bbbbbbbb",
                                                      ".a.png.imgpipe-cccccccc", ".a.png.imgpipe-dddddddd",
                                                      ".imgpipe-0a1b2c3d", ".other.png.imgpipe-0a1b2c3d",
                                                      "a.png.imgpipe-0a1b2c3d"}));
  ::close(other);
  EXPECT_EQ(stale.remove(folder.file("a.png")), 1U);
  EXPECT_EQ(stale.remove(folder.file("missing/a.png")), 0U);
}

TEST(SameFile, ThroughEveryLink) {
  TemporaryFolder folder;
  save_text(folder.file("a"), "x");
  save_text(folder.file("b"), "x");
  fs::create_hard_link(folder.path() / "a", folder.path() / "hard");
  fs::create_symlink("a", folder.path() / "soft");
  fs::create_directory(folder.path() / "sub");
  for (const char* name : {"a", "hard", "soft", "./a", "sub/../a"})
    EXPECT_TRUE(same_file(folder.file("a"), folder.file(name))) << name;
  for (const char* name : {"b", "missing", "sub"})
    EXPECT_FALSE(same_file(folder.file("a"), folder.file(name))) << name;
}

}  // namespace
}  // namespace imgpipe::test::file_test
