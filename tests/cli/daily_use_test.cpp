// What people type every day: lists of other systems, names of other programs, hidden and long names, help
// topics.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"

namespace imgpipe::test::daily_use_test {
namespace {

using Json = nlohmann::json;

class DailyUse : public BatchCli {
 protected:
  [[nodiscard]] RunResult run_here(const std::vector<std::string>& arguments) const {
    RunOptions here;
    here.folder = folder_.path().string();
    return run_imgpipe(arguments, here);
  }
  void expect_hint(const std::vector<std::string>& arguments, const std::string& line) const {
    const RunResult run = run_here(arguments);
    EXPECT_EQ(run.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(run.err, "imgpipe: " + line + "\n") << testing::PrintToString(arguments);
  }
  [[nodiscard]] std::vector<Json> lines_of(const std::string& name) const {
    std::istringstream stream(load_text(file(name)));
    std::vector<Json> all;
    for (std::string line; std::getline(stream, line);) all.push_back(Json::parse(line));
    return all;
  }
};

// ---- lists --------------------------------------------------------------------------------------------

TEST_F(DailyUse, ListsOfOtherSystemsAreRead) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string& list :
       {std::string("a.png\nb.jpg\n"), std::string("a.png\r\nb.jpg\r\n"), std::string("a.png\r\n\r\nb.jpg"),
        mark + "a.png\nb.jpg\n", mark + "a.png\r\nb.jpg\r\n"}) {
    save_text(file("list"), list);
    const RunResult run = run_imgpipe({in(), out(), "--files-from", file("list"), "-q", "--device", "cpu"});
    EXPECT_EQ(run.exit_code, 0) << testing::PrintToString(list) << run.err;
    EXPECT_EQ(written(), (Names{"a.png", "b.jpg"})) << testing::PrintToString(list);
    fs::remove_all(out());
  }
}

// A name may end with CR, and a list whose names end with NUL says each to its last byte.
TEST_F(DailyUse, ACarriageReturnOfANameIsKept) {
  fs::copy(file("in/a.png"), file("in/cr.png\r"));
  save_text(file("lines"), "cr.png\r\nb.jpg\n");
  save_text(file("nul"), std::string("cr.png\r\0", 8));
  for (const char* list : {"lines", "nul"}) {
    const RunResult run = run_imgpipe({in(), file(list) + ".out/", "--files-from", file(list), "-q"});
    EXPECT_EQ(run.exit_code, 0) << list << run.err;
  }
}

// ---- names --------------------------------------------------------------------------------------------

TEST_F(DailyUse, TheBytesOfANameThatCannotBeShownAreReported) {
  const std::string raw = "lat\xE9.png", text = "lat\\xE9.png";
  for (const std::string& name : {raw, text}) fs::copy(file("in/a.png"), file("in/" + name));
  const std::vector<std::string> arguments{
      in(), out(), "--include", "lat*", "--report", file("r.ndjson"), "-q", "--skip-existing"};
  ASSERT_EQ(run_imgpipe(arguments).exit_code, 0);
  std::vector<Json> lines = lines_of("r.ndjson");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["input"], lines[1]["input"]);
  if (lines[0]["input_bytes_hex"].is_null()) std::swap(lines[0], lines[1]);
  EXPECT_TRUE(lines[0]["input_bytes_hex"].get<std::string>().ends_with("2f6c6174e92e706e67")) << lines[0];
  EXPECT_EQ(lines[1]["input_bytes_hex"], nullptr);
  const RunResult sums = run_imgpipe({"report", file("r.ndjson")});
  EXPECT_EQ(sums.out.find("2 images in 1 report: 2 done"), 0U) << sums.out;
  // A report that goes on knows both.
  ASSERT_EQ(run_imgpipe(arguments).exit_code, 0);
  EXPECT_EQ(lines_of("r.ndjson").size(), 2U);
}

TEST_F(DailyUse, HiddenImagesAreCounted) {
  save_text(file("in/.DS_Store"), "no image");
  const RunResult run = run_imgpipe({in(), out(), "--dry-run", "-v"});
  EXPECT_NE(run.out.find("\npassed over: 1 hidden, 1 other\n"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("1 hidden (such as .hidden.png)"), std::string::npos) << run.err;
}

TEST_F(DailyUse, ANameThatIsTooLongIsRefusedBeforeAnyWork) {
  const std::string longest(250, 'x');
  for (const char* dry : {"--dry-run", "-q"}) {
    expect_refused(run_imgpipe({in(), out(), "--name", longest + "_{stem}.png", dry, "--include", "a.png"}),
                   ": a file name of 256 bytes; the system takes 255");
    EXPECT_FALSE(fs::exists(out()));
  }
  EXPECT_EQ(
      run_imgpipe({in(), out(), "--name", longest + "{stem}.png", "-q", "--include", "a.png"}).exit_code, 0);
}

TEST_F(DailyUse, PnmMayBePpm) {
  EXPECT_EQ(run_here({"in/a.png", "x.pnm", "--format", "ppm", "--stages", "invert", "-q"}).exit_code, 0);
  EXPECT_EQ(load_text(file("x.pnm")).substr(0, 3), "P6\n");
  EXPECT_EQ(run_here({"in/a.png", "g.pnm", "--format", "pgm", "-q"}).exit_code, 0);
  EXPECT_EQ(load_text(file("g.pnm")).substr(0, 3), "P5\n");
  const RunResult batch = run_imgpipe({in(), out(), "--format", "ppm", "--name", "{stem}.pnm", "--stages",
                                       "invert", "-q", "--include", "a.png"});
  EXPECT_EQ(batch.exit_code, 0) << batch.err;
  EXPECT_EQ(load_text(out() + "/a.pnm").substr(0, 3), "P6\n");
  EXPECT_EQ(run_here({"in/a.png", "x.ppm", "--format", "pnm", "-q"}).exit_code, 2);
}

// ---- patterns -----------------------------------------------------------------------------------------

TEST_F(DailyUse, AnExcludeOfAPresetMayMatchNothing) {
  save_text(file("p.toml"), "exclude = [\"*_thumb.*\", \"old/\"]\n");
  EXPECT_EQ(run_imgpipe({in(), out(), "--preset", file("p.toml"), "-q"}).err, "");
  EXPECT_EQ(run_imgpipe({in(), file("other/"), "--exclude", "*_thumb.*", "-q"}).err,
            "imgpipe: warning: --exclude '*_thumb.*' matched nothing\n");
}

// ---- hints --------------------------------------------------------------------------------------------

TEST_F(DailyUse, WhatOtherProgramsCallAStageIsHinted) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
      {{"in/a.png", "o.png", "--resize", "200"},
       "unknown option '--resize'; resize is a stage: --stages resize:"},
      {{"in/a.png", "o.png", "--grayscale"}, "unknown option '--grayscale'; gray is a stage: --stages gray"},
      {{"in/a.png", "o.png", "--stages", "blur"}, "--stages: unknown stage 'blur'; did you mean gauss? "},
      {{"in/a.png", "o.png", "--stages", "negate"}, "did you mean invert? imgpipe help stages lists all"},
      {{"in/a.png", "o.png", "--stages", "resize:512x512"},
       "--stages: resize: '512x512': values are separated by colons: resize:512:512"},
      {{"resize", "in", "out"}, "unknown command 'resize'; resize is a stage: --stages resize:"},
      {{"convert", "in/a.png", "o.png"},
       "unknown command 'convert'; imgpipe INPUT OUTPUT --stages none converts"},
      {{"diff", "in/a.png", "in/b.jpg"}, "unknown command 'diff'"},
      {{"-v", "info", "in/a.png"}, "'info' is a command, which comes before its options: imgpipe info"},
      {{"in/a.png", "o.avif"}, "'o.avif': cannot write .avif; use the ending of jpeg, png, "},
      {{"in/a.png", "o"}, "'o' has no ending: add --format png"},
      {{"in", "out/", "--report", "x.htm"}, "'x.htm' must end in .json, .csv, .ndjson or .html"},
      {{"in/a.png", "in/b.jpg", "o2.png"},
       "o2.png: not a directory, but there are 2 inputs; end OUTPUT with / "},
      {{"nowhere", "out/", "--files-from", "in/notes.txt"},
       "--files-from: INPUT nowhere is not a directory"}};
  for (const auto& [arguments, text] : rows) {
    const RunResult run = run_here(arguments);
    EXPECT_EQ(run.exit_code, 2) << text;
    EXPECT_EQ(lines(run.err), 1U) << run.err;
    EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
  }
}

// ---- help, lists, reports -----------------------------------------------------------------------------

TEST_F(DailyUse, HelpListsStagesFormatsAndExitCodes) {
  for (const auto& [topic, text] :
       {std::pair{"stages", "\n  clahe"}, {"formats", "\n  webp"}, {"exit-codes", "\n  129, 130, 143"}}) {
    const RunResult run = run_imgpipe({"help", topic});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find(text), std::string::npos) << run.out;
  }
}

TEST_F(DailyUse, TheListOfTheLabFitsTheTerminal) {
  RunOptions narrow;
  narrow.environment["COLUMNS"] = "80";
  const RunResult run = run_imgpipe({"bench", "--list"}, narrow);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::istringstream text(run.out);
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_NE(run.out.find("\nhist\n"), std::string::npos);
}

TEST_F(DailyUse, ADirectoryIsNotAReport) {
  const RunResult run = run_imgpipe({"report", in()});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "imgpipe: " + in() + ": is a directory; expected a report of --report FILE.ndjson\n");
  EXPECT_EQ(run.out, "");
}

}  // namespace
}  // namespace imgpipe::test::daily_use_test
