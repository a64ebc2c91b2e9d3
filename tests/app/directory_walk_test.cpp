// Nested directories whose depth exceeds the call stack and whose paths exceed the system's limit.
#include "app/jobs/directory_walk.h"

#include <set>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/batch_cli.h"

namespace imgpipe::test::directory_walk_test {
namespace {

class DirectoryWalkTest : public BatchCli {
 protected:
  void TearDown() override { (void)run_bash("rm -rf deep out", directory_.path().string()); }

  // Makes `levels` nested directories named d below deep/, with an image in deep/ and in the innermost
  // directory.
  void make_deep(int levels) const {
    const auto add_image = [&](int directory) {
      const int fd = ::openat(directory, "x.ppm", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
      EXPECT_EQ(::write(fd, "P6\n1 1\n255\nabc", 14), 14);
      ::close(fd);
    };
    fs::create_directory(file("deep"));
    int directory = ::open(file("deep").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    add_image(directory);
    for (int i = 0; i < levels; ++i) {
      ASSERT_EQ(::mkdirat(directory, "d", 0777), 0);
      const int below = ::openat(directory, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      ::close(directory);
      directory = below;
    }
    add_image(directory);
    ::close(directory);
  }

  [[nodiscard]] int run_on_a_small_stack(const std::string& arguments) const {
    return run_bash("ulimit -s 512; \"$I\" " + arguments + " > said 2> wrong", directory_.path().string());
  }
  [[nodiscard]] std::string images_written() const {
    (void)run_bash("find out -type f | wc -l > count", directory_.path().string());
    return load_text(file("count"));
  }
};

TEST_F(DirectoryWalkTest, WalksAThousandLevelsOnASmallStack) {
  make_deep(1000);
  EXPECT_EQ(run_on_a_small_stack("deep out --recursive -q"), 0) << load_text(file("wrong"));
  EXPECT_EQ(images_written(), "2\n");
  EXPECT_EQ(run_on_a_small_stack("'deep/**' out2/ --recursive --dry-run"), 0) << load_text(file("wrong"));
  EXPECT_NE(load_text(file("said")).find("\n2 to do"), std::string::npos) << load_text(file("said"));
}

TEST_F(DirectoryWalkTest, ReportsDirectoriesBeyondTheLongestPath) {
  make_deep(3000);
  EXPECT_EQ(run_on_a_small_stack("deep out --recursive -q --stages gray"), 1);
  const std::string wrong = load_text(file("wrong"));
  EXPECT_EQ(lines(wrong), 1U);
  EXPECT_NE(wrong.find("/d: cannot read the directory: File name too long"), std::string::npos);
  EXPECT_EQ(images_written(), "1\n");
  EXPECT_EQ(run_on_a_small_stack("'deep/**/x.ppm' out2/ -q --dry-run"), 1);
  EXPECT_NE(load_text(file("wrong")).find("/d: cannot read the directory: File name too long"),
            std::string::npos);
}

TEST_F(DirectoryWalkTest, NestedBracesOnASmallStack) {
  std::string pattern = "x";
  for (int i = 0; i < 900; ++i) pattern = "{a," + pattern + "}";
  EXPECT_EQ(run_on_a_small_stack("in out --include '" + pattern + "'"), 2);
  EXPECT_NE(load_text(file("wrong")).find("no images found"), std::string::npos) << load_text(file("wrong"));
}

TEST_F(DirectoryWalkTest, VisitsInNameOrderAndDetectsCycles) {
  fs::create_directory_symlink("..", in() + "/sub/up");
  fs::create_symlink("nowhere", in() + "/sub/dangling");
  std::vector<std::string> seen;
  std::set<FileId> entered;
  const WalkSteps steps{
      .take = [&](const WalkPosition& file) { seen.push_back(file.below + " " + file.tree); },
      .enters = [&](const WalkPosition&, const FileId& id) { return entered.insert(id).second; },
      .cannot_read = [&](const WalkPosition& directory,
                         const std::error_code&) { seen.push_back("no " + directory.path); }};
  walk_directories({in(), "", "t"}, steps);
  EXPECT_EQ(seen,
            (Names{"a.png t/a.png", "b.jpg t/b.jpg", "c.GIF.ppm t/c.GIF.ppm", "notes.txt t/notes.txt",
                   "sub/d.png t/sub/d.png", "sub/dangling t/sub/dangling", "sub/deep/e.bmp t/sub/deep/e.bmp",
                   "sub/up/a.png t/sub/up/a.png", "sub/up/b.jpg t/sub/up/b.jpg",
                   "sub/up/c.GIF.ppm t/sub/up/c.GIF.ppm", "sub/up/notes.txt t/sub/up/notes.txt"}));
  seen.clear();
  walk_directories({file("nowhere"), "", ""}, steps);
  EXPECT_EQ(seen, Names{"no " + file("nowhere")});
}

TEST_F(DirectoryWalkTest, ReportsDirectoriesAndLinks) {
  fs::create_directory_symlink("sub", in() + "/to_folder");
  fs::create_symlink("a.png", in() + "/to_file");
  std::error_code error;
  std::string text;
  for (const DirectoryEntry& entry : read_directory(in(), error))
    text += entry.name + (entry.directory ? "/" : "") + (entry.is_link ? "@" : "") + " ";
  EXPECT_FALSE(error);
  EXPECT_EQ(text, ".hidden.png a.png b.jpg c.GIF.ppm notes.txt sub/ to_file@ to_folder/@ ");
  EXPECT_TRUE(read_directory(in() + "/a.png", error).empty());
  EXPECT_EQ(error, std::errc::not_a_directory);
}

}  // namespace
}  // namespace imgpipe::test::directory_walk_test
