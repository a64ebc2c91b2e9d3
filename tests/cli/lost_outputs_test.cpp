// Outputs removed by another process during the batch, or emptied by a power failure; failing syncs.
#include "app/files/lost_outputs.h"

#include <atomic>
#include <cerrno>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/syscall.h>

#include "tests/support/batch_cli.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::lost_outputs_test {
namespace {

using Json = nlohmann::json;

TEST(MissingFiles, FewAndManyInADirectory) {
  const TemporaryDirectory directory;
  for (const std::size_t count : {2U, 200U}) {
    std::vector<std::string> paths;
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < count; ++i) {
      paths.push_back(directory.file(std::to_string(count) + "_" + std::to_string(i)));
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

  // Runs a batch; calls `meanwhile` repeatedly until it returns true.
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

  // Every count of the run must equal the number of existing outputs.
  void expect_counts_match_files(const RunResult& result) const {
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

TEST_F(LostOutputs, FewLostOutputsAreReportedIndividually) {
  const RunResult result = run([&] {
    if (!fs::exists(out() + "/110.png")) return false;
    for (int i = 100; i < 109; ++i) fs::remove(out() + "/" + std::to_string(i) + ".png");
    return true;
  });
  EXPECT_EQ(result.exit_code, 4) << result.err;
  std::string said;
  for (int i = 100; i < 109; ++i)
    said += "imgpipe: " + out() + "/" + std::to_string(i) +
            ".png: was written, but another process removed it during the batch\n";
  EXPECT_EQ(result.err, said);
  expect_counts_match_files(result);
  EXPECT_EQ(run_imgpipe({file("many"), out(), "-q", "--files-from", file("failed")}).exit_code, 0);
  EXPECT_EQ(written().size(), kImages);
}

TEST_F(LostOutputs, DirectoryMovedAndRecreated) {
  const RunResult result = run([&] {
    if (!fs::exists(out() + "/105.png")) return false;
    fs::create_directory(file("new"));
    fs::rename(out(), file("old"));
    fs::rename(file("new"), out());
    return true;
  });
  EXPECT_EQ(result.exit_code, 4) << result.err;
  expect_counts_match_files(result);
  EXPECT_GT(files_below(file("old")).size(), 0U);
}

TEST_F(LostOutputs, DirectoryMovedOrRemoved) {
  for (const bool remove : {false, true}) {
    fs::remove_all(out());
    const RunResult result = run([&] {
      if (!fs::exists(out() + "/105.png")) return false;
      fs::rename(out(),
                 file(remove ? "removed" : "old"));  // in one step: removal takes time, and the run may end
      if (remove) fs::remove_all(file("removed"));
      return true;
    });
    EXPECT_EQ(result.exit_code, 4) << result.err;
    expect_counts_match_files(result);
  }
}

// ---- after a power failure -----------------------------------------------------------------------------

class PowerFailure : public BatchCli {
 protected:
  [[nodiscard]] RunResult report() const { return run_imgpipe({"report", file("r.ndjson")}); }
};

TEST_F(PowerFailure, EmptyOutputsAreRewritten) {
  for (const char* option : {"--skip-existing", "--update"}) {
    const std::vector<std::string> command{in(),       out(),           "-q", option, "--recursive",
                                           "--report", file("r.ndjson")};
    ASSERT_EQ(run_imgpipe(command).exit_code, 0);
    const auto whole = contents(out());
    for (const char* name : {"a.png", "sub/d.png", "c.GIF.ppm"}) save_text(file("out/") + name, "");
    const RunResult emptied = report();
    EXPECT_EQ(emptied.exit_code, 1);
    EXPECT_NE(emptied.out.find("2 done, 0 skipped, 0 failed, 3 not done"), std::string::npos) << emptied.out;
    EXPECT_NE(emptied.out.find("out/sub/d.png: is empty"), std::string::npos) << emptied.out;
    ASSERT_EQ(run_imgpipe(command).exit_code, 0);
    EXPECT_EQ(report().exit_code, 0);
    auto again = contents(out());
    again.erase(".imgpipe-update.ndjson");  // the second run added lines to it
    for (const auto& [name, bytes] : again) EXPECT_EQ(bytes, whole.at(name)) << name;
    fs::remove_all(out());
    fs::remove(file("r.ndjson"));
  }
}

TEST_F(PowerFailure, EmptyReportHidesNoLostOutput) {
  const std::vector<std::string> command{in(), out(), "-q", "--skip-existing", "--report", file("r.ndjson")};
  ASSERT_EQ(run_imgpipe(command).exit_code, 0);
  const auto whole = contents(out());
  for (const auto& [name, bytes] : whole) save_text(file("out/" + name), "");
  save_text(file("r.ndjson"), "");
  ASSERT_EQ(run_imgpipe(command).exit_code, 0);
  EXPECT_EQ(contents(out()), whole);
  EXPECT_NE(report().out.find("3 done, 0 skipped"), std::string::npos);
}

TEST_F(PowerFailure, MissingOutputIsReportedIfOthersExist) {
  ASSERT_EQ(run_imgpipe({in(), out(), "-q", "--report", file("r.ndjson")}).exit_code, 0);
  fs::remove(out() + "/a.png");
  const RunResult one = report();
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_NE(one.out.find("out/a.png: does not exist"), std::string::npos) << one.out;
  fs::rename(out(), file("moved"));
  EXPECT_EQ(report().exit_code, 0) << "all were moved";
}

// With numbered pages, no output has the name in the report line.
TEST_F(PowerFailure, PagesAreCheckedIndividually) {
  const std::vector<std::string> command{
      in(), out(), "-q", "--pages", "all", "--skip-existing", "--report", file("r.ndjson")};
  ASSERT_EQ(run_imgpipe(command).exit_code, 0);
  EXPECT_EQ(report().exit_code, 0);
  const auto whole = contents(out());
  ASSERT_TRUE(whole.contains("a_0001.png"));
  save_text(out() + "/a_0001.png", "");
  ASSERT_EQ(run_imgpipe(command).exit_code, 0);
  EXPECT_EQ(contents(out()), whole);
}

// ---- disks that cannot be synced -----------------------------------------------------------------------

TEST_F(PowerFailure, FailedSyncFailsTheRun) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs system calls that the filter may change";
  const std::string image = in() + "/a.png";
  const std::vector<std::vector<std::string>> commands{{in(), out(), "-q"},
                                                       {in(), out(), "-q", "--update"},
                                                       {in(), out(), "-q", "--pages", "all"},
                                                       {image, file("o.png"), "-q"},
                                                       {image, file("o.tif"), "-q", "--pages", "all"},
                                                       {image, file("p.png"), "-q", "--pages", "all"}};
  for (std::vector<std::string> command : commands) {
    for (const long call : {SYS_fdatasync, SYS_fsync}) {
      RunOptions failing;
      failing.failing_calls = {{call, EIO}};
      const RunResult failed = run_imgpipe(command, failing);
      EXPECT_EQ(failed.exit_code, 4) << command[1];
      EXPECT_NE(failed.err.find("cannot sync to the disk: Input/output error"), std::string::npos)
          << failed.err;
      if (call == SYS_fdatasync) {
        const bool is_file = fs::is_regular_file(command[1]);
        EXPECT_TRUE(!is_file && (!fs::exists(out()) || files_below(out()).size() <= 1)) << command[1];
      }
    }
    RunOptions unable;
    unable.failing_calls = {{SYS_fdatasync, EINVAL}, {SYS_fsync, EINVAL}};
    EXPECT_EQ(run_imgpipe(command, unable).exit_code, 0) << command[1];
    // With --sync no, failing sync calls do no harm, because the program makes none.
    RunOptions broken;
    broken.failing_calls = {{SYS_fdatasync, EIO}, {SYS_fsync, EIO}};
    command.insert(command.end(), {"--sync", "no", "--overwrite"});
    fs::remove_all(out());
    EXPECT_EQ(run_imgpipe(command, broken).exit_code, 0) << command[1];
    fs::remove_all(out());
  }
}

}  // namespace
}  // namespace imgpipe::test::lost_outputs_test
