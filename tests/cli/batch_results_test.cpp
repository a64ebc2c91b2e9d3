// The number of file look-ups of a batch, and the summary of an interrupted batch.
#include <csignal>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"

namespace imgpipe::test::batch_results_test {
namespace {

using Json = nlohmann::json;

class BatchResults : public BatchCli {
 protected:
  static std::vector<Json> lines_of(const std::string& path) {
    std::vector<Json> all;
    std::istringstream text(load_text(path));
    for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
    return all;
  }
  static std::map<std::string, std::string> states(const std::string& path) {
    std::map<std::string, std::string> all;
    for (const Json& line : lines_of(path))
      all[fs::path(line["input"].get<std::string>()).filename().string()] = line["status"];
    return all;
  }
};

// ---- system calls -------------------------------------------------------------------------------------

// On network file systems, each look-up is a round trip to a server.
TEST_F(BatchResults, MissingOutputIsLookedUpTwice) {
  if (run_bash("command -v strace >which", file("")) != 0) GTEST_SKIP() << "strace is not installed";
  const auto lookups = [this] {
    EXPECT_EQ(run_bash("rm -f t.*; export ASAN_OPTIONS=detect_leaks=0\n"
                       "strace -ff -qq -e trace=%%stat -o t $I in out -q || exit 1; cat t.* >trace",
                       file("")),
              0);
    std::istringstream trace(load_text(file("trace")));
    int count = 0;
    for (std::string line; std::getline(trace, line);)
      count += line.find("out/a.png\"") != line.npos && line.find("ENOENT") != line.npos ? 1 : 0;
    return count;
  };
  EXPECT_EQ(lookups(), 1) << "OUTPUT is missing, and so is all in it";
  fs::remove(out() + "/a.png");
  EXPECT_EQ(lookups(), 2);
}

// ---- the summary -------------------------------------------------------------------------------------

TEST_F(BatchResults, InterruptedRunExplainsHowToResume) {
  fs::create_directory(file("many"));
  write("large.png", 1, 20'000);  // so that the signal arrives in time
  for (int i = 0; i < 300; ++i)
    fs::create_symlink(file("large.png"), file("many/" + std::to_string(i) + ".png"));
  fs::create_directories(out());
  RunOptions options;
  options.signal = SIGTERM;
  options.signal_directory = out();
  const RunResult run =
      run_imgpipe({file("many"), out(), "--jobs", "2", "--report", file("r.ndjson")}, options);
  EXPECT_EQ(run.exit_code, 143) << run.err;
  EXPECT_NE(run.out.find("to resume: run the same command with --skip-existing"), std::string::npos)
      << run.out;
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, state] : states(file("r.ndjson"))) ++counts[state];
  EXPECT_EQ(counts["done"], written().size());
  EXPECT_EQ(counts["done"] + counts["not_done"], 300U);
  EXPECT_GT(counts["not_done"], 0U);
  EXPECT_EQ(run_imgpipe({in(), file("whole")}).out.find("to resume"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test::batch_results_test
