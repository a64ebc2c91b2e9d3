// Reports on stdout, a batch's as CSV, and what imgpipe report makes of several.
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"

namespace imgpipe::test::report_files_cli_test {
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

// As a run that found so many images writes it.
std::string counted(const std::string& input, const std::string& shard, int shard_images, int batch_images,
                    const std::string& status = "done") {
  Json json = Json::parse(line(input, status, shard));
  json.erase("imgpipe");
  json["output"] = "out/" + input;
  json["shard_images"] = shard_images;
  json["batch_images"] = batch_images;
  return "{\"imgpipe\":\"0.1.0\"," + json.dump().substr(1) + "\n";
}

TEST_F(ReportFiles, AShardThatWasKilledLeavesImagesWithoutALine) {
  for (const char* shard : {"1/2", "2/2"})
    ASSERT_EQ(
        batch({"--recursive", "--shard", shard, "--report", file(std::string("r") + shard[0] + ".ndjson")})
            .exit_code,
        0);
  std::vector<std::string> first = lines_of("r1.ndjson"), second = lines_of("r2.ndjson");
  ASSERT_EQ(first.size() + second.size(), 5U);
  ASSERT_EQ(report({file("r1.ndjson"), file("r2.ndjson")}).exit_code, 0);
  // Its last line was never written.
  std::vector<std::string>& longer = first.size() > second.size() ? first : second;
  const std::string shard = Json::parse(longer[0])["shard"];
  const std::size_t images = longer.size();
  EXPECT_EQ(Json::parse(longer[0])["shard_images"], images);
  EXPECT_EQ(Json::parse(longer[0])["batch_images"], 5);
  longer.pop_back();
  std::string text;
  for (const auto* lines : {&first, &second})
    for (const std::string& one : *lines) text += one + "\n";
  const RunResult killed = report({"-", "--json", "-"}, text);
  EXPECT_EQ(killed.exit_code, 1);
  const Json json = parsed(killed.out);
  EXPECT_EQ(json["images"], 4);
  EXPECT_EQ(json["done"], 4);
  EXPECT_EQ(json["images_without_a_line"], 1);
  EXPECT_EQ(json["unfinished"], Json({{{"shard", shard}, {"images", images}, {"with_a_line", images - 1}}}));
  EXPECT_EQ(json["shards_without_a_line"], Json::array());
  EXPECT_NE(killed.err.find("1 images have no report line"), std::string::npos) << killed.err;
  EXPECT_NE(killed.err.find("  shard " + shard + ": "), std::string::npos) << killed.err;
  // What does the rest makes it whole, whoever that is: all is there, so it has a line for each.
  ASSERT_EQ(batch({"--recursive", "--skip-existing", "--report", file("rest.ndjson")}).exit_code, 0);
  save_text(file("killed.ndjson"), text);
  const RunResult whole = report({file("killed.ndjson"), file("rest.ndjson"), "--json", "-"});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(parsed(whole.out)["images_without_a_line"], 0);
  EXPECT_EQ(parsed(whole.out)["unfinished"], Json::array());
}

TEST_F(ReportFiles, AShardThatNeverRanIsToldFromOneWithNothingToDo) {
  const std::string first = counted("a", "1/3", 2, 3) + counted("b", "1/3", 2, 3);
  const RunResult missing = report({"-", "--json", "-", "-q"}, first);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(parsed(missing.out)["images_without_a_line"], 1);
  EXPECT_EQ(parsed(missing.out)["shards_without_a_line"], Json::parse(R"(["2/3", "3/3"])"));
  EXPECT_NE(missing.err.find("there is no line of shard 2/3, 3/3"), std::string::npos) << missing.err;
  const RunResult all = report({"-", "--json", "-", "-q"}, first + counted("c", "3/3", 1, 3));
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.err, "") << "shard 2/3 had nothing to do";
  EXPECT_EQ(parsed(all.out)["shards_without_a_line"], Json::array());
}

TEST_F(ReportFiles, ImagesWithALineAreCountedOnceAndAlone) {
  // Lines that are repeated, and a folder that could not be read: neither stands for an image without a line.
  const std::string folder = line("in/folder", "failed");
  const std::string twice = counted("a", "1/2", 2, 3, "failed") + counted("a", "1/2", 2, 3);
  const Json json = parsed(report({"-", "--json", "-", "-q"}, folder + twice).out);
  EXPECT_EQ(json["images"], 2);
  EXPECT_EQ(json["images_without_a_line"], 2);
  // Failures that are done again from a list: that run had fewer images.
  const std::string shards = counted("a", "1/2", 1, 2) + counted("b", "2/2", 1, 2, "failed");
  EXPECT_EQ(report({"-", "-q"}, shards).exit_code, 1);
  EXPECT_EQ(report({"-", "-q"}, shards + counted("b", "", 1, 1)).exit_code, 0);
  // More shards the second time; the first ones were killed.
  const std::string again = counted("b", "1/3", 1, 3) + counted("c", "3/3", 2, 3) + counted("a", "3/3", 2, 3);
  EXPECT_EQ(report({"-", "-q"}, counted("a", "1/2", 2, 3) + again).exit_code, 0);
  // Numbers that cannot be.
  Json wild = Json::parse(counted("a", "1/2", 1, 1));
  wild["shard_images"] = 1e300;
  wild["batch_images"] = -7;
  wild.erase("imgpipe");
  EXPECT_EQ(report({"-", "-q"}, "{\"imgpipe\":\"0\"," + wild.dump().substr(1) + "\n").exit_code, 0);
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
  EXPECT_EQ(report({file("torn"), file("gone")}).out.find("1 image in 1 report: "), 0U);
  expect_refused(report({}), "FILE is missing");
  expect_refused(report({file("torn"), "--json", file("torn")}), "must end in .json");
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
}  // namespace imgpipe::test::report_files_cli_test
