// Reports on stdout, a batch's as CSV, and what imgpipe report makes of several.
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

class ReportFiles : public BatchCli {
 protected:
  [[nodiscard]] RunResult batch(std::vector<std::string> more) const {
    std::vector<std::string> arguments{in(), out(), "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_imgpipe(arguments);
  }
  [[nodiscard]] static RunResult report(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), "report");
    RunOptions options;
    options.input = input;
    return run_imgpipe(arguments, options);
  }
  [[nodiscard]] std::vector<std::string> lines_of(const std::string& name) const {
    std::istringstream stream(load_text(file(name)));
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
  static Json parsed(const std::string& text) {
    Json json = Json::parse(text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << text;
    return json;
  }
};

// A line as a batch writes it, as far as it counts.
std::string line(const std::string& input, const std::string& status, const std::string& shard = "",
                 double end_ms = 1000, const std::string& date = "2026-01-01T00:00:00Z") {
  Json rest{{"input", input},
            {"status", status},
            {"reason", status == "done" ? Json(nullptr) : Json("why " + input)},
            {"error", status == "failed" ? Json("input") : Json(nullptr)},
            {"shard", shard.empty() ? Json(nullptr) : Json(shard)},
            {"date", date},
            {"host", "a"},
            {"width_pixels", 100},
            {"height_pixels", 10},
            {"input_bytes", 500},
            {"output_bytes", 300},
            {"end_ms", end_ms}};
  return "{\"imgpipe\":\"0.1.0\"," + rest.dump().substr(1) + "\n";
}

// ---- --report - ------------------------------------------------------------------------------------------

TEST_F(ReportFiles, AnImagesReportOnStdoutStandsThereAlone) {
  const RunResult run = run_imgpipe({file("in/a.png"), file("a.png"), "--device", "cpu", "--report", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(parsed(run.out)["schema"], "imgpipe/image/1");
  EXPECT_NE(run.err.find("end to end"), std::string::npos) << run.err;
  const RunResult quiet =
      run_imgpipe({file("in/a.png"), file("a.png"), "--device", "cpu", "--report", "-", "-q"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(parsed(quiet.out)["options"]["threads"], 0);
  expect_refused(run_imgpipe({file("in/a.png"), "-", "--format", "png", "--report", "-"}),
                 "stdout: would be written by --report and by OUTPUT");
  expect_refused(run_imgpipe({file("in/a.png"), file("b.png"), "--report", "-", "--report", "-"}),
                 "stdout: would be written by --report and by --report");
}

TEST_F(ReportFiles, ABatchsReportOnStdoutStandsThereAlone) {
  const RunResult run = batch({"--report", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json json = parsed(run.out);
  EXPECT_EQ(json["schema"], "imgpipe/batch/1");
  EXPECT_EQ(json["done"], 3);
  EXPECT_NE(run.err.find("3 images: 3 done"), std::string::npos) << run.err;
  expect_refused(batch({"--report", "-", "--failed-out", "-"}),
                 "stdout: would be written by --failed-out and by --report");
}

TEST_F(ReportFiles, NoReasonHoldsThePathOfAPage) {
  const RunResult made = run_imgpipe({"synth", file("in/x.tif"), "--pattern", "photo", "--size", "30x20"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  save_text(file("in/x.tif"), load_text(file("in/x.tif")).substr(0, 700));
  const RunResult run =
      batch({"--pages", "all", "--include", "x.tif", "--report", file("r.ndjson"), "--report", "-"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find(file("in/x.tif") + ", page 1: "), std::string::npos) << run.err;
  for (const std::string& reason : {parsed(lines_of("r.ndjson").at(0))["reason"].get<std::string>(),
                                    parsed(run.out)["failures"][0]["reason"].get<std::string>()})
    EXPECT_EQ(reason.find("page 1: "), 0U) << reason;
}

// ---- a batch as CSV --------------------------------------------------------------------------------------

TEST_F(ReportFiles, ABatchAsCsvHasALineAnImage) {
  save_text(file("in/bad,\"name\".png"), "no image");
  const RunResult run = batch({"--report", file("r.csv"), "--report", file("r.ndjson")});
  EXPECT_EQ(run.exit_code, 1);
  const std::vector<std::string> rows = lines_of("r.csv");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].find("imgpipe,schema,version,date,host,threads,simd,input,output,status,error,reason"),
            0U)
      << rows[0];
  std::size_t quoted = 0;
  for (const std::string& row : rows)
    quoted += row.find("bad,\"\"name\"\".png\"") != std::string::npos ? 1 : 0;
  EXPECT_EQ(quoted, 1U);
  // The same keys in the same order.
  const auto ordered = nlohmann::ordered_json::parse(lines_of("r.ndjson")[0]);
  std::string head;
  for (const auto& [key, value] : ordered.items()) head += (head.empty() ? "" : ",") + key;
  EXPECT_EQ(rows[0], head);
  EXPECT_EQ(ordered["schema"], "imgpipe/batch-line/1");
}

TEST_F(ReportFiles, AResumedRunAddsToItsCsv) {
  save_text(file("in/z.png"), "no image");
  ASSERT_EQ(batch({"--report", file("r.csv")}).exit_code, 1);
  ASSERT_EQ(lines_of("r.csv").size(), 5U);
  write("in/z.png", 9);
  ASSERT_EQ(batch({"--report", file("r.csv"), "--skip-existing"}).exit_code, 0);
  const std::vector<std::string> rows = lines_of("r.csv");
  ASSERT_EQ(rows.size(), 6U);  // what was done before has no second line
  EXPECT_NE(rows[5].find("z.png,"), std::string::npos);
  EXPECT_NE(rows[5].find(",done,"), std::string::npos);
  ASSERT_EQ(batch({"--report", file("r.csv")}).exit_code, 0);
  EXPECT_EQ(lines_of("r.csv").size(), 5U) << "a run that does not go on begins anew";
  expect_refused(batch({"--report", file("r.csv"), "--shard", "1/2"}), "shards report as .ndjson");
  save_text(file("mine.csv"), "a,b\n");
  expect_refused(batch({"--report", file("mine.csv")}), "was not written by imgpipe");
}

// ---- imgpipe report --------------------------------------------------------------------------------------

TEST_F(ReportFiles, ShardsAddUpToTheWhole) {
  save_text(file("in/broken.png"), "no image");
  for (const char* shard : {"1/2", "2/2"}) {
    const RunResult run =
        batch({"--recursive", "--shard", shard, "--report", file(std::string("r") + shard[0] + ".ndjson")});
    EXPECT_LE(run.exit_code, 1) << run.err;
  }
  const RunResult sums = report({file("r1.ndjson"), file("r2.ndjson"), "--json", "-"});
  EXPECT_EQ(sums.exit_code, 1) << sums.err;
  const Json json = parsed(sums.out);
  EXPECT_EQ(json["images"], 6);
  EXPECT_EQ(json["done"], 5);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["pixels"], 5 * 40 * 30);
  ASSERT_EQ(json["failures"].size(), 1U);
  EXPECT_EQ(json["failures"][0]["input"], file("in/broken.png"));
  fs::remove(file("in/broken.png"));
  write("in/broken.png", 6);
  ASSERT_EQ(batch({"--recursive", "--skip-existing", "--report", file("again.ndjson")}).exit_code, 0);
  const RunResult all = report({file("r1.ndjson"), file("r2.ndjson"), file("again.ndjson")});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.out.find("6 images in 3 reports: 6 done, 0 skipped, 0 failed, 0 not done\n"), 0U) << all.out;
}

TEST_F(ReportFiles, TheLastWordOfAnInputCounts) {
  save_text(file("1"), line("a", "failed") + line("b", "done") + line("c", "not_done") + line("d", "failed"));
  save_text(file("2"), line("a", "done") + line("b", "skipped") + line("c", "skipped") +
                           line("d", "not_done") + line("e", "not_done"));
  const RunResult run = report({file("1"), file("2"), "--json", "-", "-q"});
  EXPECT_EQ(run.exit_code, 1);
  const Json json = parsed(run.out);
  EXPECT_EQ(json["images"], 5);
  EXPECT_EQ(json["done"], 2);
  EXPECT_EQ(json["skipped"], 1);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["not_done"], 1);
  EXPECT_EQ(json["pixels"], 2000);
  EXPECT_EQ(json["input_bytes"], 1000);
  EXPECT_EQ(json["output_bytes"], 600);
  ASSERT_EQ(json["failures"].size(), 2U);
  EXPECT_EQ(json["failures"][0]["input"], "d");
  EXPECT_EQ(json["failures"][1]["status"], "not_done");
  // The other way round a failure is the last word.
  EXPECT_EQ(parsed(report({file("2"), file("1"), "--json", "-", "-q"}).out)["failed"], 2);
  const RunResult good = report({"-"}, line("a", "failed") + line("a", "done"));
  EXPECT_EQ(good.exit_code, 0) << good.err;
}

TEST_F(ReportFiles, WallTimesAreAShardsRunsTogether) {
  const std::string later = "2026-01-02T00:00:00Z";
  save_text(file("1"), line("a", "done", "1/3", 1000) + line("b", "done", "1/3", 2000) +
                           line("c", "done", "1/3", 500, later) + line("d", "done", "2/3", 2250));
  const RunResult run = report({file("1"), "--json", "-"});
  EXPECT_EQ(run.exit_code, 0);
  const Json json = parsed(run.out);
  EXPECT_EQ(json["longest_wall_s"], 2.5);
  EXPECT_EQ(json["all_walls_s"], 4.75);
  EXPECT_EQ(json["shards"], Json::parse(R"(["1/3", "2/3"])"));
  EXPECT_EQ(json["shards_without_a_line"], Json::parse(R"(["3/3"])"));
  EXPECT_NE(run.err.find("there is no line of shard 3/3"), std::string::npos) << run.err;
}

TEST_F(ReportFiles, WhatIsNoReportIsSaid) {
  save_text(file("none"), "hello\nworld\n");
  save_text(file("torn"), line("a", "done") + line("b", "done").substr(0, 40) + "\n\xFF\xFE{}\n[1]\n");
  save_text(file("empty"), "");
  const RunResult none = report({file("none")});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("is no report of a batch"), std::string::npos) << none.err;
  const RunResult torn = report({file("torn"), file("empty")});
  EXPECT_EQ(torn.exit_code, 0);
  EXPECT_NE(torn.err.find("3 lines are none of a report"), std::string::npos) << torn.err;
  const RunResult missing = report({file("torn"), file("gone"), file("in"), "-q"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(lines(missing.err), 3U) << missing.err;
  expect_refused(report({}), "FILE is missing");
  expect_refused(report({file("torn"), "--json", file("torn")}), "ends in none of .json");
  expect_refused(report({"-", "-"}), "stdin (-) can be read once");
}

TEST_F(ReportFiles, HostileLinesHarmNothing) {
  Json wild{{"imgpipe", "0"},          {"input", "\x1B[31m\na"},
            {"status", "done"},        {"width_pixels", 1e300},
            {"height_pixels", -5},     {"input_bytes", "many"},
            {"output_bytes", nullptr}, {"end_ms", -1},
            {"shard", "1/999999999"},  {"date", 5}};
  const std::string text = "{\"imgpipe\":\"0\"," + wild.dump().substr(1) + "\n";
  const std::string most = line("b", "done", "9/9") + line(std::string(100'000, 'x'), "failed");
  const RunResult run = report({"-"}, text + most);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out.find('\x1B'), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test
