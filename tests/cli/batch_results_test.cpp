// What a batch says and writes besides images: what it passed over, reports that grow, files that cannot be
// written, failures once.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"
#include "tests/support/places.h"

namespace imgpipe::test::batch_results_test {
namespace {

using Json = nlohmann::ordered_json;

class BatchResults : public BatchCli {
 protected:
  static std::vector<Json> lines_of(const std::string& path) {
    std::vector<Json> all;
    std::istringstream text(load_text(path));
    for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
    return all;
  }
  static std::vector<std::string> keys_of(const Json& line) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : line.items()) keys.push_back(key);
    return keys;
  }
  // The last word on each image.
  static std::map<std::string, std::string> states(const std::string& path) {
    std::map<std::string, std::string> all;
    for (const Json& line : lines_of(path))
      all[fs::path(line["input"].get<std::string>()).filename().string()] = line["status"];
    return all;
  }
};

// ---- passed over ------------------------------------------------------------------------------------

TEST_F(BatchResults, WhatIsPassedOverIsCountedByKind) {
  for (const char* name : {"x.jp2", "y.J2K", "z.jxl", "sub/w.heic"}) save_text(in() + "/" + name, "not read");
  const RunResult run = run_imgpipe({in(), out(), "--report", file("r.json"), "-v", "--device", "cpu"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("\npassed over: 2 jp2, 1 hidden, 1 jxl, 1 other\n"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("passed over: 2 jp2 (such as x.jp2)"), std::string::npos) << run.err;
  const Json report = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(report["passed_over"], (Json{{"hidden", 1}, {"jp2", 2}, {"jxl", 1}, {"others", 1}}));
  EXPECT_EQ(report["not_selected"], 0);
  const RunResult dry =
      run_imgpipe({in(), out(), "--recursive", "--dry-run", "--exclude", "*.jpg", "--exclude", "*.J2K"});
  EXPECT_NE(dry.out.find("passed over: 1 heif, 1 hidden, 1 jp2, 1 jxl, 1 other, 2 not selected\n"),
            std::string::npos)
      << dry.out;
  EXPECT_EQ(run_imgpipe({in() + "/a.png", in() + "/b.jpg", out()}).out.find("passed over"),
            std::string::npos);
}

TEST_F(BatchResults, APatternThatMatchedNothingIsAWarning) {
  const RunResult run = run_imgpipe({in(), in() + "/*.tif", in() + "/s*", out() + "/", "-q", "--include",
                                     "*.png", "--include", "*.{gif,bmp}", "--exclude", "thumb/"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(lines(run.err), 4U) << run.err;
  for (const char* words : {"/*.tif' matched nothing", "/s*' matched folders only (see --recursive)",
                            "--include '*.{gif,bmp}' matched nothing", "--exclude 'thumb/' matched nothing"})
    EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  EXPECT_EQ(written(), (Names{"a.png"}));
  // Nothing at all: one line says so.
  expect_refused(run_imgpipe({in(), out() + "/", "--include", "*.tif"}), "--include '*.tif' matched nothing");
  expect_refused(run_imgpipe({in(), out() + "/", "--include", "{" + std::string(1200, ',') + "}"}),
                 "more than 1000 alternatives");
}

// ---- system calls -------------------------------------------------------------------------------------

// Each is a round trip to a server on network file systems.
TEST_F(BatchResults, AMissingOutputIsLookedUpOnceToPlanAndOnceToWrite) {
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

// ---- a line an image --------------------------------------------------------------------------------

TEST_F(BatchResults, EveryLineHasEveryKey) {
  save_text(in() + "/bb.png", "no image");
  fs::create_directory(out());
  fs::copy_file(in() + "/a.png", out() + "/a.png");
  EXPECT_EQ(run_imgpipe({in(), out(), "-q", "--skip-existing", "--fail-fast", "--jobs", "1", "--report",
                         file("r.ndjson")})
                .exit_code,
            1);
  EXPECT_EQ(states(file("r.ndjson")),
            (std::map<std::string, std::string>{
                {"a.png", "skipped"}, {"b.jpg", "done"}, {"bb.png", "failed"}, {"c.GIF.ppm", "not_done"}}));
  const std::vector<Json> all = lines_of(file("r.ndjson"));
  EXPECT_EQ(all.size(), 4U);
  for (const Json& line : all) {
    EXPECT_EQ(keys_of(line), keys_of(all.front()));
    EXPECT_EQ(keys_of(line).front(), "imgpipe");
    EXPECT_EQ(line["reason"].is_null(), line["status"] == "done");
    EXPECT_EQ(line["output_bytes"].is_null(), line["status"] != "done");
    EXPECT_EQ(line["width_pixels"].is_null(), line["status"] != "done");
    EXPECT_EQ(line["start_ms"].is_null(), line["status"] == "skipped" || line["status"] == "not_done");
    EXPECT_EQ(line["error"], line["status"] == "failed" ? Json("input") : Json(nullptr));
    EXPECT_TRUE(line["output"].is_string());
    if (!line["reason"].is_null()) {
      EXPECT_EQ(line["reason"].get<std::string>().find(in()), std::string::npos) << line;
    }
  }
}

TEST_F(BatchResults, AResumedRunAppends) {
  const std::vector<std::string> command{in(), out(), "-q", "--jobs", "1", "--report", file("r.ndjson")};
  std::vector<std::string> resume = command;
  resume.emplace_back("--skip-existing");
  save_text(in() + "/aa.png", "no image");
  std::vector<std::string> first = command;
  first.emplace_back("--fail-fast");
  EXPECT_EQ(run_imgpipe(first).exit_code, 1);
  EXPECT_EQ(lines_of(file("r.ndjson")).size(), 4U);
  // As if it had been killed while it wrote a line.
  save_text(file("r.ndjson"), load_text(file("r.ndjson")) + R"({"imgpipe":"0)");
  write("in/aa.png", 3);
  EXPECT_EQ(run_imgpipe(resume).exit_code, 0);
  EXPECT_EQ(lines_of(file("r.ndjson")).size(), 7U) << "a.png was done, and is not said to be skipped";
  const std::map<std::string, std::string> expected{
      {"a.png", "done"}, {"aa.png", "done"}, {"b.jpg", "done"}, {"c.GIF.ppm", "done"}};
  EXPECT_EQ(states(file("r.ndjson")), expected);
  EXPECT_EQ(run_imgpipe(resume).exit_code, 0);
  EXPECT_EQ(lines_of(file("r.ndjson")).size(), 7U) << "all done: nothing new";
  EXPECT_EQ(run_imgpipe(command).exit_code, 0);
  EXPECT_EQ(lines_of(file("r.ndjson")).size(), 4U) << "without --skip-existing it begins anew";
  // What is no report of ours is not appended to.
  save_text(file("r.ndjson"), "{\"input\":\"x\",\"status\":\"done\"}\n");
  EXPECT_EQ(run_imgpipe(resume).exit_code, 2);
  resume.emplace_back("--overwrite");
  EXPECT_EQ(run_imgpipe(resume).exit_code, 0);
  EXPECT_EQ(lines_of(file("r.ndjson")).size(), 4U);
  for (const auto& [name, state] : states(file("r.ndjson"))) EXPECT_EQ(state, "skipped") << name;
}

// ---- files that cannot be written -------------------------------------------------------------------

TEST_F(BatchResults, WhatCannotBeWrittenIsSaidBeforeWorkStarts) {
  fs::create_directory(file("folder.json"));
  for (const std::string& option :
       {"--report=" + file("nowhere/r.json"), "--report=" + file("nowhere/r.ndjson"),
        "--report=" + file("folder.json"), "--failed-out=" + file("nowhere/f"),
        "--trace=" + file("nowhere/t.json"), std::string("--failed-out=/proc/f")}) {
    const RunResult run = run_imgpipe({in(), out(), option, "--report", file("fine.ndjson")});
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_EQ(lines(run.err), 1U) << run.err;
    EXPECT_FALSE(fs::exists(out())) << option;
    EXPECT_FALSE(fs::exists(file("fine.ndjson"))) << "nor is another report emptied";
  }
}

TEST_F(BatchResults, ReportsMayLieInTheOutputThatIsMade) {
  EXPECT_EQ(run_imgpipe({in(), out(), "-q", "--report", out() + "/r.json", "--report", out() + "/r.ndjson",
                         "--report", out() + "/s.ndjson", "--failed-out", out() + "/failed"})
                .exit_code,
            0);
  EXPECT_EQ(load_text(out() + "/s.ndjson"), load_text(out() + "/r.ndjson")) << "each has every line";
  EXPECT_EQ(lines_of(out() + "/r.ndjson").size(), 3U);
  EXPECT_EQ(Json::parse(load_text(out() + "/r.json"))["done"], 3);
}

TEST_F(BatchResults, OneImageToo) {
  save_text(file("file"), "in the way");
  for (const std::string& option :
       {"--report=" + file("nowhere/r.json"), "--report=" + file("nowhere/r.csv"),
        "--histogram=" + file("nowhere/h.svg"), "--trace=" + file("nowhere/t.json"),
        "--keep-stages=" + file("file"), "--keep-stages=" + file("file/stages"),
        std::string("--keep-stages=/proc/stages")}) {
    const RunResult run = run_imgpipe({in() + "/a.png", file("o.png"), option});
    EXPECT_EQ(run.exit_code, 4) << option << run.err;
    EXPECT_EQ(lines(run.err), 1U) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_FALSE(fs::exists(file("o.png"))) << option;
  }
  EXPECT_EQ(run_imgpipe({in() + "/notes.txt", file("nowhere/o.png")}).exit_code, 4)
      << "OUTPUT is judged first";
  // A folder that is not there yet is made, and only when there is something to put in.
  EXPECT_EQ(run_imgpipe({in() + "/notes.txt", file("o.png"), "--keep-stages", file("new/stages")}).exit_code,
            1);
  EXPECT_FALSE(fs::exists(file("new")));
  EXPECT_EQ(
      run_imgpipe({in() + "/a.png", file("o.png"), "-q", "--keep-stages", file("new/stages")}).exit_code, 0);
  EXPECT_TRUE(fs::exists(file("new/stages")));
}

TEST_F(BatchResults, ALoopOfLinksIsOneFailure) {
  fs::create_symlink("loop.png", in() + "/loop.png");
  for (const std::string& option : {"--report=" + file("r.json"), "--failed-out=" + file("failed"),
                                    "--trace=" + file("t.json"), std::string("--jobs=2")}) {
    const RunResult run = run_imgpipe({in(), out(), "--quiet", option});
    EXPECT_EQ(run.exit_code, 1) << option << run.err;
    EXPECT_EQ(run.err.find("imgpipe: " + in() + "/loop.png: cannot open"), 0U) << run.err;
    EXPECT_EQ(lines(run.err), 1U) << run.err;
    EXPECT_EQ(written(), (Names{"a.png", "b.jpg", "c.GIF.ppm"})) << option;
    fs::remove_all(out());
  }
  EXPECT_EQ(load_text(file("failed")), "loop.png\n");
  for (const char* option : {"--report=", "--failed-out=", "--trace="}) {
    fs::create_symlink("loop.json", file("loop.json"));
    const RunResult run = run_imgpipe({in(), out(), option + file("loop.json")});
    EXPECT_EQ(run.exit_code, 4) << option;
    EXPECT_EQ(run.err, "imgpipe: " + file("loop.json") + ": cannot follow the link\n");
    EXPECT_FALSE(fs::exists(out()));
    fs::remove(file("loop.json"));
  }
}

TEST_F(BatchResults, TwoResultsOfOneNameAreRefused) {
  RunOptions here;
  here.folder = folder_.path().string();
  fs::create_directory(file("link"));
  fs::create_directory_symlink("link", file("same"));
  const std::vector<std::vector<std::string>> pairs{{"--report=a.json", "--failed-out=a.json"},
                                                    {"--report=a.json", "--report=./a.json"},
                                                    {"--trace=a.json", "--report=link/../a.json"},
                                                    {"--report=link/a.json", "--trace=same/a.json"},
                                                    {"--report=" + file("a.json"), "--trace=a.json"},
                                                    {"--report=out/a.ndjson", "--failed-out=./out/a.ndjson"}};
  for (const auto& pair : pairs) {
    expect_refused(run_imgpipe({in(), out(), pair[0], pair[1]}, here), "would be written by");
    EXPECT_FALSE(fs::exists(out()));
  }
}

TEST_F(BatchResults, ResultsThatAreOutputsOrListsAreRefused) {
  RunOptions here;
  here.folder = folder_.path().string();
  fs::create_directory_symlink(folder_.path(), file("same"));
  const std::string output = "would be written by --failed-out and by OUTPUT";
  for (const auto& [path, words] : {std::pair{"out/a.png", output},
                                    {"./out/a.png", output},
                                    {"in/../out/a.png", output},
                                    {"same/out/a.png", output},
                                    {"in/./a.png", "is an input itself"}}) {
    expect_refused(run_imgpipe({"./in", "./out", std::string("--failed-out=") + path}, here), words);
    expect_refused(run_imgpipe({in(), out(), std::string("--failed-out=") + path}, here), words);
  }
  save_text(file("list.json"), "a.png\n");
  expect_refused(
      run_imgpipe({in(), out(), "--files-from", file("list.json"), "--report", file("./list.json")}),
      "is the list of --files-from itself");
  RunOptions from_stdin = here;
  from_stdin.input = "a.png\n";
  EXPECT_EQ(run_imgpipe({in(), out(), "-q", "--files-from", "-", "--report", "r.json"}, from_stdin).exit_code,
            0);
  EXPECT_EQ(load_text(file("list.json")), "a.png\n");
  // --failed-out alone may take the list's place.
  expect_refused(run_imgpipe({in(), out(), "--files-from", "list.json", "--failed-out", "list.json",
                              "--report", "list.json"},
                             here),
                 "would be written by --failed-out and by --report");
  EXPECT_EQ(run_imgpipe({in(), out(), "-q", "--files-from", "list.json", "--failed-out", "./list.json"}, here)
                .exit_code,
            0);
  EXPECT_EQ(load_text(file("list.json")), "");
}

// ---- what is said at the end ------------------------------------------------------------------------

std::size_t count(const std::string& text, const std::string& words) {
  std::size_t found = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
  return found;
}

TEST_F(BatchResults, AFailureIsListedOnce) {
  save_text(in() + "/bad.png", "no image");
  const RunResult apart = run_imgpipe({in(), out()});
  EXPECT_EQ(count(apart.err, "bad.png"), 1U);
  EXPECT_EQ(count(apart.out, "bad.png"), 0U) << apart.out;
  const std::string command =
      "'" + std::string(kProgram) + "' '" + in() + "' '" + out() + "' > '" + file("both") + "' 2>&1";
  EXPECT_NE(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): two streams into one file
  const std::string both = load_text(file("both"));
  EXPECT_EQ(count(both, "bad.png"), 1U) << both;
  EXPECT_NE(both.find("1 failed"), std::string::npos) << both;
}

TEST_F(BatchResults, AnOutputThatCannotBeWrittenIsListedOnce) {
  fs::create_directory(file("many"));
  write("many/one.png", 1);
  fs::create_directory(out());
  fs::create_symlink("/proc/nothing.png", out() + "/one.png");
  const RunResult run =
      run_imgpipe({file("many"), out(), "--report", file("r.json"), "--report", file("r.ndjson")});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_EQ(count(run.err, "one.png"), 1U) << run.err;
  EXPECT_EQ(count(run.out, "one.png"), 0U) << run.out;
  const Json failure = Json::parse(load_text(file("r.json")))["failures"][0];
  EXPECT_EQ(failure["error"], "output");
  EXPECT_TRUE(failure["reason"].get<std::string>().starts_with("cannot ")) << failure;
  EXPECT_EQ(lines_of(file("r.ndjson"))[0]["reason"], failure["reason"]);
}

TEST_F(BatchResults, WhatEndedEarlySaysHowToGoOn) {
  fs::create_directory(file("many"));
  write("large.png", 1, 20'000);  // so that the signal comes in time
  for (int i = 0; i < 300; ++i)
    fs::create_symlink(file("large.png"), file("many/" + std::to_string(i) + ".png"));
  fs::create_directories(out());
  RunOptions options;
  options.signal = SIGTERM;
  options.signal_folder = out();
  const RunResult run =
      run_imgpipe({file("many"), out(), "--jobs", "2", "--report", file("r.ndjson")}, options);
  EXPECT_EQ(run.exit_code, 143) << run.err;
  EXPECT_NE(run.out.find("to go on: the same command with --skip-existing"), std::string::npos) << run.out;
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, state] : states(file("r.ndjson"))) ++counts[state];
  EXPECT_EQ(counts["done"], written().size());
  EXPECT_EQ(counts["done"] + counts["not_done"], 300U);
  EXPECT_GT(counts["not_done"], 0U);
  EXPECT_EQ(run_imgpipe({in(), file("whole")}).out.find("to go on"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test::batch_results_test
