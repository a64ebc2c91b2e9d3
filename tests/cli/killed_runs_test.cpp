// The remains of killed runs: temporary files that the next run removes, finished pages, readable traces.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/batch_cli.h"
#include "tests/support/test_paths.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::killed_runs_test {
namespace {

class KilledRuns : public BatchCli {
 protected:
  void SetUp() override { fs::create_directories(file("o")); }
  void synth(const std::string& name, const std::string& size) const {
    ASSERT_EQ(run_imgpipe({"synth", file(name), "--pattern", "constant:7", "--size", size, "-q"}).exit_code,
              0);
  }
  void save_stack(const std::string& name, int pages, int side) const {
    const TiffKind kind{.width = side, .height = side, .bits = 8, .samples = 1, .photometric = 1};
    const TiffPageSource page{kind, Values(static_cast<std::size_t>(side * side), 9)};
    save(file(name), make_tiff_stack(std::vector<TiffPageSource>(static_cast<std::size_t>(pages), page)));
  }
  // Makes the temporary files that a killed run leaves, for `target` and for another name.
  void leave(const std::string& target) const {
    save_text(file("o/." + target + ".imgpipe-abcdefgh"), "left");
    save_text(file("o/.other.png.imgpipe-abcdefgh"), "another run's");
  }
  void expect_removed(const std::string& target) const {
    EXPECT_FALSE(fs::exists(file("o/." + target + ".imgpipe-abcdefgh"))) << target;
    EXPECT_TRUE(fs::exists(file("o/.other.png.imgpipe-abcdefgh"))) << target;
  }
};

TEST_F(KilledRuns, TemporaryFileOfALargeImageIsRemoved) {
  synth("large.png", "4000x3000");
  leave("large.png");
  ASSERT_EQ(run_imgpipe({file("large.png"), file("o/large.png"), "-q", "--device", "cpu"}).exit_code, 0);
  expect_removed("large.png");
}

TEST_F(KilledRuns, TemporaryFilesAreRemovedBeforeAMemoryFailure) {
  ASSERT_EQ(run_imgpipe({"synth", file("large.pgm"), "--pattern", "constant:7", "--size", "9000x8000", "-q"})
                .exit_code,
            0);
  leave("large.png");
  const RunResult run = run_imgpipe({file("large.pgm"), file("o/large.png"), "-q", "--device", "cpu",
                                     "--stages", "equalize", "--memory", "64M"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("--memory leaves"), std::string::npos) << run.err;
  expect_removed("large.png");
}

TEST_F(KilledRuns, TemporaryFilesInTheWorkingDirectoryAreRemoved) {
  synth("large.png", "4000x3000");
  leave("large.png");
  RunOptions here;
  here.directory = file("o");
  ASSERT_EQ(run_imgpipe({file("large.png"), "large.png", "-q", "--device", "cpu"}, here).exit_code, 0);
  expect_removed("large.png");
}

TEST_F(KilledRuns, TemporaryFilesOfStacksAndPagesAreRemoved) {
  save_stack("s.tif", 2, 8);
  leave("all.tif");
  ASSERT_EQ(run_imgpipe({file("s.tif"), file("o/all.tif"), "--pages", "all", "-q"}).exit_code, 0);
  expect_removed("all.tif");
  leave("p_0002.png");
  ASSERT_EQ(run_imgpipe({file("s.tif"), file("o/p.png"), "--pages", "all", "-q"}).exit_code, 0);
  expect_removed("p_0002.png");
}

TEST_F(KilledRuns, TemporaryFileOfAStreamIsRemoved) {
  synth("a.ppm", "40x30");
  leave("all.tif");
  RunOptions options;
  options.input = load_text(file("a.ppm")) + load_text(file("a.ppm"));
  ASSERT_EQ(run_imgpipe({"-", file("o/all.tif"), "--pages", "all", "-q"}, options).exit_code, 0);
  expect_removed("all.tif");
}

TEST_F(KilledRuns, TemporaryFilesOfStatisticsAreRemoved) {
  synth("a.png", "40x30");
  leave("s.json");
  ASSERT_EQ(run_imgpipe({"stats", file("a.png"), "--json", file("o/s.json"), "-q"}).exit_code, 0);
  expect_removed("s.json");
  leave("i.csv");
  ASSERT_EQ(run_imgpipe({"stats", file("a.png"), "--per-image", file("o/i.csv"), "-q"}).exit_code, 0);
  expect_removed("i.csv");
}

// The signal is sent once the third page exists. By then, the next page may be a file, too.
TEST_F(KilledRuns, FinishedPagesRemainAndAreCounted) {
  save_stack("s.tif", 60, 300);
  for (const auto& [signal, code] : {std::pair{"TERM", 143}, {"HUP", 129}}) {
    EXPECT_EQ(
        run_bash(
            "rm -f o/*; $I s.tif o/p.png --pages all --stages median:5,median:5 --device reference 2>err & "
            "pid=$!; until [ -e o/p_0003.png ]; do sleep 0.01; done; kill -" +
                std::string(signal) + " $pid; wait $pid",
            directory_.path().string()),
        code);
    const std::string said = load_text(file("err"));
    const std::string begin = "imgpipe: stopped by a signal: ";
    const std::size_t at = said.rfind(begin);
    ASSERT_NE(at, std::string::npos) << said;
    const std::string line = said.substr(at);
    const std::size_t finished = std::stoul(line.substr(begin.size()));
    EXPECT_EQ(line, begin + std::to_string(finished) + " of 60 pages finished\n");
    const std::size_t files = files_below(file("o")).size();
    EXPECT_GE(finished, 2U);
    EXPECT_LT(finished, 60U);
    EXPECT_TRUE(files == finished || files == finished + 1) << files << ", " << finished;
    for (const fs::path& path : files_below(file("o"))) {
      const std::vector<std::byte> bytes = load(path);
      EXPECT_EQ(open_reader(bytes)->header().shape, (Shape{300, 300, 1})) << path;
    }
  }
}

TEST_F(KilledRuns, IncompleteStackIsNotWritten) {
  save_stack("s.tif", 60, 300);
  for (const char* format : {"text", "json"}) {
    EXPECT_EQ(
        run_bash(
            "$I s.tif o/all.tif --pages all --stages median:5,median:5 --device reference --log-format " +
                std::string(format) +
                " 2>err & pid=$!; until ls -A o | grep -q imgpipe-; do sleep 0.01; done; sleep 0.2; "
                "kill -TERM $pid; wait $pid",
            directory_.path().string()),
        143);
    EXPECT_TRUE(files_below(file("o")).empty());
    const std::string said = load_text(file("err"));
    EXPECT_NE(said.find(" of 60 pages finished; OUTPUT was not written because it is incomplete"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("\"event\":\"summary\"") != std::string::npos, std::string(format) == "json") << said;
  }
}

TEST_F(KilledRuns, SignalAtAnyMomentLeavesAReadableTrace) {
  fs::create_directory(in());
  for (int i = 0; i < 60; ++i) write("in/" + std::to_string(i) + ".png", 1, 20);
  int early = 0;
  for (int i = 0; i < 60; ++i) {
    fs::remove(file("t.json"));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::string trace = file("t.json"), input = in(), output = out();
      ::execl(kProgram, "imgpipe", input.c_str(), output.c_str(), "-q", "--trace", trace.c_str(), nullptr);
      ::_exit(127);
    }
    while (!fs::exists(file("t.json")) && ::waitpid(child, nullptr, WNOHANG) == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(i * 100));
    ::kill(child, i % 3 == 0 ? SIGINT : i % 3 == 1 ? SIGTERM : SIGKILL);
    ::waitpid(child, nullptr, 0);
    const nlohmann::json trace = nlohmann::json::parse(load_text(file("t.json")), nullptr, false);
    EXPECT_TRUE(trace.is_object()) << i << ": " << load_text(file("t.json")).substr(0, 300);
    if (trace["traceEvents"].size() < 3) ++early;
  }
  EXPECT_GT(early, 0);
}

}  // namespace
}  // namespace imgpipe::test::killed_runs_test
