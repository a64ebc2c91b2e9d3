// --failed-out and --files-from repeat only the failures, to the same outputs. Also tests the output of each
// INPUT.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"

namespace imgpipe::test::batch_replay_test {
namespace {

using Json = nlohmann::json;

class BatchReplay : public BatchCli {
 protected:
  void SetUp() override {
    BatchCli::SetUp();
    fs::create_directories(file("two/sub"));
    write("two/f.png", 6);
    write("two/sub/g.png", 7);
    // Failing files in different directories, one of them next to files whose outputs have the same names.
    for (const char* bad : {"in/bad.png", "in/sub/bad.jpg", "two/sub/worse.png"})
      save_text(file(bad), "no image");
  }

  [[nodiscard]] RunOptions here() const {
    RunOptions options;
    options.directory = directory_.path().string();
    return options;
  }

  // Runs a command, then its failures again after fixing the files. Together, the runs must write the same
  // outputs as one run without failures; the second run must write nothing else.
  void expect_replay(std::vector<std::string> arguments, const std::vector<std::string>& bad,
                     const std::string& list_text) {
    SCOPED_TRACE(arguments.front());
    std::ranges::replace(arguments, "OUT", out() + "/");
    arguments.insert(arguments.end(), {"-q", "--failed-out", file("failed")});
    fs::remove_all(out());
    fs::remove(file("failed"));
    for (const std::string& name : bad) save_text(file(name), "no image");
    EXPECT_EQ(run_imgpipe(arguments, here()).exit_code, 1);
    EXPECT_EQ(load_text(file("failed")), list_text);
    const auto good = contents(out());

    for (const std::string& name : bad) write(name, 8);
    fs::remove_all(out());
    std::vector<std::string> again = arguments;
    again.insert(again.end(), {"--files-from", file("failed")});
    const RunResult run = run_imgpipe(again, here());
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    auto both = contents(out());
    EXPECT_EQ(both.size(), bad.size());
    EXPECT_EQ(load_text(file("failed")), "") << "what was read is replaced by what failed now: nothing";
    both.insert(good.begin(), good.end());

    fs::remove_all(out());
    EXPECT_EQ(run_imgpipe(arguments, here()).exit_code, 0);
    EXPECT_EQ(contents(out()), both);
  }
};

TEST_F(BatchReplay, OneDirectory) {
  expect_replay({"in", "OUT"}, {"in/bad.png"}, "bad.png\n");
  expect_replay({in(), "OUT"}, {"in/bad.png"}, "bad.png\n");
}

TEST_F(BatchReplay, OneDirectoryRecursive) {
  expect_replay({"in", "OUT", "--recursive"}, {"in/bad.png", "in/sub/bad.jpg"}, "bad.png\nsub/bad.jpg\n");
  expect_replay({"./in/", "OUT", "--recursive", "--exclude", "deep"}, {"in/bad.png", "in/sub/bad.jpg"},
                "bad.png\nsub/bad.jpg\n");
}

TEST_F(BatchReplay, TwoDirectories) {
  expect_replay({"in", "two", "OUT", "--recursive"}, {"in/bad.png", "in/sub/bad.jpg", "two/sub/worse.png"},
                "in/bad.png\nin/sub/bad.jpg\ntwo/sub/worse.png\n");
  expect_replay({in(), file("two"), "OUT", "--recursive"},
                {"in/bad.png", "in/sub/bad.jpg", "two/sub/worse.png"},
                file("in/bad.png") + "\n" + file("in/sub/bad.jpg") + "\n" + file("two/sub/worse.png") + "\n");
  expect_replay({"in", "two", "OUT"}, {"in/bad.png"}, "in/bad.png\n");
}

TEST_F(BatchReplay, TwoDirectoriesElsewhere) {
  RunOptions deep;
  deep.directory = file("in/sub");
  const std::vector<std::string> command{"../../two",   "../../in",     out() + "/",
                                         "--recursive", "--failed-out", file("failed")};
  EXPECT_EQ(run_imgpipe(command, deep).exit_code, 1);
  EXPECT_EQ(written(), (Names{"in/a.png", "in/b.jpg", "in/c.GIF.ppm", "in/sub/d.png", "in/sub/deep/e.bmp",
                              "two/f.png", "two/sub/g.png"}));
  EXPECT_EQ(load_text(file("failed")), "../../in/bad.png\n../../in/sub/bad.jpg\n../../two/sub/worse.png\n");
  write("two/sub/worse.png", 9);
  std::vector<std::string> again = command;
  again.insert(again.end(), {"--files-from", file("failed")});
  EXPECT_EQ(run_imgpipe(again, deep).exit_code, 1);
  EXPECT_TRUE(fs::exists(out() + "/two/sub/worse.png"));
  EXPECT_EQ(load_text(file("failed")), "../../in/bad.png\n../../in/sub/bad.jpg\n");
}

TEST_F(BatchReplay, Files) {
  expect_replay({"in/a.png", "in/bad.png", "in/sub/d.png", "OUT"}, {"in/bad.png"}, "in/bad.png\n");
  expect_replay({in() + "/a.png", in() + "/sub/bad.jpg", "OUT", "--recursive"}, {"in/sub/bad.jpg"},
                in() + "/sub/bad.jpg\n");
}

TEST_F(BatchReplay, Patterns) {
  expect_replay({"in/*.png", "OUT"}, {"in/bad.png"}, "in/bad.png\n");
  expect_replay({in() + "/**/*.{jpg,png}", "OUT", "--recursive"}, {"in/bad.png", "in/sub/bad.jpg"},
                in() + "/bad.png\n" + in() + "/sub/bad.jpg\n");
  expect_replay({"t*", "in/*.png", "OUT", "--recursive"}, {"in/bad.png", "two/sub/worse.png"},
                "in/bad.png\ntwo/sub/worse.png\n");
}

TEST_F(BatchReplay, NamesWithNewlines) {
  fs::create_directory(file("odd"));
  write("odd/good.png", 1);
  expect_replay({"odd", "OUT"}, {"odd/ne\nw.png"}, std::string("ne\nw.png") + '\0');
  expect_replay({"odd", "two/f.png", "OUT"}, {"odd/ne\nw.png", "odd/plain.png"},
                std::string("odd/ne\nw.png") + '\0' + "odd/plain.png" + '\0');
}

TEST_F(BatchReplay, ReplaysLists) {
  save_text(file("list"), "in/a.png\nin/bad.png\n");
  expect_replay({"OUT", "--files-from", "list"}, {"in/bad.png"}, "in/bad.png\n");
}

TEST_F(BatchReplay, EveryShardReplaysItsOwnFailures) {
  for (int i = 0; i < 12; ++i) save_text(file("in/bad" + std::to_string(i) + ".png"), "no image");
  for (const std::vector<std::string>& inputs : {Names{"in"}, Names{"in", "two"}}) {
    std::size_t all = 0;
    for (int shard = 1; shard <= 3; ++shard) {
      std::vector<std::string> command = inputs;
      const std::string list = file("failed" + std::to_string(shard) + "of" + std::to_string(inputs.size()));
      command.insert(command.end(), {out() + "/", "-q", "--recursive", "--failed-out", list, "--shard",
                                     std::to_string(shard) + "/3"});
      EXPECT_EQ(run_imgpipe(command, here()).exit_code, 1);
      const std::string failed = load_text(list);
      all += lines(failed);
      command.insert(command.end(), {"--files-from", list});
      EXPECT_EQ(run_imgpipe(command, here()).exit_code, 1);
      EXPECT_EQ(load_text(list), failed) << "they fail again, and no other is done";
    }
    EXPECT_EQ(all, inputs.size() == 1 ? 14U : 15U);
  }
}

TEST_F(BatchReplay, ReportUsesTheListedNames) {
  EXPECT_EQ(
      run_imgpipe({in(), file("two"), out() + "/", "--recursive", "--report", file("r.json")}).exit_code, 1);
  const Json report = Json::parse(load_text(file("r.json")));
  ASSERT_EQ(report["failures"].size(), 3U);
  for (const Json& failure : report["failures"]) {
    EXPECT_EQ(failure["name"], failure["input"]);
    EXPECT_TRUE(fs::exists(failure["input"].get<std::string>()));
    EXPECT_EQ(failure["error"], "input");
    EXPECT_EQ(failure["reason"].get<std::string>().find("bad"), std::string::npos) << "the path once";
  }
  EXPECT_EQ(report["more_inputs"], Json::array({file("two")}));
}

TEST_F(BatchReplay, ListedNameWithoutInputIsReported) {
  save_text(file("list"), "in/a.png\nin/gone.png\n");
  const RunResult run =
      run_imgpipe({"in", "two", out() + "/", "--recursive", "--files-from", file("list")}, here());
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 1U) << run.err;
  EXPECT_NE(run.err.find("in/gone.png: listed in --files-from"), std::string::npos) << run.err;
  EXPECT_EQ(written(), (Names{"in/a.png"}));
}

// A list that a command both reads and writes loses nothing when the command ends early.
TEST_F(BatchReplay, UnfinishedNamesStayInTheList) {
  save_text(file("failed"), "a.png\nb.jpg\nbad.png\nc.GIF.ppm\n");
  EXPECT_EQ(run_imgpipe({in(), out(), "-q", "--jobs", "1", "--fail-fast", "--files-from", file("failed"),
                         "--failed-out", file("failed")})
                .exit_code,
            1);
  EXPECT_EQ(load_text(file("failed")), "bad.png\nc.GIF.ppm\n");
}

// ---- the output of each INPUT ------------------------------------------------------------------------

TEST_F(BatchReplay, LastPathComponentsNameInputsOutsideTheDirectory) {
  RunOptions deep;
  deep.directory = file("two");
  for (const char* bad : {"in/bad.png", "in/sub/bad.jpg", "two/sub/worse.png"}) fs::remove(file(bad));
  fs::create_directories(file("other/in"));
  fs::copy_file(file("in/b.jpg"), file("other/in/z.jpg"));
  const RunResult run = run_imgpipe(
      {"../in/sub", "..//other/in/", "../in/a.png", "sub", out() + "/", "--recursive", "-q"}, deep);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(written(), (Names{"a.png", "in/z.jpg", "sub/d.png", "sub/deep/e.bmp", "sub/g.png"}));
  fs::remove_all(out());
  EXPECT_EQ(run_imgpipe({"..", "sub/g.png", out() + "/", "--recursive", "-q", "--include", "f.png",
                         "--include", "g.png"},
                        deep)
                .exit_code,
            0);
  EXPECT_EQ(written(), (Names{directory_.path().filename().string() + "/two/f.png",
                              directory_.path().filename().string() + "/two/sub/g.png", "sub/g.png"}));
  fs::copy_file(file("in/b.jpg"), file("other/in/a.png"));
  expect_refused(run_imgpipe({"../in", "../other/in", out() + "/", "--recursive"}, deep), "output of both");
}

TEST_F(BatchReplay, PatternsMatchPathsRelativeToEachInput) {
  const auto taken = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {out() + "/", "-q", "--recursive"});
    (void)run_imgpipe(arguments, here());
    const Names names = written();
    fs::remove_all(out());
    return names;
  };
  for (const char* bad : {"in/bad.png", "in/sub/bad.jpg", "two/sub/worse.png"}) fs::remove(file(bad));
  const Names top{"in/a.png", "in/b.jpg", "in/c.GIF.ppm", "two/f.png"};
  for (const char* pattern : {"sub", "sub/", "./sub", "/sub/", "{sub,x}/", "sub/**", "**/sub/**"})
    EXPECT_EQ(taken({"in", "two", "--exclude", pattern}), top) << pattern;
  EXPECT_EQ(taken({"in", "two", "--include", "**/deep/*", "--include", "./*.JPG"}),
            (Names{"in/b.jpg", "in/sub/deep/e.bmp"}));
  EXPECT_EQ(taken({"in", "two", "--include", "deep/"}), (Names{"in/sub/deep/e.bmp"}));
  EXPECT_EQ(taken({"in/a.png", "in/b.jpg", "two", "--exclude", "*.png"}), (Names{"in/b.jpg"}))
      << "files that are given are files like others";
  save_text(file("list"), "in/a.png\nin/sub/d.png\nin/sub/deep/e.bmp\n");
  EXPECT_EQ(taken({"--files-from", "list", "--exclude", "deep/"}), (Names{"in/a.png", "in/sub/d.png"}));
}

TEST_F(BatchReplay, PatternsDoNotMatchOutputs) {
  for (const char* bad : {"in/bad.png", "in/sub/bad.jpg"}) fs::remove(file(bad));
  for (const char* pattern : {"in/**", "in/*"}) {
    fs::remove_all(file("in/out"));
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(run_imgpipe({pattern, "in/out", "--recursive", "-q", "--exclude", "*.txt"}, here()).exit_code,
                0);
      EXPECT_EQ(files_below(file("in/out")).size(), 5U) << pattern << round;
    }
  }
  expect_refused(run_imgpipe({"in/out/in/*.png", "in/out/in"}, here()), "is the input ");
}

TEST_F(BatchReplay, EmptyLists) {
  save_text(file("empty"), "");
  save_text(file("blank"), "\n\n");
  for (const std::string& list : {file("empty"), file("blank"), std::string("/dev/null"), std::string("-")}) {
    for (const std::vector<std::string>& inputs :
         {Names{}, Names{"in"}, Names{"in", "two"}, Names{"in/*.png"}}) {
      std::vector<std::string> command = inputs;
      command.insert(command.end(), {out() + "/", "--files-from", list, "--report", file("r.json"),
                                     "--report", file("r.ndjson"), "--failed-out", file("failed")});
      const RunResult run = run_imgpipe(command, here());
      EXPECT_EQ(run.exit_code, 0) << run.err;
      EXPECT_NE(run.out.find("0 images: 0 done"), std::string::npos) << run.out;
      EXPECT_NE(run.out.find("the list is empty"), std::string::npos) << run.out;
      EXPECT_EQ(run.err, "");
      EXPECT_EQ(Json::parse(load_text(file("r.json")))["images"], 0);
      EXPECT_EQ(load_text(file("r.ndjson")) + load_text(file("failed")), "");
      EXPECT_FALSE(fs::exists(out()));
    }
  }
  save_text(file("list"), "a.png\n");
  expect_refused(run_imgpipe({in(), out(), "--files-from", file("list"), "--exclude", "*"}),
                 "no images found");
}

}  // namespace
}  // namespace imgpipe::test::batch_replay_test
