// imgpipe ... --update: which outputs are made again, and which are kept.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/support/batch_cli.h"

namespace imgpipe::test::update_test {
namespace {

using Json = nlohmann::json;

constexpr const char* kStamps = ".imgpipe-update.ndjson";

class Update : public BatchCli {
 protected:
  void SetUp() override {
    BatchCli::SetUp();
    // Old modification times, so that a rewritten file has a different time even on a coarse clock.
    for (const fs::path& path : files_below(in())) fs::last_write_time(path, past());
  }
  static fs::file_time_type past() { return fs::file_time_type::clock::now() - std::chrono::hours(24); }
  [[nodiscard]] RunResult run(const Names& more = {}) const {
    Names arguments{in(), out(), "--recursive", "--format", "png", "--device", "cpu", "--update"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_imgpipe(arguments);
  }
  // "5 images: 1 done, 4 up to date, 0 failed"
  static std::string counts(const RunResult& run) { return run.out.substr(0, run.out.find(", in ")); }
  void expect(const Names& more, int done, const std::string& why = "") const {
    if (!why.empty()) {
      Names dry = more;
      dry.emplace_back("--dry-run");
      const RunResult plan = run(dry);
      EXPECT_NE(plan.out.find(": " + why + "\n"), std::string::npos) << plan.out;
    }
    const RunResult result = run(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(counts(result), "5 images: " + std::to_string(done) + " done, " + std::to_string(5 - done) +
                                  " up to date, 0 failed");
  }
  [[nodiscard]] std::string stamps() const { return file(std::string("out/") + kStamps); }
  static Names kNames() { return {"a.png", "b.png", "c.GIF.png", "sub/d.png", "sub/deep/e.png"}; }
};

TEST_F(Update, UpToDateOutputsAreNotRewritten) {
  expect({}, 5, "output does not exist");
  const auto first = contents(out());
  EXPECT_EQ(lines(first.at(kStamps)), 5U);
  expect({}, 0);
  EXPECT_EQ(contents(out()), first);
  // Images have the same bytes as without --update.
  fs::rename(out(), file("with"));
  ASSERT_EQ(run_imgpipe({in(), out(), "--recursive", "--format", "png", "--device", "cpu"}).exit_code, 0);
  auto with = contents(file("with"));
  with.erase(kStamps);
  EXPECT_EQ(contents(out()), with);
  expect({}, 5, "output was not made with --update");
  expect({}, 0);
}

TEST_F(Update, ChangedInput) {
  expect({}, 5);
  fs::last_write_time(file("in/sub/d.png"), fs::file_time_type::clock::now());
  expect({}, 1, "input has changed");
  expect({}, 0);
  // A different file that is older than the output, as after restoring a backup.
  write("in/a.png", 99, 41);
  fs::last_write_time(file("in/a.png"), past() - std::chrono::hours(1));
  expect({}, 1, "input has changed");
  expect({}, 0);
  write("in/f.png", 6);
  EXPECT_EQ(counts(run()), "6 images: 1 done, 5 up to date, 0 failed");
}

TEST_F(Update, ChangedOutput) {
  expect({}, 5);
  const auto first = contents(out());
  // Edited by another program, which drops our mark.
  save_text(file("out/a.png"), "another program's picture");
  expect({}, 1, "output has changed");
  EXPECT_EQ(load_text(file("out/a.png")), first.at("a.png"));
  fs::last_write_time(file("out/b.png"), past());
  expect({}, 1, "output has changed");
  fs::remove(file("out/sub/deep/e.png"));
  expect({}, 1, "output does not exist");
  expect({}, 0);
}

TEST_F(Update, ForeignFilesAreNotReplacedWithoutOverwrite) {
  fs::create_directories(out());
  save_text(file("out/a.png"), "another program's image");
  const RunResult refused = run();
  expect_refused(refused, "was not written by imgpipe; use --overwrite to replace it");
  EXPECT_EQ(load_text(file("out/a.png")), "another program's image");
  expect({"--overwrite"}, 5);
  expect({}, 0);
}

// A link replaced the output: --update never wrote the link's target.
TEST_F(Update, LinkTargetOfAnOutputIsNotReplaced) {
  expect({}, 5);
  save_text(file("precious"), "another program's image");
  fs::remove(file("out/a.png"));
  fs::create_symlink(file("precious"), file("out/a.png"));
  expect_refused(run(), "was not written by imgpipe; use --overwrite to replace it");
  expect_refused(run_imgpipe({in() + "/a.png", file("out/a.png"), "--update"}),
                 "use --overwrite to replace it");
  EXPECT_EQ(load_text(file("precious")), "another program's image");
}

TEST_F(Update, OptionsThatAffectBytes) {
  expect({}, 5);
  expect({"--threads", "1", "--jobs", "1", "--fuse", "--device", "reference", "--memory", "1G", "-r"}, 0);
  expect({"--stages", "grey,hist,contrast,smooth", "--png-level", "1", "--window", "box"}, 0);
  expect({"--clip", "0.5"}, 5, "output was made with other options");
  expect({"--stages", "gray,hist,contrast:clip=0.5:clip-high=0.5,smooth"}, 0);
  expect({}, 5, "output was made with other options");
  expect({"--png-level", "2"}, 5);
}

TEST_F(Update, OtherVersionRewritesOutputs) {
  expect({}, 5);
  std::string text = load_text(stamps());
  text.replace(text.find("{\"imgpipe\":\"") + 12, 1, "9");
  save_text(stamps(), text);
  const RunResult announced =
      run_imgpipe({in(), out(), "--recursive", "--format", "png", "--update", "--dry-run"});
  EXPECT_NE(
      announced.err.find("--update: recreating the outputs of 1 image made by another version of imgpipe"),
      std::string::npos)
      << announced.err;
  expect({}, 1, "output was made by another version of imgpipe");
}

// Two builds of one version may write different bytes, so a different commit makes outputs outdated.
TEST_F(Update, OtherBuildRewritesOutputs) {
  expect({}, 5);
  std::string text = load_text(stamps());
  const std::size_t begin = text.find("{\"imgpipe\":\"") + 12;
  text.replace(begin, text.find('"', begin) - begin, "0.2.0-dev+0000000");
  save_text(stamps(), text);
  expect({}, 1, "output was made by another version of imgpipe");
}

TEST_F(Update, OtherInputOfTheSameSizeAndTime) {
  fs::copy(in(), file("in2"), fs::copy_options::recursive);
  for (const fs::path& path : files_below(in()))
    fs::last_write_time(file("in2") / path.lexically_relative(in()), fs::last_write_time(path));
  expect({}, 5);
  const Names arguments{file("in2"), out(), "--recursive", "--format", "png", "--update", "--device", "cpu"};
  EXPECT_EQ(counts(run_imgpipe(arguments)), "5 images: 5 done, 0 up to date, 0 failed");
}

TEST_F(Update, MovedInputsAndOutputsAreUpToDate) {
  expect({}, 5);
  fs::create_directories(file("elsewhere/deep"));
  fs::rename(in(), file("elsewhere/deep/in"));
  fs::rename(out(), file("elsewhere/deep/out"));
  const Names arguments{"in", "out", "--recursive", "--format", "png", "--update", "--device", "cpu"};
  RunOptions there;
  there.directory = file("elsewhere/deep");
  EXPECT_EQ(counts(run_imgpipe(arguments, there)), "5 images: 0 done, 5 up to date, 0 failed");
}

TEST_F(Update, MissingDirectoryIsMade) {
  RunOptions there;
  there.directory = directory_.path().string();
  for (const char* output : {"new", "./new/", "in/../new"}) {
    const RunResult result = run_imgpipe({"in", output, "-r", "--format", "png", "--update"}, there);
    const int done = std::string(output) == "new" ? 5 : 0;
    EXPECT_EQ(counts(result), "5 images: " + std::to_string(done) + " done, " + std::to_string(5 - done) +
                                  " up to date, 0 failed");
  }
}

TEST_F(Update, TornLinesAndGarbage) {
  expect({}, 5);
  const std::string text = load_text(stamps());
  save_text(stamps(), text.substr(0, text.size() - 20));
  expect({}, 1, "output was not made with --update");
  EXPECT_EQ(lines(load_text(stamps())), 5U);
  save_text(stamps(),
            load_text(stamps()) + std::string(300'000, '[') + "\n\xFF\xFE{}\n" + std::string(2 << 20, 'x'));
  expect({}, 0);
  fs::remove(stamps());
  expect({}, 5, "output was not made with --update");
  save_text(stamps(), "no stamps");
  expect_refused(run(), "was not written by imgpipe");
  fs::remove(stamps());
  ASSERT_EQ(::mkfifo(stamps().c_str(), 0600), 0);
  expect_refused(run(), "not a regular file");
}

TEST_F(Update, FailuresAreRetried) {
  save_text(file("in/broken.png"), "no image");
  for (int i = 0; i < 2; ++i) {
    const RunResult result = run();
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(counts(result),
              "6 images: " + std::string(i == 0 ? "5 done, 0" : "0 done, 5") + " up to date, 1 failed");
  }
  write("in/broken.png", 8);
  EXPECT_EQ(counts(run()), "6 images: 1 done, 5 up to date, 0 failed");
  // If an output cannot be made again, the old file stays and does not count as up to date.
  save_text(file("in/broken.png"), "no image");
  const std::string before = load_text(file("out/broken.png"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run().exit_code, 1);
  EXPECT_EQ(load_text(file("out/broken.png")), before);
}

TEST_F(Update, ReportsShowUpToDateImages) {
  expect({"--report", file("r.ndjson")}, 5);
  fs::last_write_time(file("in/a.png"), fs::file_time_type::clock::now());
  expect({"--report", file("r.ndjson"), "--report", file("r.json"), "--report", file("new.ndjson"),
          "--failed-out", file("failed.txt")},
         1);
  const Json all = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(all["skipped"], 4);
  EXPECT_EQ(all["done"], 1);
  EXPECT_EQ(all["options"]["update"], true);
  EXPECT_EQ(lines(load_text(file("r.ndjson"))), 6U) << "what it says is done gets no second line";
  std::istringstream report(load_text(file("new.ndjson")));
  std::size_t left = 0;
  for (std::string line; std::getline(report, line);) {
    const Json json = Json::parse(line);
    EXPECT_EQ(json["options_digest"], all["options_digest"]);
    if (json["status"] != "skipped") continue;
    EXPECT_EQ(json["reason"], "up to date");
    ++left;
  }
  EXPECT_EQ(left, 4U);
  std::istringstream lines_of_stamps(load_text(stamps()));
  for (std::string line; std::getline(lines_of_stamps, line);)
    EXPECT_EQ(Json::parse(line)["options_digest"], all["options_digest"]);
}

TEST_F(Update, ConcurrentShards) {
  constexpr int kShards = 3;
  for (int i = 0; i < 40; ++i)
    write("in/more" + std::to_string(i) + ".png", static_cast<std::uint64_t>(100 + i), 16);
  for (const int done : {45, 0, 45}) {
    const Names more = done == 45 && fs::exists(out()) ? Names{"--clip", "1"} : Names{};
    std::vector<std::thread> shards;
    shards.reserve(kShards);
    std::vector<RunResult> results(kShards);
    for (int i = 0; i < kShards; ++i) {
      shards.emplace_back([&, i] {
        Names arguments = more;
        arguments.insert(arguments.end(), {"--shard", std::to_string(i + 1) + "/" + std::to_string(kShards)});
        results[static_cast<std::size_t>(i)] = run(arguments);
      });
    }
    for (std::thread& shard : shards) shard.join();
    int sum = 0;
    for (const RunResult& result : results) {
      EXPECT_EQ(result.exit_code, 0) << result.err;
      sum += std::atoi(result.out.substr(result.out.find("images: ") + 8).c_str());
    }
    EXPECT_EQ(sum, done);
    EXPECT_EQ(counts(run(more)), "45 images: 0 done, 45 up to date, 0 failed");
  }
  EXPECT_EQ(lines(load_text(stamps())), 90U);
}

TEST_F(Update, BatchOverItsOwnOutputs) {
  expect({}, 5);
  const Names arguments{out() + "/.*", out() + "/*", file("second/"), "--include", "*",
                        "--update",    "-q",         "--device",      "cpu"};
  const RunResult result = run_imgpipe(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_FALSE(fs::exists(file("second/.imgpipe-update.png")));
  save_text(file("list.txt"), std::string(kStamps) + "\na.png\n");
  EXPECT_EQ(run_imgpipe({out(), file("third"), "--files-from", file("list.txt"), "-q", "--device", "cpu"})
                .exit_code,
            0);
}

TEST_F(Update, KilledRunIsResumed) {
  for (int i = 0; i < 60; ++i)
    write("in/more" + std::to_string(i) + ".png", static_cast<std::uint64_t>(i), 400);
  const Names arguments{in(),       out(),       "--recursive", "--format", "png",
                        "--device", "reference", "--update",    "-j",       "1"};
  RunOptions options;
  options.signal = SIGKILL;
  options.signal_directory = out();
  fs::create_directories(out());
  (void)run_imgpipe(arguments, options);
  const std::size_t noted = fs::exists(stamps()) ? lines(load_text(stamps())) : 0;
  const RunResult result = run_imgpipe(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(counts(result).find(std::to_string(noted) + " up to date"), std::string::npos) << counts(result);
  EXPECT_NE(counts(run_imgpipe(arguments)).find("0 done, 65 up to date"), std::string::npos);
}

TEST_F(Update, RejectsContradictingOptions) {
  expect_refused(run({"--skip-existing"}), "--update: cannot be combined with --skip-existing");
  expect_refused(run({"--no-clobber"}), "--update: cannot be combined with --no-clobber");
  fs::create_directories(out());
  expect_refused(run({"--report", file("out/.imgpipe-update.ndjson")}), "--update");
}

// ---- one image ---------------------------------------------------------------------------------------

class UpdateSingleImage : public Update {
 protected:
  [[nodiscard]] RunResult one(const Names& more = {}) const {
    Names arguments{file("in/a.png"), file("x/o.jpg"), "--update", "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_imgpipe(arguments);
  }
  [[nodiscard]] bool was_made(const Names& more = {}) const {
    const RunResult result = one(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const bool left = result.out + result.err == file("x/o.jpg") + ": up to date\n";
    EXPECT_NE(left, (result.out + result.err).find("end to end") != std::string::npos)
        << result.out << result.err;
    return !left;
  }
};

TEST_F(UpdateSingleImage, IsRewrittenUnlessUpToDate) {
  fs::create_directories(file("x"));
  EXPECT_TRUE(was_made());
  EXPECT_FALSE(was_made());
  EXPECT_FALSE(was_made({"--threads", "1", "--format", "jpeg"}));
  EXPECT_TRUE(was_made({"--quality", "50"}));
  EXPECT_TRUE(was_made());
  fs::last_write_time(file("in/a.png"), past() - std::chrono::seconds(5));
  EXPECT_TRUE(was_made());
  save_text(file("x/o.jpg"), "edited");
  EXPECT_TRUE(was_made());
  fs::remove(file("x/o.jpg"));
  EXPECT_TRUE(was_made());
  EXPECT_FALSE(was_made());
  EXPECT_EQ(one({"-q"}).out, "");
}

TEST_F(UpdateSingleImage, MissingResultsAreWritten) {
  fs::create_directories(file("x"));
  EXPECT_TRUE(was_made());
  EXPECT_TRUE(was_made({"--report", file("r.json"), "--histogram", file("h.csv")}));
  EXPECT_FALSE(was_made({"--report", file("r.json"), "--histogram", file("h.csv")}));
  EXPECT_TRUE(was_made({"--report", file("r2.json"), "--histogram", file("h.csv")}));
  EXPECT_TRUE(was_made({"--compare"}));
  EXPECT_NE(one({"--report", "-"}).out.find("\"options_digest\""), std::string::npos);
  const Json report = Json::parse(load_text(file("r2.json")));
  const std::string stamp = load_text(file(std::string("x/") + kStamps));
  EXPECT_NE(stamp.find(report["options_digest"].get<std::string>()), std::string::npos);
}

TEST_F(UpdateSingleImage, IntoADirectory) {
  for (const char* directory : {"new/", "new"}) {
    const RunResult result =
        run_imgpipe({file("in/b.jpg"), file(directory), "--update", "--format", "png", "--device", "cpu"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_EQ(lines(load_text(file(std::string("new/") + kStamps))), 1U);
  // A batch to the same directory also finds the output up to date.
  const RunResult batch = run_imgpipe(
      {in(), file("new"), "--update", "--format", "png", "--device", "cpu", "--include", "b.jpg"});
  EXPECT_EQ(counts(batch), "1 image: 0 done, 1 up to date, 0 failed");
}

TEST_F(UpdateSingleImage, RejectsStreams) {
  expect_refused(run_imgpipe({"-", file("o.png"), "--update"}),
                 "stdin: not a regular file; --update supports only regular files");
  expect_refused(run_imgpipe({file("in/a.png"), "-", "--format", "png", "--update"}),
                 "stdout: not a regular file");
  expect_refused(run_imgpipe({file("in/a.png"), "/dev/null", "--format", "png", "--update"}),
                 "/dev/null: not a regular file");
  expect_refused(run_imgpipe({file("in/a.png"), file("o.png"), "--update", "--no-clobber"}),
                 "cannot be combined with --no-clobber");
}

}  // namespace
}  // namespace imgpipe::test::update_test
