// A long run in which a third of the images fail: memory does not grow after the start.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_paths.h"

extern char** environ;

namespace imgpipe::test::long_run_test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kImages = 10'000;

std::int64_t resident_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  file >> size >> resident;
  return file ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

// Makes links to about thirty files; every third link leads to a truncated file.
void make_inputs(const TemporaryDirectory& directory) {
  std::vector<std::string> good;
  std::vector<std::string> cut;
  for (const Shape& shape :
       {Shape{256, 256, 3}, Shape{300, 300, 3}, Shape{400, 200, 3}, Shape{128, 640, 3}}) {
    for (const char* pattern : {"ramp", "checker"}) {
      const Image image = synthesize(parse_pattern(pattern), shape, 1);
      for (const Format format : {Format::png, Format::ppm}) {
        const auto writer = make_writer(format, shape);
        writer->write_rows(image.view());
        const std::vector<std::byte> file = writer->finish().joined();
        const std::string ending = format == Format::png ? ".png" : ".ppm";
        good.push_back(directory.file("good" + std::to_string(good.size()) + ending));
        save(good.back(), file);
        cut.push_back(directory.file("cut" + std::to_string(cut.size()) + ending));
        save(cut.back(), std::span(file).first(file.size() / 2));
      }
    }
  }
  fs::create_directory(directory.file("in"));
  for (std::size_t i = 0; i < kImages; ++i) {
    const std::vector<std::string>& from = i % 3 == 0 ? cut : good;
    const std::string& file = from[i * 2654435761U / 65536 % from.size()];
    fs::create_symlink(file, directory.file("in/a_name_of_usual_length_" + std::to_string(i) +
                                            file.substr(file.size() - 4)));
  }
}

// Returns samples of the program's resident memory during the run.
std::vector<std::int64_t> run_and_watch(std::vector<std::string> arguments, int& exit_code) {
  arguments.insert(arguments.begin(), kProgram);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  EXPECT_EQ(::posix_spawn(&process, kProgram, &actions, nullptr, argv.data(), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  std::vector<std::int64_t> bytes;
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (const std::int64_t now = resident_bytes(process); now > 0) bytes.push_back(now);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return bytes;
}

// Returns the median of the samples in one tenth of the run, counted from 0.
std::int64_t median_of_tenth(const std::vector<std::int64_t>& bytes, std::size_t tenth) {
  const auto at = [&](std::size_t i) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() * i / 10);
  };
  std::vector<std::int64_t> some(at(tenth), at(tenth + 1));
  std::ranges::sort(some);
  return some[some.size() / 2];
}

class LongRun : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(LongRun, MemoryDoesNotGrow) {
  const TemporaryDirectory directory;
  make_inputs(directory);
  std::vector<std::string> arguments{directory.file("in"),
                                     directory.file("out"),
                                     "--device",
                                     "cpu",
                                     "--jobs",
                                     "2",
                                     "--stages",
                                     "gray",
                                     "--format",
                                     "png",
                                     "-q"};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  int exit_code = 0;
  const std::vector<std::int64_t> bytes = run_and_watch(arguments, exit_code);
  EXPECT_EQ(exit_code, 1);
  EXPECT_EQ(files_below(directory.file("out")).size(), kImages - (kImages + 2) / 3);
  ASSERT_GE(bytes.size(), 100U);
  // Medians, because the number of images in progress at any moment varies.
  EXPECT_LE(static_cast<double>(median_of_tenth(bytes, 9)),
            1.1 * static_cast<double>(median_of_tenth(bytes, 1)));
}

INSTANTIATE_TEST_SUITE_P(Memory, LongRun,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--memory", "64M"}),
                         [](const auto& limit) { return limit.param.empty() ? "usual" : "limited"; });

}  // namespace
}  // namespace imgpipe::test::long_run_test
