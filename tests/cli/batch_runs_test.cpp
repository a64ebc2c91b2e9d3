// Batches from a user's view: trees with special files, reports, interrupted runs.
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include "images/text.h"
#include "tests/support/batch_cli.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test::batch_runs_test {
namespace {

using Json = nlohmann::json;
using BatchRuns = BatchCli;

// ---- trees of inputs ---------------------------------------------------------------------------------

TEST_F(BatchRuns, UnreadableFilesAndDirectories) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  fs::permissions(in() + "/a.png", fs::perms::none);
  fs::permissions(in() + "/sub/deep", fs::perms::none);
  const RunResult run = run_imgpipe({in(), out(), "--recursive"});
  fs::permissions(in() + "/sub/deep", fs::perms::owner_all);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 2U) << run.err;
  EXPECT_EQ(written(), (Names{"b.jpg", "c.GIF.ppm", "sub/d.png"}));
}

TEST_F(BatchRuns, CorruptFileIsOneErrorLineAndAffectsNoOthers) {
  IMGPIPE_NEED_CORPUS();
  constexpr std::size_t kGood = 300;
  fs::create_directory(file("mixed"));
  for (std::size_t i = 0; i < kGood; ++i)
    write("mixed/good" + std::to_string(i) + (i % 2 == 0 ? ".png" : ".jpg"), 100 + i,
          static_cast<std::int64_t>(20 + i % 40));
  ASSERT_EQ(run_imgpipe({file("mixed"), file("clean"), "-q", "--format", "png"}).exit_code, 0);
  const auto clean = contents(file("clean"));
  std::size_t bad = 0;
  for (const char* directory : {"broken", "bombs"}) {
    for (const fs::path& path : files_below(*corpus() / directory)) {
      fs::create_symlink(path, file("mixed/" + std::to_string(bad++) + "_" + path.filename().string()));
    }
  }
  for (const char* jobs : {"1", "2", "8"}) {
    fs::remove_all(out());
    RunOptions patient;
    patient.timeout_s = 300;
    const RunResult run = run_imgpipe({file("mixed"), out(), "--format", "png", "--include", "*", "--jobs",
                                       jobs, "--report", file("r.json")},
                                      patient);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    const Json report = Json::parse(load_text(file("r.json")));
    EXPECT_EQ(report["images"], kGood + bad);
    EXPECT_EQ(report["done"].get<std::size_t>() + report["failed"].get<std::size_t>(), kGood + bad);
    EXPECT_GT(report["failed"], bad / 2);
    EXPECT_EQ(report["done"], written().size());
    std::istringstream errors(run.err);
    std::size_t failures = 0;
    for (std::string line; std::getline(errors, line);) {
      EXPECT_TRUE(line.starts_with("imgpipe: ")) << line;
      EXPECT_EQ(printable(line), line);
      if (!line.starts_with("imgpipe: warning: ")) ++failures;
    }
    EXPECT_EQ(report["failed"], failures);
    const auto all = contents(out());
    for (const auto& [name, bytes] : clean) EXPECT_EQ(all.at(name), bytes) << name;
  }
}

// ---- reports ----------------------------------------------------------------------------------------

TEST_F(BatchRuns, ReportsAndTrace) {
  save_text(file("in/z.png"), "no image");
  const RunResult run =
      run_imgpipe({in(), out(), "--recursive", "--report", file("r.json"), "--report", file("r.ndjson"),
                   "--trace", file("t.json"), "--failed-out", file("failed"), "--jobs", "2"});
  EXPECT_EQ(run.exit_code, 1);
  const Json totals = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(totals["images"], 6);
  EXPECT_EQ(totals["done"], 5);
  EXPECT_EQ(totals["failed"], 1);
  EXPECT_EQ(totals["failures"].size(), 1U);
  EXPECT_EQ(totals["pixels"], 5 * 40 * 30);
  EXPECT_GT(totals["images_per_s"], 0);
  EXPECT_GT(totals["image_ms"]["p50"], 0);
  for (const Json& part : totals["parts"]) {
    EXPECT_GT(part["busy_s"], 0);
    EXPECT_GE(part["share"], 0);
    EXPECT_LE(part["share"], 1);
  }
  std::istringstream report(load_text(file("r.ndjson")));
  std::map<std::string, Json> images;
  for (std::string line; std::getline(report, line);) {
    const Json image = Json::parse(line);
    images[image["input"]] = image;
  }
  EXPECT_EQ(images.size(), 6U);
  EXPECT_EQ(images[in() + "/a.png"]["status"], "done");
  EXPECT_EQ(images[in() + "/a.png"]["width_pixels"], 40);
  EXPECT_EQ(images[in() + "/a.png"]["output_bytes"], fs::file_size(out() + "/a.png"));
  EXPECT_EQ(images[in() + "/z.png"]["status"], "failed");
  EXPECT_EQ(load_text(file("failed")), "z.png\n");
  const Json trace = Json::parse(load_text(file("t.json")));
  std::set<std::string> names;
  EXPECT_EQ(trace["schema"], "imgpipe/trace/1");
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    names.insert(event["name"]);
    EXPECT_GE(event["dur"], 0);
    EXPECT_TRUE(event["args"].contains("image"));
  }
  for (const char* name : {"read", "decode", "gray", "hist", "contrast", "smooth", "encode", "write"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// ---- interrupted -------------------------------------------------------------------------

TEST_F(BatchRuns, FullDiskEndsTheBatch) {
  fs::create_directories(out());
  if (::mount("tmpfs", out().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system needs more rights";
  fs::create_directory(file("many"));
  for (int i = 0; i < 60; ++i) fs::copy_file(file("in/a.png"), file("many/" + std::to_string(i) + ".ppm"));
  const RunResult run = run_imgpipe({file("many"), out(), "--jobs", "2"});
  const Names names = written();
  ::umount(out().c_str());
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_NE(run.err.find("No space left"), std::string::npos) << run.err;
  EXPECT_LE(lines(run.err), 2U) << "one for each of the jobs at most";
  EXPECT_NE(run.out.find("stopped early"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("not done"), std::string::npos) << run.out;
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) EXPECT_EQ(name.find(".imgpipe-"), std::string::npos) << name;
}

TEST_F(BatchRuns, SignalEndsTheBatchCleanly) {
  fs::create_directory(file("many"));
  // Outputs of this size are written while being encoded, so the signal arrives in time even on a busy
  // machine.
  write("many/0.png", 1, 110'000);
  for (int i = 1; i < 24; ++i) fs::copy_file(file("many/0.png"), file("many/" + std::to_string(i) + ".png"));
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    fs::remove_all(out());
    fs::create_directories(out());
    RunOptions options;
    options.signal = signal;
    options.signal_directory = out();
    const RunResult run = run_imgpipe(
        {file("many"), out(), "--jobs", "2", "--stages", "smooth", "--report", file("r.json")}, options);
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_FALSE(run.signalled);
    EXPECT_EQ(run.err, "");
    EXPECT_NE(run.out.find("stopped early: signal"), std::string::npos) << run.out;
    const Json report = Json::parse(load_text(file("r.json")));
    EXPECT_EQ(report["done"], written().size());
    EXPECT_GT(report["not_done"], 0);
    for (const std::string& name : written()) {
      EXPECT_EQ(name.find(".imgpipe-"), std::string::npos) << name;
      EXPECT_NO_THROW((void)open_reader(load(out() + "/" + name)));
    }
  }
}

TEST_F(BatchRuns, KilledAndResumedBatchLosesNothing) {
  fs::create_directory(file("many"));
  for (int i = 0; i < 120; ++i)
    write("many/" + std::to_string(i) + ".png", static_cast<std::uint64_t>(i), 300);
  ASSERT_EQ(run_imgpipe({file("many"), file("whole"), "-q"}).exit_code, 0);
  const auto expected = contents(file("whole"));
  int killed = 0;
  for (int round = 0; round < 8; ++round) {
    fs::remove_all(out());
    fs::create_directories(out());
    RunOptions kill;
    kill.signal = SIGKILL;
    kill.signal_directory = out();
    killed += run_imgpipe({file("many"), out(), "-q", "--jobs", "3"}, kill).exit_code == 137 ? 1 : 0;
    EXPECT_EQ(run_imgpipe({file("many"), out(), "-q", "--skip-existing"}).exit_code, 0);
    EXPECT_EQ(contents(out()), expected);
  }
  EXPECT_GT(killed, 0);
}

TEST_F(BatchRuns, FileThatAppearsDuringABatchIsNotReplaced) {
  // Large enough that its stages outlast the sleep; the other output appears in the meantime.
  ASSERT_EQ(run_imgpipe({"synth", file("in/0.png"), "--pattern", "noise", "--size", "6000x4000"}).exit_code,
            0);
  const std::string command = "cd '" + directory_.path().string() + "' && ('" + kProgram +
                              "' in out -q --jobs 1 2>err & while [ ! -e out ]; do sleep 0.01; done; "
                              "cp in/b.jpg out/b.jpg; wait $!)";
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_EQ(load_text(file("out/b.jpg")), load_text(file("in/b.jpg")));
  EXPECT_NE(load_text(file("err")).find("out/b.jpg: already exists"), std::string::npos)
      << load_text(file("err"));
  EXPECT_TRUE(fs::exists(file("out/a.png"))) << "the others are done";
}

TEST_F(BatchRuns, SignalEndsStatsWithoutOutput) {
  save_text(file("in/0.png"), "no image");
  for (int i = 0; i < 40; ++i) write("in/i" + std::to_string(i) + ".png", 9, 4000);
  // The error message about 0.png means that the work has begun.
  const int code = run_bash(
      "$I stats in --jobs 1 --threads 1 --json s.json --stages smooth,smooth,smooth,smooth,smooth,smooth "
      ">out 2>err & "
      "until [ -s err ]; do sleep 0.01; done; kill -TERM $!; wait $!",
      directory_.path().string());
  EXPECT_EQ(code, 143);
  EXPECT_NE(load_text(file("out")).find("stopped early: signal 15"), std::string::npos)
      << load_text(file("err"));
  EXPECT_FALSE(fs::exists(file("s.json")));
}

}  // namespace
}  // namespace imgpipe::test::batch_runs_test
