// What stands on stderr, as text and with --log-format json: each failure once, every line an object.
#include <csignal>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::log_cli_test {
namespace {

using Json = nlohmann::json;

class LogCli : public BatchCli {
 protected:
  void SetUp() override {
    write_images();
    save_text(file("in/broken.png"), "no image");
    save_text(file("in/sub/cut.jpg"), load_text(file("in/b.jpg")).substr(0, 300));
  }

  // Every line of it, which has to be an object of the schema.
  [[nodiscard]] static std::vector<Json> objects(const std::string& err) {
    std::vector<Json> all;
    std::istringstream stream(err);
    for (std::string line; std::getline(stream, line);) {
      Json json = Json::parse(line, nullptr, false);
      EXPECT_FALSE(json.is_discarded()) << line;
      if (json.is_discarded()) continue;
      EXPECT_EQ(json.value("schema", ""), "imgpipe/log/1") << line;
      all.push_back(std::move(json));
    }
    EXPECT_TRUE(err.empty() || err.ends_with('\n')) << err;
    return all;
  }
  [[nodiscard]] static std::vector<Json> of_level(const std::vector<Json>& lines, const std::string& level) {
    std::vector<Json> found;
    for (const Json& line : lines) {
      if (line["level"] == level) found.push_back(line);
    }
    return found;
  }
  [[nodiscard]] static RunResult run(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.end(), {"--log-format", "json"});
    return run_imgpipe(arguments, options);
  }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// ---- failures, each once --------------------------------------------------------------------------------

TEST_F(LogCli, EachFailureIsToldOnce) {
  const std::string failed = file("failed.txt");
  for (const bool with_list : {false, true}) {
    std::vector<std::string> arguments{in(), out(), "--recursive", "--overwrite"};
    if (with_list) arguments.insert(arguments.end(), {"--failed-out", failed, "--report", file("r.ndjson")});
    const RunResult result = run_imgpipe(arguments);
    EXPECT_EQ(result.exit_code, 1);
    for (const char* name : {"broken.png", "cut.jpg"}) {
      EXPECT_EQ(count(result.err, name), 1U) << result.err;
      EXPECT_EQ(count(result.out, name), 0U) << result.out;
    }
    EXPECT_EQ(lines(result.err), 2U) << result.err;
    EXPECT_NE(result.out.find("7 images: 5 done, 0 skipped, 2 failed, in "), std::string::npos) << result.out;
    EXPECT_NE(result.out.find(with_list ? "failed: each is told on stderr, and in " + failed + ", " +
                                              file("r.ndjson") + "\n"
                                        : "failed: each is told on stderr; --failed-out FILE and --report "
                                          "FILE.ndjson keep them\n"),
              std::string::npos)
        << result.out;
  }
}

TEST_F(LogCli, WithOneStreamEachFailureIsToldOnceToo) {
  ASSERT_EQ(run_bash("$I in out -r >said 2>&1; test $? = 1", folder_.path().string()), 0);
  const std::string said = load_text(file("said"));
  EXPECT_EQ(count(said, "broken.png"), 1U) << said;
  EXPECT_EQ(count(said, "cut.jpg"), 1U) << said;
  ASSERT_EQ(run_bash("$I in out -r -q --overwrite >said 2>&1; test $? = 1", folder_.path().string()), 0);
  EXPECT_EQ(lines(load_text(file("said"))), 2U) << load_text(file("said"));
}

// ---- JSON -----------------------------------------------------------------------------------------------

TEST_F(LogCli, ABatchTellsOfEveryImageAndOfItself) {
  const RunResult result = run({in(), out(), "--recursive"});
  EXPECT_EQ(result.exit_code, 1);
  const std::vector<Json> all = objects(result.err);
  const std::vector<Json> errors = of_level(all, "error");
  ASSERT_EQ(errors.size(), 2U) << result.err;
  std::map<std::string, Json> by_input;
  for (const Json& error : errors) by_input[error["input"]] = error;
  const Json broken = by_input[in() + "/broken.png"];
  EXPECT_EQ(broken["output"], out() + "/broken.png");
  EXPECT_EQ(broken["message"], in() + "/broken.png: " + broken["reason"].get<std::string>());
  EXPECT_EQ(count(broken["reason"], "/"), 0U) << "no path in " << broken["reason"];
  EXPECT_EQ(by_input[in() + "/sub/cut.jpg"]["output"], out() + "/sub/cut.jpg");
  const Json& last = all.back();
  EXPECT_EQ(last["event"], "summary");
  const Json& progress = last["progress"];
  EXPECT_EQ(progress["done"], 5);
  EXPECT_EQ(progress["failed"], 2);
  EXPECT_EQ(progress["skipped"], 0);
  EXPECT_EQ(progress["total"], 7);
  EXPECT_GT(progress["images_per_s"], 0);

  const std::vector<Json> again = objects(run({in(), out(), "--recursive", "--skip-existing"}).err);
  EXPECT_EQ(again.back()["progress"]["skipped"], 5);
  EXPECT_EQ(again.back()["progress"]["total"], 7);
  const std::vector<Json> quiet = objects(run({in(), out(), "--recursive", "--overwrite", "-q"}).err);
  EXPECT_EQ(quiet.size(), 2U) << "errors alone";
}

TEST_F(LogCli, OneImageAndItsOutput) {
  const std::string broken = file("in/broken.png");
  std::vector<Json> all = objects(run({broken, file("o.png")}).err);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["input"], broken);
  EXPECT_EQ(all[0]["output"], file("o.png"));
  EXPECT_EQ(all[0]["message"], broken + ": " + all[0]["reason"].get<std::string>());
  fs::create_directory(file("folder"));
  all = objects(run({broken, file("folder")}).err);
  EXPECT_EQ(all[0]["output"], file("folder/broken.png"));
  ASSERT_EQ(
      run_imgpipe({"synth", file("alpha.png"), "--pattern", "noise", "--size", "9x9", "--channels", "4"})
          .exit_code,
      0);
  all = objects(run({file("alpha.png"), file("o.jpg")}).err);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["level"], "warning");
  EXPECT_EQ(all[0]["input"], file("alpha.png"));
  EXPECT_EQ(all[0]["output"], file("o.jpg"));
  EXPECT_EQ(count(all[0]["message"], "warning"), 0U) << "the level says so";
}

TEST_F(LogCli, TheCommandLineItself) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{in(), out(), "--no-such-option"},
                                             {"--log-format=json", in(), out(), "--stages", "blur"},
                                             {},
                                             {"bench", "--stage", "no"},
                                             {"synth"},
                                             {"stats"},
                                             {"info", "--no"},
                                             {"report"},
                                             {"devices", "extra"},
                                             {"help", "nothing"},
                                             {"benhc"}}) {
    const RunResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    const std::vector<Json> all = objects(result.err);
    ASSERT_EQ(all.size(), 1U) << result.err;
    EXPECT_EQ(all[0]["level"], "error");
    EXPECT_TRUE(all[0]["input"].is_null()) << result.err;
  }
  // What is no value of it is told as text, and so is what stands behind --.
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {in(), out(), "--log-format", "xml"}, {in(), "--", "--log-format", "json"}}) {
    const RunResult result = run_imgpipe(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(result.err.starts_with("imgpipe: ")) << result.err;
  }
}

TEST_F(LogCli, StrangeNamesAreValidJson) {
  fs::create_directory(file("odd"));
  for (const char* name :
       {"new\nline.png", "\xff\xfe.png", "tab\tquote\".png", "\x1b[31mred.png", "back\\slash.png"})
    save_text(file("odd/") + name, "no image");
  const RunResult result = run({file("odd"), out()});
  EXPECT_EQ(result.exit_code, 1);
  const std::vector<Json> errors = of_level(objects(result.err), "error");
  ASSERT_EQ(errors.size(), 5U) << result.err;
  std::string names;
  for (const Json& error : errors) {
    names += error["input"].get<std::string>();
    EXPECT_EQ(error["message"],
              error["input"].get<std::string>() + ": " + error["reason"].get<std::string>());
  }
  for (const char* part : {"new\\x0Aline", "\\xFF\\xFE", "tab\\x09quote\"", "\\x1B[31mred", "back\\slash"})
    EXPECT_NE(names.find(part), std::string::npos) << names;
}

TEST_F(LogCli, NoTableStandsAmongTheObjects) {
  const std::string image = file("in/a.png");
  RunResult result = run({image, "-", "--format", "png"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "") << "the image has stdout, and its table would be text";
  result = run({image, file("o.png"), "--report", "-"});
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(Json::parse(result.out)["schema"], "imgpipe/image/1");
  EXPECT_EQ(objects(run({"stats", in(), "--json", "-"}).err).back()["event"], "summary");
  EXPECT_EQ(objects(run({"info", image, "--json", "-"}).err).size(), 0U);
}

TEST_F(LogCli, DetailsAndNotices) {
  const std::vector<Json> all = objects(run({file("in/a.png"), file("o.png"), "-v"}).err);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(of_level(all, "debug").size(), all.size());
  const RunResult shard = run({in(), out(), "--shard", "1/2", "-q"});
  EXPECT_EQ(objects(shard.err).front()["level"], "info") << "said with -q too";
}

// ---- progress -------------------------------------------------------------------------------------------

// A run that stands still for ten seconds, as the clock has it: stopped, and continued.
TEST_F(LogCli, ALongRunSaysHowFarItIs) {
  fs::create_directory(file("many"));
  write("many/000.png", 1, 3000);
  for (int i = 1; i < 400; ++i)
    fs::create_symlink(file("many/000.png"), file("many/") + std::to_string(i) + ".png");
  const auto stopped_for = [&](int seconds, const std::string& options) {
    const std::string line =
        "rm -rf out err; $I many out --jobs 1 --threads 1 --device reference " + options +
        " >table 2>err & run=$!\n"
        "for look in $(seq 500); do ls out 2>/dev/null | grep -q png && break; sleep 0.02; done\n"
        "kill -STOP $run; sleep " +
        std::to_string(seconds) + "; kill -CONT $run; sleep 1; kill -TERM $run; wait $run";
    EXPECT_EQ(run_bash(line, folder_.path().string()), 128 + SIGTERM) << load_text(file("err"));
    return load_text(file("err"));
  };
  const std::string text = stopped_for(10, "");
  EXPECT_EQ(count(text, " of 400 images: "), 1U) << text;
  EXPECT_EQ(lines(text), 1U) << text;
  EXPECT_EQ(stopped_for(1, ""), "") << "a short run";
  const std::vector<Json> all = objects(stopped_for(10, "--log-format json"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["event"], "progress");
  EXPECT_EQ(all[0]["progress"]["total"], 400);
  EXPECT_GE(all[0]["progress"]["seconds"], 10);
  EXPECT_EQ(all[1]["event"], "summary");
}

// What a terminal shows of a command; $I in it is the program.
TEST_F(LogCli, ATerminalShowsWhatIsInProgress) {
  if (run_bash("command -v script >/dev/null", folder_.path().string()) != 0)
    GTEST_SKIP() << "script(1), which gives a command a terminal, is not installed";
  const auto shown = [&](const std::string& command) {
    const std::string line = "script -qec \"" + command + "\" /dev/null </dev/null >shown";
    EXPECT_EQ(run_bash(line, folder_.path().string()), 0) << load_text(file("shown"));
    return load_text(file("shown"));
  };
  const TiffKind kind{.width = 5, .height = 4, .bits = 8, .samples = 1, .photometric = 1};
  save(file("stack.tif"), make_tiff_stack(std::vector<TiffPageOf>(6, {kind, Values(20, 7)})));
  const std::string bar = "[                    ] 0/6";
  const std::string one_pass = shown("$I stack.tif o.tif --pages all");
  EXPECT_EQ(count(one_pass, bar), 1U) << one_pass;
  EXPECT_EQ(count(one_pass, "pass "), 0U) << one_pass;
  EXPECT_LT(one_pass.find(bar), one_pass.rfind("\r\x1b[K")) << "the bar is removed before the table";
  const std::string two = shown("$I stack.tif o.tif --pages all --stages contrast:range=series");
  for (const char* pass : {"pass 1 of 2: ", "pass 2 of 2: "}) EXPECT_EQ(count(two, pass + bar), 1U) << two;
  EXPECT_EQ(count(shown("$I stack.tif o.tif --pages all -q"), "0/6"), 0U);
  EXPECT_EQ(count(shown("$I stack.tif o.tif --pages all --log-format json"), "0/6"), 0U);
  EXPECT_EQ(count(shown("$I stack.tif o.tif --pages 2"), "0/1"), 0U) << "one page is soon done";
  const std::string bench = "$I bench --device cpu --stage gray --size 9x9 --repeat 3";
  const std::string timing = "timing gray, photo 9x9: sequential on reference, 1 of 2";
  EXPECT_EQ(count(shown(bench), timing), 1U) << shown(bench);
  EXPECT_EQ(count(shown(bench + " -q"), "timing"), 0U);
}

}  // namespace
}  // namespace imgpipe::test::log_cli_test
