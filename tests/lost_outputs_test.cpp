// Outputs that somebody removes while the batch that writes them goes on.
#include "app/batch/lost_outputs.h"

#include <atomic>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

TEST(MissingFiles, OfFewAndOfManyInAFolder) {
  const TemporaryFolder folder;
  for (const std::size_t count : {2U, 200U}) {
    std::vector<std::string> paths;
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < count; ++i) {
      paths.push_back(folder.file(std::to_string(count) + "_" + std::to_string(i)));
      if (i % 7 == 1) {
        expected.push_back(i);
      } else if (i % 7 == 2) {
        fs::create_symlink("/dev/null", paths.back());
      } else {
        save_text(paths.back(), "x");
      }
    }
    fs::create_symlink("nowhere", paths[expected.front()]);
    EXPECT_EQ(missing_files(paths), expected);
    for (std::string& path : paths) path = "gone/" + path;
    EXPECT_EQ(missing_files(paths).size(), count);
  }
  EXPECT_TRUE(missing_files({}).empty());
}

class LostOutputs : public BatchCli {
 protected:
  static constexpr int kImages = 200;

  void SetUp() override {
    fs::create_directory(file("many"));
    for (int i = 100; i < 100 + kImages; ++i) write("many/" + std::to_string(i) + ".png", 1, 300);
  }

  // Runs a batch; `meanwhile` is called again and again until it says that it has done its work.
  RunResult run(const std::function<bool()>& meanwhile, const std::vector<std::string>& options = {}) {
    std::atomic<bool> ended{false};
    std::thread other([&] {
      while (!ended && !meanwhile()) std::this_thread::yield();
    });
    std::vector<std::string> arguments{file("many"),   out(),          "--jobs",   "1",
                                       "--report",     file("r.json"), "--report", file("r.ndjson"),
                                       "--failed-out", file("failed")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    RunResult result = run_imgpipe(arguments);
    ended = true;
    other.join();
    return result;
  }

  // Every count of the run is what is there.
  void expect_honest(const RunResult& result) const {
    const Json report = Json::parse(load_text(file("r.json")));
    const std::size_t there = fs::exists(out()) ? written().size() : 0;
    EXPECT_EQ(report["done"], there);
    EXPECT_EQ(report["done"].get<std::size_t>() + report["failed"].get<std::size_t>() +
                  report["not_done"].get<std::size_t>(),
              kImages);
    std::map<std::string, std::string> states;
    std::istringstream lines_of(load_text(file("r.ndjson")));
    for (std::string line; std::getline(lines_of, line);) {
      const Json json = Json::parse(line);
      states[json["input"]] = json["status"];
    }
    std::size_t done = 0;
    for (const auto& [name, state] : states) done += state == "done" ? 1 : 0;
    EXPECT_EQ(done, there);
    EXPECT_EQ(lines(load_text(file("failed"))), report["failed"]);
    EXPECT_NE(result.out.find(std::to_string(there) + " done"), std::string::npos) << result.out;
  }
};

TEST_F(LostOutputs, SingleOnesAreSaidOneByOne) {
  const RunResult result = run([&] {
    if (!fs::exists(out() + "/110.png")) return false;
    for (int i = 100; i < 109; ++i) fs::remove(out() + "/" + std::to_string(i) + ".png");
    return true;
  });
  EXPECT_EQ(result.exit_code, 4) << result.err;
  std::string said;
  for (int i = 100; i < 109; ++i)
    said += "imgpipe: " + out() + "/" + std::to_string(i) +
            ".png: was written and is gone: removed while the batch ran\n";
  EXPECT_EQ(result.err, said);
  expect_honest(result);
  // What is missing can be done again.
  EXPECT_EQ(run_imgpipe({file("many"), out(), "-q", "--files-from", file("failed")}).exit_code, 0);
  EXPECT_EQ(written().size(), kImages);
}

TEST_F(LostOutputs, AFolderThatIsMovedAwayAndMadeAgain) {
  const RunResult result = run([&] {
    if (!fs::exists(out() + "/105.png")) return false;
    fs::create_directory(file("new"));
    fs::rename(out(), file("old"));
    fs::rename(file("new"), out());
    return true;
  });
  EXPECT_EQ(result.exit_code, 4) << result.err;
  expect_honest(result);
  EXPECT_GT(files_below(file("old")).size(), 0U);
}

TEST_F(LostOutputs, AFolderThatIsMovedAwayOrRemoved) {
  for (const bool remove : {false, true}) {
    fs::remove_all(out());
    const RunResult result = run([&] {
      if (!fs::exists(out() + "/105.png")) return false;
      std::error_code error;
      if (!remove) fs::rename(out(), file("old"));
      return !remove || (fs::remove_all(out(), error), !fs::exists(out()));
    });
    EXPECT_EQ(result.exit_code, 4) << result.err;
    expect_honest(result);
  }
}

}  // namespace
}  // namespace imgpipe::test
